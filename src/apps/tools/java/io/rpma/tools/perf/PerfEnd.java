// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools.perf;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaWcStatus;
import io.rpma.support.Connector;
import io.rpma.support.LostException;
import java.io.IOException;
import java.util.stream.Stream;

/** The client's side of one connection, on which a load runs. All its operations use the same bytes. */
abstract class PerfEnd {
    /** The time of a wait for events, after which the connection is checked. */
    static final int WAIT_MS = 100;

    /** The time in which the end of a connection follows the error completion that the end of the server causes. */
    private static final int END_MS = 1000;

    private final Connector connector;
    private final PerfRequest request;
    private final int list;

    /** The sends without a completion. They can outlast the answers of the server. */
    private int sends;

    /** Whether an operation has succeeded, so that the devices carry it out. */
    private boolean isSupported;

    /**
     * Makes the side of a connection.
     *
     * @param list the most operations of one post
     */
    PerfEnd(Connector connector, PerfRequest request, int list) {
        this.connector = connector;
        this.request = request;
        this.list = list;
    }

    /** Returns the length of the send queue: a flush takes two operations, and a send can complete after its answer. */
    static int sendQueue(PerfRequest request) {
        return 2 * request.depth();
    }

    /** Returns the length of the lists of completions. */
    static int completions(PerfRequest request) {
        return Math.max(2, request.depth());
    }

    /**
     * Returns whether the send queue has room for this number of operations. It can lack room although all operations
     * are completed by answers, because the completions of the sends can follow.
     */
    final boolean hasRoom(int count) {
        return sends + count <= sendQueue(request);
    }

    /** Posts operations. */
    final void post(int count) {
        if (request.operation().isAnswered()) {
            sends += count;
        }
        if (list == 1) {
            post();
            return;
        }
        for (int i = 0; i < count; i++) {
            record();
        }
        postRecorded();
    }

    /** Posts one operation. */
    abstract void post();

    /** Records one operation, for a post of several. */
    abstract void record();

    /** Posts the recorded operations. */
    abstract void postRecorded();

    /** Checks the result of a post or of a record. */
    static void check(boolean posted) {
        if (!posted) {
            throw new IllegalStateException("a queue is full, although it has room for all operations");
        }
    }

    /**
     * Takes completions.
     *
     * @return the number of completed operations, which complete in the order of the posts; 0 if none is complete
     */
    abstract int take() throws IOException, InterruptedException;

    /** Counts the completions of the sends of answered operations. */
    final void sent(int count) {
        sends -= count;
    }

    /**
     * Checks the connection while operations are under way.
     *
     * @throws IOException if the other side has ended the connection
     */
    final void checkConnected() throws IOException, InterruptedException {
        if (isEnded(0)) {
            throw new LostException(connector, "the server has ended the connection");
        }
    }

    /** Waits up to this time until the other side ends the connection. Returns whether it has ended the connection. */
    abstract boolean isEnded(long millis) throws InterruptedException;

    /** Returns an exception which reports that no operation has completed for some time. */
    final IOException silent(long nanos) {
        return new LostException(connector, "no answer within " + NANOSECONDS.toMillis(nanos) + " ms");
    }

    /**
     * Checks a completion.
     *
     * @throws LostException if the connection is lost
     * @throws UnsupportedOperationException if a device does not carry out the operation
     */
    final void check(RpmaCompletions completions, int i) throws LostException, InterruptedException {
        if (completions.isSuccess(i)) {
            isSupported = true;
            return;
        }
        fail(completions.status(i));
    }

    /**
     * Reports the status of an operation that has failed.
     *
     * @throws LostException if the connection is lost
     * @throws UnsupportedOperationException if a device does not carry out the operation
     * @throws InterruptedException if the thread is interrupted during the wait for the end of the connection
     */
    final void fail(RpmaWcStatus status) throws LostException, InterruptedException {
        String reason = status + " (" + status.description() + ")";
        // a server that is killed loses its memory regions before its connection, which REM_OP_ERR can report
        if (!isSupported && isRefusal(status) && !isEnded(END_MS)) {
            throw new UnsupportedOperationException("a device does not carry it out: " + reason);
        }
        throw new LostException(connector, "the connection is lost: " + reason);
    }

    /** Returns whether a device that does not carry out an operation reports this status. */
    private static boolean isRefusal(RpmaWcStatus status) {
        return switch (status) {
            case LOC_QP_OP_ERR, REM_INV_REQ_ERR, REM_OP_ERR, REM_INV_RD_REQ_ERR -> true;
            default -> false;
        };
    }

    /** Returns the objects of the connection, which {@code RpmaObjects.closeAll} closes. */
    abstract Stream<AutoCloseable> objects();
}
