// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools;

import static java.util.concurrent.TimeUnit.SECONDS;

import io.rpma.RpmaConnCfg;
import io.rpma.RpmaConnReq;
import io.rpma.RpmaDevice;
import io.rpma.RpmaEp;
import io.rpma.RpmaException;
import io.rpma.RpmaPeer;
import io.rpma.examples.common.Errors;
import java.util.Locale;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/** The listening side of a command. Each client has a thread of its own. */
final class Listener {
    /** The close of a connection to a dead host takes up to 11 s. */
    private static final int CLOSE_S = 15;

    private final int most;
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final AtomicInteger clients = new AtomicInteger();
    private final AtomicInteger accepted = new AtomicInteger();

    /**
     * Sets up the side.
     *
     * @param most the most clients at the same time
     */
    Listener(int most) {
        this.most = most;
    }

    /** A connection of a client. */
    interface Session extends AutoCloseable {
        /** Serves until the client is gone. */
        void serve() throws InterruptedException;

        @Override
        void close();
    }

    /** Thrown if a client is refused, with the reason as the message. */
    static final class RefusedException extends Exception {
        private static final long serialVersionUID = 1;

        RefusedException(String reason) {
            super(reason);
        }

        /** The client is of another program. */
        static RefusedException ofAnotherProgram() {
            return new RefusedException("the client is another program, or another version of this one");
        }
    }

    /** Accepts one client. */
    interface Acceptance {
        /**
         * Connects.
         *
         * @param number the number of the client in messages
         */
        Session accept(int number) throws RefusedException, InterruptedException;
    }

    /** Accepts the clients of an endpoint of librpma. */
    interface Acceptor {
        /** Accepts a client. The caller closes a request that is not connected. */
        Session accept(int number, RpmaPeer peer, RpmaConnReq request) throws RefusedException, InterruptedException;
    }

    /** A task that ends when its thread is interrupted. */
    interface Task {
        /** Runs the task. */
        void run() throws InterruptedException;
    }

    /** Runs another task until {@link #serve} ends. */
    void start(Task task) {
        threads.execute(() -> {
            try {
                task.run();
            } catch (InterruptedException e) {
                // this side ends
            }
        });
    }

    /**
     * Serves clients until the thread is interrupted.
     *
     * @param cfg the configuration of the connections
     */
    void serve(String address, int port, RpmaConnCfg cfg, Acceptor acceptor) throws InterruptedException {
        RpmaDevice device = RpmaDevice.local(address);
        try (RpmaPeer peer = RpmaPeer.create(device);
                RpmaEp endpoint = RpmaEp.listen(peer, address, port)) {
            say("listening at %s port %d through %s, until Ctrl-C", address, port, device.name());
            try {
                while (true) {
                    try (RpmaConnReq request = endpoint.nextConnReq(cfg)) {
                        accept(number -> acceptor.accept(number, peer, request));
                    }
                }
            } catch (InterruptedException e) {
                // Ctrl-C is the usual end
            } finally {
                threads.shutdownNow();
                threads.awaitTermination(CLOSE_S, SECONDS);
                say("%d connections served", accepted.get());
            }
        }
    }

    /** Accepts a client, and serves it in another thread. Prints why a client can't be accepted. */
    void accept(Acceptance acceptance) throws InterruptedException {
        try {
            if (clients.get() >= most) {
                throw new RefusedException("there are " + most + " clients already");
            }
            Session session = acceptance.accept(accepted.get() + 1);
            accepted.incrementAndGet();
            clients.incrementAndGet();
            threads.execute(() -> run(session));
        } catch (RefusedException e) {
            say("rejected: %s", e.getMessage());
        } catch (RpmaException | OutOfMemoryError e) {
            say("a client is lost: %s", Errors.line(e));
        }
    }

    private void run(Session session) {
        try (session) {
            session.serve();
        } catch (InterruptedException e) {
            // this side ends
        } catch (RpmaException e) {
            say("a client is lost: %s", Errors.line(e));
        } finally {
            clients.decrementAndGet();
        }
    }

    /** Prints a line. */
    static void say(String format, Object... values) {
        System.out.println(String.format(Locale.ROOT, format, values));
    }
}
