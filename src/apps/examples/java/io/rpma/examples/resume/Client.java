// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.resume;

import io.rpma.RpmaMemory;
import io.rpma.support.BackOff;
import io.rpma.support.LostException;
import io.rpma.support.RemoteHost;
import io.rpma.support.RemoteMemory;
import io.rpma.support.Sha256;
import io.rpma.support.SourceFile;
import java.io.IOException;
import java.nio.file.Path;

/** Copies a file to a server, which may be lost and come back. */
final class Client {
    /** The maximum number of progress lines. */
    private static final int STEPS = 20;

    private final String address;
    private final int port;
    private final BackOff backOff;
    private long size;
    private long told;
    private boolean begun;
    private boolean waiting;

    /**
     * Sets up a client.
     *
     * @param address of the server
     * @param port of the server
     * @param timeout the longest time from a failure to the next commit, in seconds
     */
    Client(String address, int port, int timeout) {
        this.address = address;
        this.port = port;
        backOff = new BackOff(timeout);
    }

    /**
     * Copies a file.
     *
     * @throws IOException if the file can't be copied
     */
    void copy(Path path) throws IOException, InterruptedException {
        try (SourceFile file = SourceFile.open(path);
                RpmaMemory staging = RpmaMemory.allocate(Copier.STAGING);
                RemoteHost server = new RemoteHost(
                        address, port, Server.SERVICE, staging, Copier.OPERATIONS, System.out::println)) {
            size = file.size();
            byte[] digest = file.sha256(done -> {});
            Copier copier = new Copier(file, digest, staging.buffer(), this::tell);
            while (!copy(server, copier)) {
                // try again
            }
            System.out.println("SHA-256 " + Sha256.format(digest));
            System.out.println("size " + size + " bytes");
        }
    }

    /** Makes one attempt. Returns true if the copy is complete. If the server is lost, pauses and returns false. */
    private boolean copy(RemoteHost server, Copier copier) throws IOException, InterruptedException {
        try {
            RemoteMemory memory = server.connect(backOff.left());
            copier.resume(memory);
            boolean anew = !begun && copier.position() == 0;
            System.out.println((anew ? "begun" : "resumed") + " at " + copier.position() + " bytes");
            begun = true;
            waiting = false;
            copier.copy(memory);
            return true;
        } catch (LostException e) {
            if (server.disconnectIfLost()) {
                System.out.println("lost after " + copier.position() + " bytes: " + e.getMessage());
            } else if (!waiting) {
                waiting = true;
                System.out.println("waiting for " + e.getMessage());
            }
            backOff.pause("nothing was committed", e);
            return false;
        }
    }

    private void tell(long committed) {
        backOff.succeeded();
        if (committed - told >= size / STEPS) {
            told = committed;
            System.out.println("committed " + committed + " of " + size + " bytes");
        }
    }
}
