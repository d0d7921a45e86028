package io.rpma.internal;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Waits for completions. A completion channel becomes readable once for each time that its queue is armed, when the next
 * completion arrives: so each wait arms, polls, and waits for the channel if there was nothing to poll.
 *
 * @param <C> where completions are put
 * @param <Q> the queue that they are from
 */
public abstract class CompletionWait<C, Q> {
    /** The C function, for messages. */
    protected final String operation;

    /** The object that the user waits for, for messages. */
    protected final NativeObject owner;

    private final NativeObject channel;

    /**
     * A waiter arms a queue and then polls. A second one, asleep, would not be woken for completions that the first leaves
     * behind.
     */
    private final ReentrantLock waiting = new ReentrantLock();

    /**
     * Of one completion channel.
     *
     * @param operation the C function, for messages
     * @param owner the object that the user waits for, for messages
     * @param channel has the channel's descriptor
     */
    protected CompletionWait(String operation, NativeObject owner, NativeObject channel) {
        this.operation = operation;
        this.owner = owner;
        this.channel = channel;
    }

    /**
     * Takes completions without waiting.
     *
     * @param completions where to
     * @return their queue, or null if there are none
     */
    public abstract Q poll(C completions);

    /**
     * {@return whether the next completion makes the channel readable already}
     *
     * @param solicitedOnly whether unsolicited completions must not do so
     */
    protected abstract boolean isArmed(boolean solicitedOnly);

    /**
     * Takes a pending event, if there is one, and arms the queue that it is of.
     *
     * @param solicitedOnly whether to arm for solicited completions alone
     * @return false if nothing has been armed
     */
    protected abstract boolean arm(boolean solicitedOnly);

    /**
     * Does in one native call what {@link #park} does: blocks until the channel has an event, takes that, arms, and polls.
     *
     * @param completions where to
     * @param solicitedOnly whether to wait for solicited completions alone
     * @param wakeFd an eventfd that ends the call for the interruption of the thread
     * @param nanos the timeout, or {@link Waiter#FOREVER}
     * @return a positive number for {@link #taken}, or {@link Result#TIMED_OUT}, {@link Result#WOKEN} or an error
     */
    protected abstract int block(C completions, boolean solicitedOnly, int wakeFd, long nanos);

    /**
     * {@return the queue of the completions that {@link #block} has taken}
     *
     * @param completions which they are
     * @param result of the native
     */
    protected abstract Q taken(C completions, int result);

    /**
     * Waits until a queue has completions.
     *
     * @param completions where to
     * @param solicitedOnly whether unsolicited completions that arrive later do not end the wait
     * @param nanos the timeout, or {@link Waiter#FOREVER}
     * @return the queue, or null if the wait has timed out
     * @throws InterruptedException if the thread is interrupted before or meanwhile
     */
    public final Q await(C completions, boolean solicitedOnly, long nanos) throws InterruptedException {
        channel.checkUnclaimed(operation);
        checkInterrupted();
        // completions that are there already cost no lock and no waiter
        Q from = poll(completions);
        if (from != null) {
            return from;
        }
        long start = Waiter.start(nanos);
        if (!lock(nanos)) {
            return poll(completions);
        }
        try {
            channel.checkUnclaimed(operation);
            if (!isArmed(solicitedOnly)) {
                arm(solicitedOnly);
            }
            // the thread that waited before may have taken the event of more completions than it took
            from = poll(completions);
            if (from == null) {
                long left = Waiter.left(nanos, start);
                from = left != 0 && Waiter.isVirtual()
                        ? park(completions, solicitedOnly, left)
                        : block(completions, solicitedOnly, left);
            }
            // unsolicited ones may have arrived meanwhile
            return from == null && solicitedOnly ? poll(completions) : from;
        } finally {
            waiting.unlock();
        }
    }

    private boolean lock(long nanos) throws InterruptedException {
        if (nanos != Waiter.FOREVER) {
            return waiting.tryLock(nanos, TimeUnit.NANOSECONDS);
        }
        waiting.lockInterruptibly();
        return true;
    }

    private void checkInterrupted() throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException(operation + " on " + owner);
        }
    }

    /** Leaves the carrier of a virtual thread to others. */
    private Q park(C completions, boolean solicitedOnly, long nanos) throws InterruptedException {
        long start = Waiter.start(nanos);
        Q from = null;
        long left = nanos;
        while (from == null && Waiter.await(operation, channel, left)) {
            arm(solicitedOnly);
            from = poll(completions);
            if (left == 0) {
                // another thread may take each completion that arrives: then the time counts, not the events
                return from;
            }
            left = Waiter.left(nanos, start);
        }
        return from;
    }

    private Q block(C completions, boolean solicitedOnly, long nanos) throws InterruptedException {
        long start = Waiter.start(nanos);
        int result = blockOnce(completions, solicitedOnly, nanos);
        while (result == Result.WOKEN) {
            checkInterrupted();
            result = blockOnce(completions, solicitedOnly, Waiter.left(nanos, start));
        }
        return result == Result.TIMED_OUT ? null : taken(completions, result);
    }

    private int blockOnce(C completions, boolean solicitedOnly, long nanos) {
        Waiter waiter = Waiter.take();
        try {
            int result = block(completions, solicitedOnly, waiter.begun(), nanos);
            if (result < 0 && result != Result.WOKEN) {
                throw Call.failure(operation, result, owner);
            }
            return result;
        } finally {
            waiter.giveBack();
        }
    }

    /**
     * Takes completions without waiting. If there are none, the next one makes the channel readable.
     *
     * <p>Arms only then, so that a busy queue costs no events.
     *
     * @param completions where to
     * @return the queue, or null if there are none
     */
    public final Q take(C completions) {
        Q from = poll(completions);
        return from == null && arm(false) ? poll(completions) : from;
    }

    /**
     * Lets an event loop alone wait for completions.
     *
     * @param loop the loop
     * @throws IllegalStateException if another one does, or a thread waits
     */
    public final void claim(Object loop) {
        if (!waiting.tryLock()) {
            throw new IllegalStateException("a thread waits for " + channel);
        }
        try {
            channel.claim(loop);
        } finally {
            waiting.unlock();
        }
    }

    /** {@return the object that has the channel's descriptor} */
    public final NativeObject channel() {
        return channel;
    }
}
