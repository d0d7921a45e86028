// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.support;

import io.rpma.RpmaMemory;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrUsage;
import io.rpma.RpmaPeer;
import java.io.IOException;
import java.util.function.Consumer;

/** A host that offers memory. The connection to the host can be lost and made again. */
public final class RemoteHost implements AutoCloseable {
    /** The time without a completion after which the host counts as gone: no event reports the death of a host. */
    private static final int SILENCE_S = 10;

    private final String address;
    private final int port;
    private final int service;
    private final int operations;
    private final Consumer<String> notes;
    private final RpmaMemory stagingMemory;

    // The objects of this side, which all connections share. The first attempt that reaches the host makes them.
    private RpmaPeer peer;
    private RpmaMrLocal staging;

    private RemoteMemory connected;

    /**
     * Prepares connections to a host, which may be down.
     *
     * @param service the identifier of the expected program
     * @param stagingMemory the local source and destination of the bytes
     * @param operations the size of the send queue; a store and a commit take two operations each
     * @param notes gets messages for the user
     */
    public RemoteHost(
            String address, int port, int service, RpmaMemory stagingMemory, int operations, Consumer<String> notes) {
        this.address = address;
        this.port = port;
        this.service = service;
        this.stagingMemory = stagingMemory;
        this.operations = operations;
        this.notes = notes;
    }

    /**
     * Returns the existing connection, or makes one attempt to connect.
     *
     * @param nanos the timeout for the answer
     * @throws LostException if the host is not found, does not answer, or rejects the request
     */
    public RemoteMemory connect(long nanos) throws IOException, InterruptedException {
        if (connected == null) {
            prepare();
            RemoteConnection connection = RemoteConnection.open(peer, address, port, service, operations, nanos);
            connected = new RemoteMemory(connection, staging, SILENCE_S);
            Persistence persistence = connected.persistence();
            notes.accept(this + ": " + persistence.description()
                    + (persistence == Persistence.NONE ? ", a power cut there loses the written bytes" : ""));
        }
        return connected;
    }

    private void prepare() throws LostException {
        if (peer == null) {
            peer = RpmaPeer.create(RemoteConnection.findDevice(address, port));
        }
        if (staging == null) {
            staging = peer.register(stagingMemory, RpmaMrUsage.WRITE_SRC, RpmaMrUsage.READ_DST);
        }
    }

    /** Closes the connection if it is lost. Returns whether it was lost. */
    public boolean disconnectIfLost() {
        boolean lost = connected != null && connected.isLost();
        if (lost) {
            disconnect();
        }
        return lost;
    }

    private void disconnect() {
        connected.close();
        connected = null;
    }

    @Override
    public void close() {
        if (connected != null) {
            disconnect();
        }
        if (staging != null) {
            staging.close();
        }
        if (peer != null) {
            peer.close();
        }
    }

    @Override
    public String toString() {
        return address + ":" + port;
    }
}
