// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.guide;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaConn;
import io.rpma.RpmaConnEvent;
import io.rpma.RpmaConnReq;
import io.rpma.RpmaEp;
import io.rpma.RpmaEventLoop;
import io.rpma.RpmaMrLocal;
import java.util.concurrent.Executor;

/** The samples of docs/guide/servers.md. */
final class ServerSamples {
    private ServerSamples() {}

    /** Answers each message of each client, with two threads for each client. Returns when the endpoint is closed. */
    static void serve(RpmaEp ep, RpmaMrLocal region, Executor threads) throws InterruptedException {
        for (int client = 0; ; client++) {
            RpmaConnReq request;
            try {
                request = ep.nextConnReq(null);
            } catch (IllegalStateException closed) {
                return;
            }
            long offset = client * 8L;
            request.recv(region, offset, 8, 1);
            RpmaConn conn = request.connect();
            threads.execute(() -> answer(conn, region, offset));
            threads.execute(() -> closeAtTheEnd(conn));
        }
    }

    private static void answer(RpmaConn conn, RpmaMrLocal region, long offset) {
        RpmaCompletions completions = RpmaCompletions.create(1);
        try {
            while (conn.getCq().await(completions) == 1 && completions.isSuccess(0)) {
                conn.recv(region, offset, 8, 1);
                conn.send(region, offset, 8, RpmaConn.F_COMPLETION_ON_ERROR, 2);
            }
        } catch (IllegalStateException | InterruptedException e) {
            // the connection is closed, or the server stops
        }
    }

    private static void closeAtTheEnd(RpmaConn conn) {
        try (conn) {
            RpmaConnEvent event = conn.nextEvent();
            while (event == RpmaConnEvent.ESTABLISHED) {
                event = conn.nextEvent();
            }
        } catch (InterruptedException e) {
            // the server stops
        }
    }

    /** Serves until SIGTERM or Ctrl-C, and closes the endpoint and the connections before the JVM ends. */
    static void runUntilSignal(RpmaEventLoop loop) throws InterruptedException {
        Thread server = Thread.currentThread();
        Thread hook = new Thread(() -> {
            loop.stop();
            try {
                server.join(10_000);
            } catch (InterruptedException e) {
                // the JVM ends in any case
            }
        });
        Runtime.getRuntime().addShutdownHook(hook);
        loop.run();
    }
}
