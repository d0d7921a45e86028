// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.support;

import static java.util.concurrent.TimeUnit.SECONDS;

import io.rpma.RpmaConnCfg;
import io.rpma.RpmaConnReq;
import io.rpma.RpmaDevice;
import io.rpma.RpmaEp;
import io.rpma.RpmaException;
import io.rpma.RpmaPeer;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/** The listening side of a command. Each client has a thread of its own. */
public final class Listener {
    /** The close of a connection to a dead host takes up to 11 s. */
    private static final int CLOSE_S = 15;

    /** The time without an accepted client after which an endpoint that fails at once counts as broken. */
    private static final int PATIENCE_S = 30;

    private final int most;
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final List<Task> tasks = new ArrayList<>();
    private final AtomicInteger clients = new AtomicInteger();
    private final AtomicInteger accepted = new AtomicInteger();

    /**
     * Sets up the side.
     *
     * @param most the most clients at the same time
     */
    public Listener(int most) {
        this.most = most;
    }

    /** A connection of a client. */
    public interface Session extends AutoCloseable {
        /** Serves until the client is gone. */
        void serve() throws InterruptedException;

        /** Returns whether the connection counts as served. One that only brings a refusal does not. */
        default boolean counts() {
            return true;
        }

        @Override
        void close();
    }

    /** Thrown if a client is refused, with the reason as the message. */
    public static final class RefusedException extends Exception {
        private static final long serialVersionUID = 1;

        public RefusedException(String reason) {
            super(reason);
        }

        /** The client is of another program. */
        public static RefusedException ofAnotherProgram() {
            return new RefusedException("the client is another program, or another version of this one");
        }

        /** The other clients are as many as there can be. */
        public static RefusedException beyond(int most) {
            return new RefusedException("there are " + most + " clients already");
        }
    }

    /** Accepts one client. */
    public interface Acceptance {
        /**
         * Connects.
         *
         * @param number the number of the client in messages
         */
        Session accept(int number) throws RefusedException, InterruptedException;
    }

    /** Accepts the clients of an endpoint of librpma. */
    public interface Acceptor {
        /** Accepts a client. The caller closes a request that is not connected. */
        Session accept(int number, RpmaPeer peer, RpmaConnReq request) throws RefusedException, InterruptedException;
    }

    /** A task that ends when its thread is interrupted. */
    public interface Task {
        /** Runs the task. */
        void run() throws InterruptedException;
    }

    /**
     * Finds the device of this machine that has an address.
     *
     * @throws IOException if there is none; the message has the reason and the remedy
     */
    public static RpmaDevice device(String address) throws IOException {
        try {
            return RpmaDevice.local(address);
        } catch (RpmaException e) {
            throw DeviceFault.ofThisMachine().local(address, e);
        }
    }

    /** Adds a task that runs beside {@link #serve} until that ends. */
    public void beside(Task task) {
        tasks.add(task);
    }

    private void start(Task task) {
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
     * @throws IOException if no device has the address, or the endpoint is broken
     */
    public void serve(String address, int port, RpmaConnCfg cfg, Acceptor acceptor)
            throws IOException, InterruptedException {
        RpmaDevice device = device(address);
        RpmaPeer peer = RpmaPeer.create(device);
        try (RpmaEp endpoint = RpmaEp.listen(peer, address, port)) {
            say("listening at %s port %d through %s, until Ctrl-C", address, port, device.name());
            try {
                tasks.forEach(this::start);
                while (true) {
                    accept(awaitNext(() -> endpoint.nextConnReq(cfg)), peer, acceptor);
                }
            } catch (InterruptedException e) {
                // Ctrl-C is the usual end
            } finally {
                threads.shutdownNow();
                threads.awaitTermination(CLOSE_S, SECONDS);
                say("%d connections served", accepted.get());
            }
        } finally {
            close(peer);
        }
    }

    /** Fails if a session has not ended in time: the process ends its connection. */
    private static void close(RpmaPeer peer) {
        try {
            peer.close();
        } catch (RpmaException | IllegalStateException e) {
            say("%s", Errors.line(e));
        }
    }

    /**
     * Waits for the next request. A wait that fails is repeated, because a client can give up before it is accepted.
     *
     * @throws IOException if the endpoint is broken, and so each wait fails at once
     */
    public static <T> T awaitNext(MemoryServer.Requests<T> requests) throws IOException, InterruptedException {
        return MemoryServer.awaitNext(requests, PATIENCE_S, note -> say("%s", note));
    }

    private void accept(RpmaConnReq request, RpmaPeer peer, Acceptor acceptor) throws InterruptedException {
        try (request) {
            accept(number -> acceptor.accept(number, peer, request));
        } catch (RpmaException e) {
            say("a client is lost: %s", Errors.line(e));
        }
    }

    /**
     * Accepts a client, and serves it in another thread. Prints why a client can't be accepted.
     *
     * @return whether the client is accepted; otherwise the caller closes its request
     */
    public boolean accept(Acceptance acceptance) throws InterruptedException {
        Session session = null;
        boolean served = false;
        try {
            if (clients.get() >= most) {
                throw RefusedException.beyond(most);
            }
            session = acceptance.accept(accepted.get() + 1);
            if (session.counts()) {
                accepted.incrementAndGet();
            }
            start(session);
            served = true;
        } catch (RefusedException e) {
            say("rejected: %s", e.getMessage());
        } catch (RuntimeException | OutOfMemoryError e) {
            // no client may end this side, whatever it requests
            say("a client is lost: %s", Errors.line(e));
        } finally {
            if (session != null && !served) {
                session.close();
            }
        }
        return session != null;
    }

    private void start(Session session) {
        clients.incrementAndGet();
        boolean started = false;
        try {
            threads.execute(() -> run(session));
            started = true;
        } finally {
            if (!started) {
                clients.decrementAndGet();
            }
        }
    }

    private void run(Session session) {
        try (session) {
            session.serve();
        } catch (InterruptedException e) {
            // this side ends
        } catch (RuntimeException e) {
            say("a client is lost: %s", Errors.line(e));
        } finally {
            clients.decrementAndGet();
        }
    }

    /** Prints a line. */
    public static void say(String format, Object... values) {
        System.out.println(String.format(Locale.ROOT, format, values));
    }
}
