// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.guide;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaConn;
import io.rpma.RpmaConnEvent;
import io.rpma.RpmaConnReq;
import io.rpma.RpmaEp;
import io.rpma.RpmaEventLoop;
import io.rpma.RpmaException;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaWcOpcode;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

/** The samples of docs/guide/servers.md. */
final class ServerSamples {
    private ServerSamples() {}

    /** Answers each message of each client, with two threads for each client. Returns when the endpoint is closed. */
    static void serve(RpmaEp ep, RpmaMrLocal region, Executor threads) throws InterruptedException {
        long next = 0;
        while (true) {
            try (RpmaConnReq request = ep.nextConnReq(null)) {
                if (next + 8 > region.getSize()) {
                    continue;
                }
                long offset = next;
                request.recv(region, offset, 8, 1);
                RpmaConn conn = request.connect();
                next += 8;
                start(threads, conn, region, offset);
            } catch (IllegalStateException closed) {
                return;
            } catch (RpmaException e) {
                System.err.println("no client: " + e.getMessage());
                Thread.sleep(100);
            }
        }
    }

    private static void start(Executor threads, RpmaConn conn, RpmaMrLocal region, long offset) {
        try {
            threads.execute(() -> answer(conn, region, offset));
            threads.execute(() -> closeAtTheEnd(conn));
        } catch (RejectedExecutionException stopped) {
            conn.close();
        }
    }

    private static void answer(RpmaConn conn, RpmaMrLocal region, long offset) {
        RpmaCompletions completions = RpmaCompletions.create(1);
        try (conn) {
            boolean posted = true;
            while (posted && conn.getCq().await(completions) == 1 && completions.isSuccess(0)) {
                posted = completions.opcode(0) == RpmaWcOpcode.RECV
                        ? conn.send(region, offset, 8, RpmaConn.F_COMPLETION_ALWAYS, 2)
                        : conn.recv(region, offset, 8, 1);
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
        } catch (IllegalStateException | InterruptedException e) {
            // the other thread has closed the connection, or the server stops
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
