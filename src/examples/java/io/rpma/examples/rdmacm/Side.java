package io.rpma.examples.rdmacm;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaException;
import io.rpma.rdmacm.RdmaAddrInfo;
import io.rpma.rdmacm.RdmaConnParam;
import io.rpma.rdmacm.RdmaEventType;
import io.rpma.rdmacm.RdmaId;
import io.rpma.rdmacm.RdmaPortSpace;
import io.rpma.rdmacm.RdmaQp;
import io.rpma.rdmacm.RdmaQpInitAttr;
import java.util.concurrent.TimeUnit;

/** What both sides of all these examples do. */
final class Side {
    private static final int MISUSED = 255;
    private static final long WAIT_S = 30;
    private static final long STARTING_S = 10;
    private static final long RETRY_MS = 100;
    private static final long LOOK_MS = 10;

    private Side() {}

    /** Begins an example: checks that it has the address and the port. */
    static void start(String[] args, String usage) {
        if (args.length < 2) {
            System.err.println("usage: " + usage);
            System.exit(MISUSED);
        }
        Thread.setDefaultUncaughtExceptionHandler((thread, e) -> System.err.println("error: " + e.getMessage()));
    }

    /** A number of the command line that can be left out. */
    static int number(String[] args, int index, int byDefault) {
        return index < args.length ? Integer.parseInt(args[index]) : byDefault;
    }

    /** Listens, so that every request has a queue pair. */
    static RdmaId listen(String[] args, RdmaQpInitAttr attr) {
        try (RdmaAddrInfo here = RdmaAddrInfo.passive(args[0], number(args, 1, 0), RdmaPortSpace.TCP)) {
            RdmaId listener = RdmaId.createEp(here, attr);
            try {
                listener.listen(0);
            } catch (RpmaException e) {
                listener.close();
                throw e;
            }
            return listener;
        }
    }

    /** An id with a route to the server and a queue pair. */
    static RdmaId resolve(String[] args, RdmaQpInitAttr attr) {
        try (RdmaAddrInfo there = RdmaAddrInfo.active(args[0], number(args, 1, 0), RdmaPortSpace.TCP)) {
            return RdmaId.createEp(there, attr);
        }
    }

    /** What a client does with an id that is resolved and not connected: it gets memory, and posts receives. */
    @FunctionalInterface
    interface Session {
        /** Connects, and does it. */
        void run(RdmaId id) throws InterruptedException;
    }

    /** Connects; a server that is only starting is tried again for some seconds. */
    static void withConnection(String[] args, RdmaQpInitAttr attr, Session session) throws InterruptedException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(STARTING_S);
        while (true) {
            try (RdmaId id = resolve(args, attr)) {
                session.run(id);
                return;
            } catch (RpmaException e) {
                if (!e.errnoName().equals("ECONNREFUSED") || System.nanoTime() > end) {
                    throw e;
                }
            }
            Thread.sleep(RETRY_MS);
        }
    }

    static void connect(RdmaId id, RdmaConnParam param) throws InterruptedException {
        id.connect(param);
        id.awaitEvent(RdmaEventType.ESTABLISHED, WAIT_S, TimeUnit.SECONDS);
    }

    static void accept(RdmaId id, RdmaConnParam param) throws InterruptedException {
        id.accept(param);
        id.awaitEvent(RdmaEventType.ESTABLISHED, WAIT_S, TimeUnit.SECONDS);
    }

    /** What a post answers. */
    static void posted(boolean posted) {
        if (!posted) {
            throw new IllegalStateException("the queue is full");
        }
    }

    /** Waits until an operation is done. */
    static void awaitDone(RdmaQp qp, RpmaCompletions completions) throws InterruptedException {
        check(qp.getSendComp(completions, WAIT_S, TimeUnit.SECONDS), completions);
    }

    /**
     * Waits for a message, and looks at the connection too: a receive does not end when the other side disconnects.
     *
     * @return false if the other side has disconnected instead
     */
    static boolean awaitMessage(RdmaId id, RpmaCompletions completions) throws InterruptedException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(WAIT_S);
        int count = 0;
        while (count == 0 && System.nanoTime() < end) {
            count = id.qp().getRecvComp(completions, LOOK_MS, TimeUnit.MILLISECONDS);
            if (count == 0 && id.nextEvent(0, TimeUnit.SECONDS).isPresent()) {
                // the last message may have come just before
                return id.qp().pollRecvComp(completions) > 0 && completions.isSuccess(0);
            }
        }
        check(count, completions);
        return true;
    }

    private static void check(int count, RpmaCompletions completions) {
        if (count == 0) {
            throw new IllegalStateException("nothing from the other side in " + WAIT_S + " s");
        }
        if (!completions.isSuccess(0)) {
            throw new IllegalStateException(completions.status(0).description());
        }
    }
}
