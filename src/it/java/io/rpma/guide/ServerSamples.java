// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.guide;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaConn;
import io.rpma.RpmaConnReq;
import io.rpma.RpmaCq;
import io.rpma.RpmaEp;
import io.rpma.RpmaEventLoop;
import io.rpma.RpmaException;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaWcOpcode;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

/** The samples of docs/guide/servers.md. */
final class ServerSamples {
    private ServerSamples() {}

    /** Answers each message of each client, with a thread for each client. Returns when the endpoint is closed. */
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
        } catch (RejectedExecutionException stopped) {
            conn.close();
        }
    }

    private static void answer(RpmaConn conn, RpmaMrLocal region, long offset) {
        RpmaCompletions completions = RpmaCompletions.create(1);
        RpmaCq cq = conn.getCq();
        try (conn) {
            boolean posted = true;
            while (posted && cq.awaitWhileConnected(completions, 1, TimeUnit.DAYS) == 1 && completions.isSuccess(0)) {
                posted = completions.opcode(0) == RpmaWcOpcode.RECV
                        ? conn.send(region, offset, 8, RpmaConn.F_COMPLETION_ALWAYS, 2)
                        : conn.recv(region, offset, 8, 1);
            }
        } catch (RpmaException | IllegalStateException | InterruptedException e) {
            // the client has gone, or the server stops
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
