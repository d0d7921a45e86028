// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.guide;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaConn;
import io.rpma.RpmaConnReq;
import io.rpma.RpmaException;
import io.rpma.RpmaMrRemote;
import io.rpma.RpmaPeer;
import java.io.IOException;
import java.util.concurrent.TimeUnit;

/** A client that connects again after the loss of its server. */
final class ReconnectingClient implements AutoCloseable {
    /** An IOException or an RpmaException means that the server is lost. */
    interface Work {
        void run(RpmaConn conn, RpmaMrRemote remote) throws IOException, InterruptedException;
    }

    private final RpmaPeer peer;
    private final String server;
    private final int port;
    private final Work recovery;
    private RpmaConn conn;
    private RpmaMrRemote remote;

    ReconnectingClient(RpmaPeer peer, String server, int port, Work recovery) {
        this.peer = peer;
        this.server = server;
        this.port = port;
        this.recovery = recovery;
    }

    /** Runs the work until it succeeds, at most a minute and the last attempt. */
    synchronized void run(Work work) throws IOException, InterruptedException {
        long start = System.nanoTime();
        for (long pause = 100; ; pause = Math.min(2 * pause, 3000)) {
            boolean done = false;
            try {
                connect();
                work.run(conn, remote);
                done = true;
                return;
            } catch (IOException | RpmaException e) {
                if (System.nanoTime() - start > TimeUnit.MINUTES.toNanos(1)) {
                    throw new IOException(server + " is lost", e);
                }
            } finally {
                if (!done) {
                    close();
                }
            }
            Thread.sleep(pause);
        }
    }

    private void connect() throws IOException, InterruptedException {
        if (conn == null) {
            conn = RpmaConnReq.create(peer, server, port, null).connect(10, TimeUnit.SECONDS);
            remote = RpmaMrRemote.fromDescriptor(conn.getPrivateData());
            recovery.run(conn, remote);
        }
    }

    /** Waits for the next completion. */
    static void await(RpmaConn conn) throws IOException, InterruptedException {
        RpmaCompletions completions = RpmaCompletions.create(1);
        if (conn.getCq().awaitWhileConnected(completions, 10, TimeUnit.SECONDS) == 0 || !completions.isSuccess(0)) {
            throw new IOException("operation failed: " + completions);
        }
    }

    @Override
    public synchronized void close() {
        RpmaConn lostConn = conn;
        RpmaMrRemote lostRemote = remote;
        try (lostConn;
                lostRemote) {
            conn = null;
            remote = null;
        }
    }
}
