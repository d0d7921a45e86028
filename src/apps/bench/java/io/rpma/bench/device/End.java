// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.bench.device;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaEventLoop;

/** A client's side of a connection with the target, with the memory of its operations. Loads run on it. */
interface End {
    /**
     * The operation context of a message. Its completion does not count, because only the answer completes the
     * operation.
     */
    long NOT_COUNTED = -1;

    /**
     * Posts an operation.
     *
     * @param offset the offset of its bytes, on both sides
     * @param number the context of the operation, unless only an answer completes it
     */
    void post(Operation operation, long offset, long size, long number);

    /**
     * Adds a write to the chain that {@link #postChain} posts. Only librdmacm's connections have chains.
     *
     * @param number the context of the write, which has a completion only if it is the last
     */
    default void chain(long offset, long size, long number) {
        throw new UnsupportedOperationException("no chains");
    }

    /** Posts the chain. */
    default void postChain() {
        throw new UnsupportedOperationException("no chains");
    }

    /** Posts the receive of an answer. */
    void receive(long offset, long size, long number);

    /** Takes the available completions. */
    int poll(RpmaCompletions completions);

    /** Waits for completions of operations of this kind, and takes them. */
    int await(Operation operation, RpmaCompletions completions) throws InterruptedException;

    /** Registers a handler of the completions of operations with an event loop. */
    void serve(RpmaEventLoop loop, int batchSize, RpmaEventLoop.Handler<RpmaCompletions> handler);

    /** Checks the result of a post. */
    static void check(boolean posted) {
        if (!posted) {
            throw new IllegalStateException("a queue is full");
        }
    }
}
