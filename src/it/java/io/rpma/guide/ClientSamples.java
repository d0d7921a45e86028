// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.guide;

import io.rpma.RpmaConn;
import io.rpma.RpmaFlushType;
import io.rpma.RpmaMrLocal;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;

/** The samples of docs/guide/clients.md. */
final class ClientSamples {
    private static final int ALWAYS = RpmaConn.F_COMPLETION_ALWAYS;

    private ClientSamples() {}

    /** The result is complete when the bytes are in the memory of the server. */
    static CompletableFuture<Void> store(LoopClient client, RpmaMrLocal local, long offset, long length) {
        CompletableFuture<Void> written = client.post(
                (conn, remote, context) -> conn.write(remote, offset, local, offset, length, ALWAYS, context));
        CompletableFuture<Void> flushed = client.post((conn, remote, context) ->
                conn.flush(remote, offset, length, RpmaFlushType.VISIBILITY, ALWAYS, context));
        return CompletableFuture.allOf(written, flushed);
    }

    /** Returns when the bytes are in the memory of the server. */
    static void store(ReconnectingClient client, RpmaMrLocal local, long offset, long length)
            throws IOException, InterruptedException {
        client.run((conn, remote) -> {
            conn.write(remote, offset, local, offset, length, RpmaConn.F_COMPLETION_ON_ERROR, 1);
            conn.flush(remote, offset, length, RpmaFlushType.VISIBILITY, ALWAYS, 2);
            ReconnectingClient.await(conn);
        });
    }

    /** Connects again also while the client has nothing to do, until the thread is interrupted. */
    static void watch(ReconnectingClient client) throws InterruptedException {
        while (true) {
            try {
                client.run((conn, remote) -> {
                    conn.write(ALWAYS, 3);
                    ReconnectingClient.await(conn);
                });
            } catch (IOException e) {
                System.err.println(e.getMessage());
            }
            Thread.sleep(1000);
        }
    }
}
