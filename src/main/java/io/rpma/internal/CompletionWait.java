// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.internal;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Waits for completions. After a queue is armed, its completion channel becomes readable once, when the next completion
 * arrives. So a wait arms the queue, polls it, and waits for the channel if the queue is empty.
 *
 * @param <C> the array of completions
 * @param <Q> the queue of the completions
 */
public abstract class CompletionWait<C, Q> {
    /** Stands for no descriptor. */
    protected static final int NO_FD = -1;

    /** Stands for a virtual thread. */
    private static final Object PARKED = new Object();

    /** The C function, for messages. */
    protected final String operation;

    /** The object that the program waits for, for messages. */
    protected final Resource owner;

    private final Resource channel;

    /**
     * Admits one waiting thread at a time, which arms the queue before it polls it. A second sleeping thread would not
     * be woken for the completions that the first thread leaves in the queue.
     */
    private final ReentrantLock waiting = new ReentrantLock();

    /** The {@link Waiter} of the thread that waits and watches the connection, {@link #PARKED}, or null. */
    private volatile Object sleeper;

    /**
     * Creates the waits for one completion channel.
     *
     * @param operation the C function, for messages
     * @param owner the object that the program waits for, for messages
     * @param channel the object with the descriptor of the channel
     */
    protected CompletionWait(String operation, Resource owner, Resource channel) {
        this.operation = operation;
        this.owner = owner;
        this.channel = channel;
    }

    /**
     * Takes completions without waiting.
     *
     * @param completions the array to fill
     * @return the queue of the completions, or null if there are none
     */
    public abstract Q poll(C completions);

    /**
     * Polls, and while there are no completions, blocks until the channel is readable, takes the event, arms the queue
     * and polls: one native call. Arms the queue before the first poll unless it is armed and the call can block.
     *
     * @param completions the array to fill
     * @param solicitedOnly whether to wait for solicited completions only
     * @param events the handle of the object whose descriptor ends the call as the eventfd does, or 0
     * @param wakeFd an eventfd that ends the call when the thread is interrupted
     * @param nanos the timeout, or {@link Waiter#FOREVER}; 0 prevents that the call blocks
     * @return a positive number for {@link #taken}, {@link Result#TIMED_OUT}, {@link Result#WOKEN} or an error
     */
    protected abstract int take(C completions, boolean solicitedOnly, long events, int wakeFd, long nanos);

    /**
     * {@return the queue of the completions that {@link #take} has taken}
     *
     * @param completions the array with the completions
     * @param result the result of {@link #take}
     */
    protected abstract Q taken(C completions, int result);

    /**
     * Waits until a queue has completions, and takes them.
     *
     * @param completions the array to fill
     * @param solicitedOnly whether only solicited completions end the wait; completions that are already there prevent
     *     the wait
     * @param events the events of the connection whose end also ends the wait, or null
     * @param nanos the timeout, or {@link Waiter#FOREVER}
     * @return the queue, or null if the wait times out
     * @throws InterruptedException if the thread is interrupted before or during the wait
     * @throws io.rpma.RpmaException if the connection has ended, and there are no completions
     */
    public final Q await(C completions, boolean solicitedOnly, ConnectionEvents<?> events, long nanos)
            throws InterruptedException {
        channel.checkUnclaimed(operation);
        checkInterrupted();
        // a first poll needs neither the lock nor a Waiter
        Q from = poll(completions);
        if (from != null) {
            return from;
        }
        FlightEvents.Wait event = FlightEvents.waitBegins();
        try {
            from = awaitNext(completions, solicitedOnly, events, nanos);
        } finally {
            FlightEvents.waitEnds(event, operation, owner);
        }
        if (from == null && events != null && events.look(0)) {
            // a completion can have arrived before the event
            from = poll(completions);
            if (from == null) {
                throw events.failure(operation);
            }
        }
        return from;
    }

    private Q awaitNext(C completions, boolean solicitedOnly, ConnectionEvents<?> events, long nanos)
            throws InterruptedException {
        long start = Waiter.start(nanos);
        if (!lock(nanos)) {
            return poll(completions);
        }
        try {
            channel.checkUnclaimed(operation);
            long left = Waiter.left(nanos, start);
            Q from = left == 0 || Waiter.isVirtual()
                    ? park(completions, solicitedOnly, events, left)
                    : block(completions, solicitedOnly, events, left);
            // takes the unsolicited completions that arrived during the wait
            return from == null && solicitedOnly ? poll(completions) : from;
        } finally {
            sleeper = null;
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

    /**
     * Waits in a virtual thread, or not at all. The carrier is free for other virtual threads during the wait.
     */
    private Q park(C completions, boolean solicitedOnly, ConnectionEvents<?> events, long nanos)
            throws InterruptedException {
        long start = Waiter.start(nanos);
        Q from = takeNow(completions, solicitedOnly);
        long left = nanos;
        boolean ended = false;
        if (events != null) {
            sleeper = PARKED;
        }
        // the deadline ends the wait after an event too: a thread that takes each completion first could otherwise
        // prolong the wait indefinitely
        while (from == null && left != 0 && !ended && Waiter.awaitReady(operation, channel, events, left)) {
            from = takeNow(completions, solicitedOnly);
            left = Waiter.left(nanos, start);
            ended = from == null && events != null && events.look(left);
        }
        return from;
    }

    private Q block(C completions, boolean solicitedOnly, ConnectionEvents<?> events, long nanos)
            throws InterruptedException {
        long start = Waiter.start(nanos);
        int result = blockOnce(completions, solicitedOnly, events, nanos);
        while (result == Result.WOKEN) {
            checkInterrupted();
            long left = Waiter.left(nanos, start);
            if (events != null && events.look(left)) {
                return null;
            }
            result = blockOnce(completions, solicitedOnly, events, left);
        }
        return ended(completions, result);
    }

    private int blockOnce(C completions, boolean solicitedOnly, ConnectionEvents<?> events, long nanos) {
        Waiter waiter = Waiter.take();
        try {
            return events == null
                    ? checked(take(completions, solicitedOnly, 0, waiter.begun(), nanos))
                    : blockWatching(completions, solicitedOnly, events, waiter, nanos);
        } finally {
            waiter.giveBack();
        }
    }

    private int blockWatching(
            C completions, boolean solicitedOnly, ConnectionEvents<?> events, Waiter waiter, long nanos) {
        // before the look at the events: a thread that takes one afterwards wakes this thread
        sleeper = waiter;
        if (events.hasEnded()) {
            return Result.WOKEN;
        }
        Resource watched = events.watched();
        return checked(take(completions, solicitedOnly, watched == null ? 0 : watched.handle(), waiter.begun(), nanos));
    }

    /** Wakes the thread that waits and watches the connection, so that it looks at the events again. */
    public final void wake() {
        Object thread = sleeper;
        if (thread == PARKED) {
            VirtualWaits.wake(channel);
        } else if (thread != null) {
            ((Waiter) thread).wake();
        }
    }

    private Q takeNow(C completions, boolean solicitedOnly) {
        return ended(completions, checked(take(completions, solicitedOnly, 0, NO_FD, 0)));
    }

    private int checked(int result) {
        if (result < 0 && result != Result.WOKEN) {
            throw Call.failure(operation, result, owner);
        }
        return result;
    }

    private Q ended(C completions, int result) {
        return result == Result.TIMED_OUT ? null : taken(completions, result);
    }

    /**
     * Takes completions without waiting. If there are none, arms the queue: the next completion makes the channel
     * readable.
     *
     * <p>A queue with completions is not armed, so that a busy queue causes no events.
     *
     * @param completions the array to fill
     * @param solicitedOnly whether to arm the queue for solicited completions only
     * @return the queue, or null if there are none
     */
    public final Q pollOrArm(C completions, boolean solicitedOnly) {
        Q from = poll(completions);
        return from == null ? takeNow(completions, solicitedOnly) : from;
    }

    /**
     * Reserves the waits for an event loop.
     *
     * @param loop the loop
     * @throws IllegalStateException if another loop has reserved them, or a thread waits
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

    /** {@return the object with the descriptor of the channel} */
    public final Resource channel() {
        return channel;
    }
}
