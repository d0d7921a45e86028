package io.rpma;

import java.util.function.IntSupplier;
import java.util.function.Supplier;

/** A completion channel: wakes those who wait for the completion queues that it belongs to. */
final class ComplChannel {
    private final String operation;
    private final Handle owner;
    private final Handle descriptor;
    private final IntSupplier rearm;

    /**
     * A waiter re-arms a queue and then polls. Were there a second one, asleep, it would not be woken for completions
     * that the first leaves behind.
     */
    private final QuietLock waiting = new QuietLock();

    /**
     * @param operation the C function that takes an event of the channel and re-arms the queue that it is of
     * @param owner named in exceptions
     * @param descriptor has the channel's descriptor
     * @param rearm calls the C function
     */
    ComplChannel(String operation, Handle owner, Handle descriptor, IntSupplier rearm) {
        this.operation = operation;
        this.owner = owner;
        this.descriptor = descriptor;
        this.rearm = rearm;
    }

    /**
     * Waits without end until a queue has completions.
     *
     * @param poll returns a queue that had completions, or null
     */
    RpmaCq await(Supplier<RpmaCq> poll) throws InterruptedException {
        waiting.lockInterruptibly();
        try {
            descriptor.checkUnserved(operation);
            return await(poll, Waiter.FOREVER);
        } finally {
            waiting.unlock();
        }
    }

    /**
     * Waits until a queue has completions.
     *
     * @param poll returns a queue that had completions, or null
     * @param nanos for how long
     * @return the queue, or null if the time is up
     */
    RpmaCq awaitFor(Supplier<RpmaCq> poll, long nanos) throws InterruptedException {
        long start = System.nanoTime();
        if (!waiting.tryLock(nanos)) {
            return poll.get();
        }
        try {
            descriptor.checkUnserved(operation);
            return await(poll, Waiter.left(nanos, start));
        } finally {
            waiting.unlock();
        }
    }

    private RpmaCq await(Supplier<RpmaCq> poll, long nanos) throws InterruptedException {
        RpmaCq from = poll.get();
        long start = System.nanoTime();
        long left = nanos;
        while (from == null && Waiter.await(operation, descriptor, left)) {
            takeEvent();
            from = poll.get();
            if (left == 0) {
                return from;
            }
            left = Waiter.left(nanos, start);
        }
        return from;
    }

    /** Takes an event, if there is one, and re-arms the queue that it is of. */
    private boolean takeEvent() {
        int result = rearm.getAsInt();
        if (result == RpmaError.NO_COMPLETION.code()) {
            return false;
        }
        if (result < 0) {
            throw Call.failure(operation, result, owner);
        }
        return true;
    }

    /**
     * Takes completions without waiting. When there are none, the descriptor tells of the next ones.
     *
     * <p>Re-arms only then, so that a busy queue costs no events.
     *
     * @param poll returns a queue that had completions, or null
     * @return the queue, or null if there are none
     */
    RpmaCq take(Supplier<RpmaCq> poll) {
        RpmaCq from = poll.get();
        return from == null && takeEvent() ? poll.get() : from;
    }

    /**
     * Lets an event loop alone take completions.
     *
     * @throws IllegalStateException if another one does, or a thread waits
     */
    void claim(Served<?> by) {
        if (!waiting.tryLock()) {
            throw new IllegalStateException("a thread waits for " + descriptor);
        }
        try {
            descriptor.claim(by);
        } finally {
            waiting.unlock();
        }
    }

    Handle descriptor() {
        return descriptor;
    }
}
