package io.rpma;

import java.lang.ref.Reference;

/** A completion channel: wakes those who wait for the completion queues that it belongs to. */
final class ComplChannel {
    private final String operation;
    private final Handle owner;

    /** Whether the owner is a connection, else the queue itself. */
    private final boolean shared;

    private final RpmaCq cq;

    /** Null if there is one queue only. */
    private RpmaCq rcq;

    /** Which queue is polled first: they take turns, so that neither starves. */
    private volatile boolean rcqFirst;

    /**
     * A waiter re-arms a queue and then polls. Were there a second one, asleep, it would not be woken for completions
     * that the first leaves behind.
     */
    private final QuietLock waiting = new QuietLock();

    /**
     * @param owner the connection whose queues share the channel, or the queue that has it for itself
     * @param shared whether the owner is a connection
     * @param rcq null if there is one queue only
     */
    ComplChannel(String operation, Handle owner, boolean shared, RpmaCq cq, RpmaCq rcq) {
        this.operation = operation;
        this.owner = owner;
        this.shared = shared;
        this.cq = cq;
        this.rcq = rcq;
    }

    /** The second queue does not exist. */
    void hasOneQueue() {
        rcq = null;
    }

    /** The native handle of the connection whose queues share the channel, or 0. */
    private long conn() {
        return shared ? owner.id() : 0;
    }

    /** Waits without end until a queue has completions, and returns it. */
    RpmaCq await(RpmaCompletions completions) throws InterruptedException {
        RpmaCq from = pollFirst(completions);
        if (from != null) {
            return from;
        }
        waiting.lockInterruptibly();
        try {
            return await(completions, Waiter.FOREVER, 0);
        } finally {
            waiting.unlock();
        }
    }

    /**
     * Waits until a queue has completions.
     *
     * @param nanos for how long
     * @return the queue, or null if the time is up
     */
    RpmaCq awaitFor(RpmaCompletions completions, long nanos) throws InterruptedException {
        RpmaCq from = pollFirst(completions);
        if (from != null) {
            return from;
        }
        long start = System.nanoTime();
        if (!waiting.tryLock(nanos)) {
            return poll(completions);
        }
        try {
            return await(completions, nanos, start);
        } finally {
            waiting.unlock();
        }
    }

    /** What is there already costs no lock and no waiter. */
    private RpmaCq pollFirst(RpmaCompletions completions) throws InterruptedException {
        descriptor().checkUnserved(operation);
        if (Thread.interrupted()) {
            throw interrupted();
        }
        return poll(completions);
    }

    /** {@code start} is when the {@code nanos} began, if they end. */
    private RpmaCq await(RpmaCompletions completions, long nanos, long start) throws InterruptedException {
        descriptor().checkUnserved(operation);
        return nanos != 0 && Waiter.isVirtual() ? park(completions, nanos, start) : block(completions, nanos, start);
    }

    /** Leaves the carrier of a virtual thread to others. */
    private RpmaCq park(RpmaCompletions completions, long nanos, long start) throws InterruptedException {
        RpmaCq from = poll(completions);
        long left = Waiter.left(nanos, start);
        while (from == null && Waiter.await(operation, descriptor(), left)) {
            takeEvent();
            from = poll(completions);
            if (left == 0) {
                // another thread may take each completion that comes: then the time counts, not the events
                return from;
            }
            left = Waiter.left(nanos, start);
        }
        return from;
    }

    private RpmaCq block(RpmaCompletions completions, long nanos, long start) throws InterruptedException {
        RpmaCq first = first();
        int outcome = blockOnce(first, completions, Waiter.left(nanos, start));
        while (outcome == Waiter.WOKEN) {
            if (Thread.interrupted()) {
                throw interrupted();
            }
            outcome = blockOnce(first, completions, Waiter.left(nanos, start));
        }
        if (outcome < 0) {
            throw Call.failure(operation, outcome, owner);
        }
        if (outcome == Waiter.TIMED_OUT) {
            return null;
        }
        RpmaCq from = (outcome & Natives.SECOND_QUEUE) == 0 ? first : other(first);
        completions.filled(outcome & ~Natives.SECOND_QUEUE);
        takeTurns(from);
        return from;
    }

    private int blockOnce(RpmaCq first, RpmaCompletions completions, long nanos) {
        RpmaCq second = other(first);
        Waiter waiter = Waiter.take();
        try {
            return Natives.cqAwait(
                    cq.handle().id(),
                    conn(),
                    first.handle().id(),
                    second == null ? 0 : second.handle().id(),
                    completions.capacity(),
                    completions.address(),
                    waiter.begun(),
                    nanos);
        } finally {
            waiter.giveBack();
            Reference.reachabilityFence(completions);
        }
    }

    private InterruptedException interrupted() {
        return new InterruptedException(operation + " on " + owner);
    }

    /** Takes completions without waiting, and returns the queue that they are of, or null if there are none. */
    RpmaCq poll(RpmaCompletions completions) {
        RpmaCq from = first();
        if (from.poll(completions) == 0) {
            from = other(from);
            if (from == null || from.poll(completions) == 0) {
                return null;
            }
        }
        takeTurns(from);
        return from;
    }

    /**
     * Takes completions without waiting. When there are none, the descriptor tells of the next ones.
     *
     * <p>Re-arms only then, so that a busy queue costs no events.
     *
     * @return the queue, or null if there are none
     */
    RpmaCq take(RpmaCompletions completions) {
        RpmaCq from = poll(completions);
        return from == null && takeEvent() ? poll(completions) : from;
    }

    /** Takes an event, if there is one, and re-arms the queue that it is of. */
    private boolean takeEvent() {
        int result = shared
                ? Natives.connWait(owner.id())
                : Natives.cqWait(cq.handle().id());
        if (result == RpmaError.NO_COMPLETION.code()) {
            return false;
        }
        if (result < 0) {
            throw Call.failure(operation, result, owner);
        }
        return true;
    }

    private RpmaCq first() {
        return rcqFirst ? rcq : cq;
    }

    /** Null if there is one queue only. */
    private RpmaCq other(RpmaCq queue) {
        return queue == cq ? rcq : cq;
    }

    private void takeTurns(RpmaCq served) {
        if (rcq != null) {
            rcqFirst = served == cq;
        }
    }

    /**
     * Lets an event loop alone take completions.
     *
     * @throws IllegalStateException if another one does, or a thread waits
     */
    void claim(Served<?> by) {
        if (!waiting.tryLock()) {
            throw new IllegalStateException("a thread waits for " + descriptor());
        }
        try {
            descriptor().claim(by);
        } finally {
            waiting.unlock();
        }
    }

    Handle descriptor() {
        return cq.handle();
    }
}
