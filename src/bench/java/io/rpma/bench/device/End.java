package io.rpma.bench.device;

import io.rpma.RpmaCompletions;

/** This side of a connection with the target, on which loads run, and the memory of its operations. */
interface End {
    /** The operation context of a message, which only its answer completes. */
    long NOT_COUNTED = -1;

    /**
     * Posts an operation.
     *
     * @param offset the offset of its bytes, on both sides
     * @param number its context, unless only an answer completes the operation
     */
    void post(Operation operation, long offset, long size, long number);

    /** Posts the receive of an answer. */
    void receive(long offset, long size, long number);

    /** Takes the completions that are there. */
    int poll(RpmaCompletions completions);

    /** Waits for completions while operations of this kind are under way, and takes them. */
    int await(Operation operation, RpmaCompletions completions) throws InterruptedException;

    /** Checks the result of a post. */
    static void check(boolean posted) {
        if (!posted) {
            throw new IllegalStateException("a queue is full");
        }
    }
}
