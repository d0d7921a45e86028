// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.rdmacm;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaException;
import io.rpma.RpmaWcStatus;
import io.rpma.rdmacm.RdmaAddrInfo;
import io.rpma.rdmacm.RdmaConnParam;
import io.rpma.rdmacm.RdmaEventType;
import io.rpma.rdmacm.RdmaId;
import io.rpma.rdmacm.RdmaPortSpace;
import io.rpma.rdmacm.RdmaQp;
import io.rpma.rdmacm.RdmaQpInitAttr;
import java.util.concurrent.TimeUnit;

/** The common code of both sides of these examples. */
final class Side {
    private static final int MISUSED = 255;
    private static final long WAIT_S = 120;
    private static final long STARTING_S = 120;
    private static final long RETRY_MS = 100;

    private Side() {}

    /** Begins an example: checks that the command line has an address and a port. */
    static void start(String[] args, String usage) {
        if (args.length < 2) {
            System.err.println("usage: " + usage);
            System.exit(MISUSED);
        }
        Thread.setDefaultUncaughtExceptionHandler((thread, e) -> System.err.println("error: " + e.getMessage()));
    }

    /** Returns a number of the command line, or its default. */
    static int number(String[] args, int index, int byDefault) {
        return index < args.length ? Integer.parseInt(args[index]) : byDefault;
    }

    /** Listens. Each request gets a queue pair with these attributes. */
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

    /** Makes an id with a route to the server and a queue pair. */
    static RdmaId resolve(String[] args, RdmaQpInitAttr attr) {
        try (RdmaAddrInfo there = RdmaAddrInfo.active(args[0], number(args, 1, 0), RdmaPortSpace.TCP)) {
            return RdmaId.createEp(there, attr);
        }
    }

    /** The actions of a client. The id is resolved but not connected, so that the session can post receives first. */
    @FunctionalInterface
    interface Session {
        /** Carries out the session. */
        void run(RdmaId id) throws InterruptedException;
    }

    /** Runs a session. If the server is still starting, retries for two minutes. */
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

    /** Checks the result of a post. */
    static void posted(boolean posted) {
        if (!posted) {
            throw new IllegalStateException("the queue is full");
        }
    }

    /** Waits for the completion of an operation. */
    static void awaitDone(RdmaQp qp, RpmaCompletions completions) throws InterruptedException {
        check(qp.getSendComp(completions, WAIT_S, TimeUnit.SECONDS), completions);
    }

    /**
     * Waits for a message. A receive does not end when the other side disconnects.
     *
     * @return false if the other side has disconnected instead
     */
    static boolean awaitMessage(RdmaId id, RpmaCompletions completions) throws InterruptedException {
        int count;
        try {
            count = id.qp().getRecvCompWhileConnected(completions, WAIT_S, TimeUnit.SECONDS);
        } catch (RpmaException e) {
            if (e.errnoName().equals("ENOTCONN")) {
                return false;
            }
            throw e;
        }
        if (count > 0 && completions.status(0) == RpmaWcStatus.WR_FLUSH_ERR) {
            return false; // on iWARP, the disconnection ends the receives
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
