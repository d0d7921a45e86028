// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.internal;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The events of a connection. A thread that waits for completions can watch them too, because no completion reports the
 * end of the connection. It takes the event, unless a loop or another thread does, and keeps it for the next call that
 * asks for an event.
 *
 * @param <E> the type of the events
 */
public abstract class ConnectionEvents<E> {
    private final String operation;
    private final Resource object;

    /** Guards {@link #takeNative}. Other calls can hold it for long. */
    private final ReentrantLock lock;

    /** Events that a wait for completions has taken. Its monitor guards it and {@link #takers}, and the claim. */
    private final Queue<E> kept = new ArrayDeque<>(2);

    /** The number of threads that wait for events. */
    private volatile int takers;

    /** The event with which the connection has ended, or null. */
    private volatile E end;

    /** Used only by the loop that serves the events. */
    private boolean busy;

    /**
     * Creates the events of a connection.
     *
     * @param operation the C function that takes an event, for messages
     * @param object the object with the descriptor of the events
     * @param lock guards the function
     */
    protected ConnectionEvents(String operation, Resource object, ReentrantLock lock) {
        this.operation = operation;
        this.object = object;
        this.lock = lock;
    }

    /** {@return an event, or null if there is none} The caller holds the lock. */
    protected abstract E takeNative();

    /**
     * {@return whether the connection has ended with this event}
     *
     * @param event the event
     */
    protected abstract boolean isEnd(E event);

    /**
     * {@return the failure of a wait for completions of a connection that has ended}
     *
     * @param waiting the C function of the wait
     * @param event the event with which the connection has ended
     */
    protected abstract RuntimeException failure(String waiting, E event);

    /** Wakes the threads that wait for completions of the connection: {@link CompletionWait#wake}. */
    protected abstract void wakeWaits();

    /**
     * Waits for an event.
     *
     * @param nanos the timeout, or {@link Waiter#FOREVER}
     * @return the event, or null if the wait times out
     * @throws InterruptedException if the thread is interrupted before or during the wait
     */
    public final E next(long nanos) throws InterruptedException {
        Stack.reserve();
        if (nanos == 0) {
            // a call that does not wait takes the event from no other
            E event = isReady(0) && lock(0) ? takeLocked() : null;
            if (event != null) {
                wakeWaits();
            }
            return event;
        }
        addTakers(1);
        try {
            return awaitNext(nanos);
        } finally {
            addTakers(-1);
            wakeWaits();
        }
    }

    private E awaitNext(long nanos) throws InterruptedException {
        long start = Waiter.start(nanos);
        E event = null;
        while (event == null && isReady(Waiter.left(nanos, start)) && lock(Waiter.left(nanos, start))) {
            event = takeLocked();
        }
        return event;
    }

    private void addTakers(int number) {
        synchronized (kept) {
            takers += number;
        }
    }

    private boolean isReady(long nanos) throws InterruptedException {
        boolean hasKept;
        synchronized (kept) {
            hasKept = !kept.isEmpty();
        }
        return Waiter.await(operation, object, hasKept ? 0 : nanos) || hasKept;
    }

    /** Waits for other calls of the same object no longer than the wait may take. */
    private boolean lock(long nanos) throws InterruptedException {
        if (nanos == Waiter.FOREVER) {
            lock.lockInterruptibly();
            return true;
        }
        return lock.tryLock(nanos, TimeUnit.NANOSECONDS);
    }

    /**
     * Takes an event without waiting, for an event loop.
     *
     * @return the event, or null if there is none, or if another call uses the object: see {@link #isBusy}
     */
    public final E take() {
        // an event that was kept before the claim is not in the descriptor, which a busy lock would leave it to
        E event = takeKept();
        busy = event == null && !lock.tryLock();
        if (event != null || busy) {
            return event;
        }
        event = takeLocked();
        if (event != null) {
            wakeWaits();
        }
        return event;
    }

    /** {@return whether the last {@link #take} has found another call that uses the object} */
    public final boolean isBusy() {
        return busy;
    }

    private E takeLocked() {
        try {
            E first = takeKept();
            return first == null ? noted(takeNative()) : first;
        } finally {
            lock.unlock();
        }
    }

    private E takeKept() {
        synchronized (kept) {
            return kept.poll();
        }
    }

    private E noted(E event) {
        if (event != null && end == null && isEnd(event)) {
            end = event;
        }
        return event;
    }

    /**
     * Reserves the events for an event loop.
     *
     * @param loop the loop
     * @throws IllegalStateException if another loop has reserved them
     */
    public final void claim(Object loop) {
        synchronized (kept) {
            object.claim(loop);
        }
    }

    /** Ends the reservation of {@link #claim}. The waits for completions watch the events again. */
    public final void release() {
        object.release();
        wakeWaits();
    }

    /** Returns the object to watch, or null if a loop or another thread takes the events. */
    Resource watched() {
        return takers == 0 && !object.isClaimed() ? object : null;
    }

    /** Returns whether the connection has ended, as far as its events are taken. */
    boolean hasEnded() {
        return end != null;
    }

    /**
     * Takes and keeps an event, unless a loop or another thread takes the events.
     *
     * @param nanos the maximum time to wait for other calls of the same object
     * @return whether the connection has ended
     */
    boolean look(long nanos) throws InterruptedException {
        if (end == null && watched() != null) {
            Stack.reserve();
            if (lock(nanos)) {
                try {
                    keep();
                } finally {
                    lock.unlock();
                }
            }
            if (end != null) {
                // threads that wait for another queue
                wakeWaits();
            }
        }
        return end != null;
    }

    private void keep() {
        synchronized (kept) {
            E event = watched() == null ? null : noted(takeNative());
            if (event != null) {
                kept.add(event);
            }
        }
    }

    /** Returns the failure of a wait, after the end. */
    RuntimeException failure(String waiting) {
        return failure(waiting, end);
    }
}
