// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.librpma;

import static java.util.concurrent.TimeUnit.NANOSECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaConn;
import io.rpma.RpmaConnEvent;
import io.rpma.RpmaCq;
import io.rpma.RpmaException;
import io.rpma.RpmaWcOpcode;
import io.rpma.RpmaWcStatus;
import java.util.EnumSet;
import java.util.Set;

/** Waits for the completions of a connection, as long as it exists: a dead process sends no message. */
final class Events {
    /** Takes one completion. */
    @FunctionalInterface
    private interface Source {
        void take(RpmaCompletions wc) throws InterruptedException;
    }

    private final RpmaConn conn;
    private final Source operations;
    private final Source receives;
    private final RpmaCompletions wc = RpmaCompletions.create(1);

    private Events(RpmaConn conn, Source operations, Source receives) {
        this.conn = conn;
        this.operations = operations;
        this.receives = receives;
    }

    /** Waits on a connection with a completion queue and possibly another completion queue for receives. */
    static Events of(RpmaConn conn) {
        return of(conn, conn.getRcq().orElse(conn.getCq()));
    }

    /** Waits on a connection whose receives complete in this queue, which may be that of a shared receive queue. */
    static Events of(RpmaConn conn, RpmaCq receives) {
        boolean own = receives == conn.getCq() || receives == conn.getRcq().orElse(null);
        return new Events(conn, source(conn.getCq()), own ? source(receives) : inTurns(receives, conn));
    }

    /** A shared receive queue does not see the end of a connection. */
    private static Source inTurns(RpmaCq cq, RpmaConn conn) {
        RpmaCompletions none = RpmaCompletions.create(1);
        return wc -> {
            while (cq.await(wc, 1, SECONDS) == 0) {
                // nothing is being sent, so this only checks the connection
                conn.getCq().awaitWhileConnected(none, 0, SECONDS);
            }
        };
    }

    private static Source source(RpmaCq cq) {
        return wc -> cq.awaitWhileConnected(wc, Long.MAX_VALUE, NANOSECONDS);
    }

    /** Waits on a connection whose queues share a completion channel, for both queues together. */
    static Events ofChannel(RpmaConn conn) {
        Source channel = wc -> conn.awaitWhileConnected(wc, Long.MAX_VALUE, NANOSECONDS);
        return new Events(conn, channel, channel);
    }

    /** Waits for the success of the operation with this context. */
    void await(long opContext) throws InterruptedException {
        next(operations);
        if (wc.wrId(0) != opContext) {
            throw new IllegalStateException("a completion of operation " + wc.wrId(0) + " instead of " + opContext);
        }
    }

    /** Waits for the success of an operation of this kind. */
    void await(RpmaWcOpcode opcode) throws InterruptedException {
        next(operations);
        expect(EnumSet.of(opcode));
    }

    /** Waits for a receive that is completed by an operation of this kind. */
    RpmaCompletions awaitReceived(RpmaWcOpcode opcode) throws InterruptedException {
        next(receives);
        expect(EnumSet.of(opcode));
        return wc;
    }

    /** Waits for a message, and returns its length. */
    long awaitReceived() throws InterruptedException {
        return awaitReceived(RpmaWcOpcode.RECV).byteLen(0);
    }

    /**
     * Waits until a message is sent and a message is received, in any order. Returns the length of the received
     * message.
     */
    long awaitSentAndReceived() throws InterruptedException {
        long length = 0;
        Set<RpmaWcOpcode> missing = EnumSet.of(RpmaWcOpcode.SEND, RpmaWcOpcode.RECV);
        while (!missing.isEmpty()) {
            next(missing.contains(RpmaWcOpcode.SEND) ? operations : receives);
            expect(missing);
            missing.remove(wc.opcode(0));
            if (wc.opcode(0) == RpmaWcOpcode.RECV) {
                length = wc.byteLen(0);
            }
        }
        return length;
    }

    /**
     * Waits for the success of the last operation: the send of a message, after which the other side disconnects. The
     * disconnection can arrive before the completion of the send.
     */
    void awaitLast(RpmaWcOpcode opcode) throws InterruptedException {
        if (take(operations)) {
            expect(EnumSet.of(opcode));
        }
    }

    /** Waits until the other side disconnects. */
    void awaitClosed() throws InterruptedException {
        Common.awaitClosed(conn);
    }

    /** Disconnects, and waits until the connection is closed. */
    void disconnect() throws InterruptedException {
        Common.disconnect(conn);
    }

    private void next(Source source) throws InterruptedException {
        if (!take(source)) {
            throw ended();
        }
    }

    /** Takes the completion of a successful operation. Returns false if the connection ends without a completion. */
    private boolean take(Source source) throws InterruptedException {
        try {
            source.take(wc);
        } catch (RpmaException e) {
            if (e.errnoName().equals("ENOTCONN")) {
                return false;
            }
            throw e;
        }
        if (wc.status(0) == RpmaWcStatus.WR_FLUSH_ERR) {
            return false;
        }
        if (!wc.isSuccess(0)) {
            throw new IllegalStateException(
                    "an operation failed: " + wc.status(0).description());
        }
        return true;
    }

    private void expect(Set<RpmaWcOpcode> opcodes) {
        if (!opcodes.contains(wc.opcode(0))) {
            throw new IllegalStateException("a completion of " + wc.opcode(0) + " instead of " + opcodes);
        }
    }

    private IllegalStateException ended() throws InterruptedException {
        // on iWARP, the completions can arrive before the event
        String event =
                conn.nextEvent(1, SECONDS).map(RpmaConnEvent::description).orElse("its operations have ended");
        return new IllegalStateException("the other side is gone: " + event);
    }
}
