package io.rpma.bench.device;

import io.rpma.RpmaCompletions;

/** This side of a connection with the target, and the memory of its operations: what a load is run on. */
interface End {
    /** Operation context of what is done only when its answer is there. */
    long NOT_COUNTED = -1;

    /**
     * Posts an operation.
     *
     * @param offset where its bytes are, on both sides
     * @param number its context, unless it is done only when its answer is there
     */
    void post(Operation operation, long offset, long size, long number);

    /** Posts the receive of an answer. */
    void receive(long offset, long size, long number);

    /** Takes the completions that there are. */
    int poll(RpmaCompletions completions);

    /** Waits for completions while operations of that kind are under way, and takes them. */
    int await(Operation operation, RpmaCompletions completions) throws InterruptedException;

    /** What a post answers. */
    static void check(boolean posted) {
        if (!posted) {
            throw new IllegalStateException("a queue is full");
        }
    }
}
