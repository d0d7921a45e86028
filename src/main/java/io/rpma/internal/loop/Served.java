// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.internal.loop;

import io.rpma.internal.Call;
import io.rpma.internal.Poller;
import io.rpma.internal.Resource;
import io.rpma.internal.Result;
import io.rpma.internal.Stack;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;

/**
 * An object that a loop serves. It takes items from its source, one at a time, and calls the handler with each.
 *
 * <p>The loop's own thread serves a registration without an executor, and does not wait meanwhile. So the descriptor
 * stays armed, which saves a system call for each wake-up. With an executor, the loop watches the descriptor only while
 * the registration is idle: a descriptor that stays readable during a call must not wake the loop.
 *
 * @param <T> the type of the items
 */
final class Served<T> implements Entry {
    private static final String ARM = "epoll_ctl";

    /** The maximum number of handler calls in one task of the executor, so that its other tasks have a turn. */
    private static final int CALLS_IN_TURN = 16;

    /** The pause before the retry for an item that could not be taken for lack of memory, in nanoseconds. */
    private static final long WHILE_STARVED = TimeUnit.SECONDS.toNanos(1);

    /** The pause before the retry for an object that was in a call of another thread, in nanoseconds. */
    private static final long WHILE_BUSY = TimeUnit.MILLISECONDS.toNanos(1);

    private final EventLoop loop;
    private final Source<T> source;
    private final Resource descriptor;
    private final Executor executor;
    private final Runnable closing = this::end;

    /** Whether the registration is waiting to be served or being served. One thread at a time serves it. */
    private final AtomicBoolean busy = new AtomicBoolean();

    /** Guards {@link #start}, {@link Source#take} and {@link #cancel}. No item is taken after the cancellation. */
    private final ReentrantLock lock = new ReentrantLock();

    /** Ends a check of the other side, or null. */
    private final AtomicReference<Runnable> whenEnded = new AtomicReference<>();

    private Poller.Watch watch;
    private volatile boolean active;

    /**
     * The pause before the next take, because the last one has failed and may have left its item in place; or 0. Used
     * only by the serving thread.
     */
    private long pause;

    /**
     * @param source takes the items
     * @param executor calls the handler; null for the loop's thread
     */
    Served(EventLoop loop, Source<T> source, Executor executor) {
        this.loop = loop;
        this.source = source;
        descriptor = source.descriptor();
        this.executor = executor;
    }

    /** Returns the object that has the descriptor. */
    Resource descriptor() {
        return descriptor;
    }

    /** Returns the object that failures are reported for. */
    Object source() {
        return source.object();
    }

    /**
     * Starts the registration.
     *
     * @throws IllegalStateException if the object or the loop is closed, or another loop or a thread waits for the
     *     object
     * @throws io.rpma.RpmaException if the kernel refuses to watch the descriptor
     */
    void start() {
        Stack.reserve();
        lock.lock();
        try {
            source.claim(loop);
            try {
                // before the watch is armed: a close of the loop ends the registration, or makes the arming fail
                loop.add(this);
                watch = loop.poller().watch(descriptor, this::ready, executor != null);
                active = true;
            } finally {
                if (!active) {
                    loop.remove(this);
                    source.release();
                }
            }
            int armed = descriptor.beforeClose(closing) ? watch.arm() : Result.CLOSED;
            Call.check(ARM, armed, descriptor, loop.poller().object());
        } finally {
            lock.unlock();
        }
    }

    @Override
    public boolean isActive() {
        return active;
    }

    @Override
    public void cancel() {
        Stack.reserve();
        end();
    }

    /** Ends the registration, for a caller that has reserved the stack, or that runs at the bottom of one. */
    void end() {
        lock.lock();
        try {
            // a registration that never started must not release the claim of another one
            if (active) {
                active = false;
                watch.end();
                descriptor.notBeforeClose(closing);
                source.release();
            }
        } finally {
            lock.unlock();
        }
        loop.remove(this);
        Runnable action = whenEnded.getAndSet(null);
        if (action != null) {
            action.run();
        }
    }

    /**
     * Sets an action for the end of the registration. It replaces the former one.
     *
     * @param action called without a lock; throws nothing
     */
    void whenEnded(Runnable action) {
        whenEnded.set(action);
    }

    /** Removes an action of {@link #whenEnded}. */
    void notWhenEnded(Runnable action) {
        whenEnded.compareAndSet(action, null);
    }

    /**
     * Starts to serve the items. Called when the descriptor is readable, once at the start for items that arrived
     * earlier, and by a check of the other side before it counts as lost.
     */
    void ready() {
        if (active && busy.compareAndSet(false, true)) {
            try {
                if (executor == null) {
                    loop.serveSoon(this);
                } else {
                    submit();
                }
            } catch (Throwable e) {
                fail(e);
            }
        }
    }

    /** Called by the thread of {@link EventLoop#run}. */
    private void submit() {
        try {
            if (loop.isEnding()) {
                // the executor may call the handler in this thread
                loop.executeUnlessClosed(this::submit, 0);
            } else {
                executor.execute(this::serveTurn);
            }
        } catch (Throwable e) {
            fail(e);
        }
    }

    private void serveTurn() {
        try {
            int calls = 0;
            boolean more;
            do {
                more = serve();
                calls++;
            } while (more && calls < CALLS_IN_TURN && !loop.isEnding());
            if (more) {
                // the loop submits the next turn: if this method submitted it to an executor that runs tasks in the
                // calling thread, each turn would add frames to the stack
                loop.executeUnlessClosed(this::submit, 0);
            } else {
                rest();
            }
        } catch (Throwable e) {
            fail(e);
        }
    }

    /**
     * Takes an item and calls the handler with it.
     *
     * @return whether there may be more items
     */
    boolean serve() {
        T taken;
        try {
            taken = takeIfActive();
        } catch (RuntimeException | Error e) {
            takeFailed(e);
            // the other registrations have a turn, and then the descriptor reports the remaining items
            return false;
        }
        if (taken == null) {
            pause = source.isBusy() ? WHILE_BUSY : 0;
            return false;
        }
        try {
            source.call(taken);
        } catch (Throwable e) {
            if (e instanceof InterruptedException) {
                Thread.currentThread().interrupt();
            }
            if (source.survivesCall(taken, e)) {
                loop.failed(source(), e);
            } else {
                fail(e);
            }
        }
        return true;
    }

    private T takeIfActive() {
        lock.lock();
        try {
            return active ? source.take() : null;
        } finally {
            lock.unlock();
        }
    }

    private void takeFailed(Throwable failure) {
        if (source.survives(failure)) {
            pause = source.leavesItem(failure) ? WHILE_STARVED : 0;
            loop.failed(source(), failure);
        } else if (active && !descriptor.isClosed()) {
            // not if the object is closed: its close ends the registration
            fail(failure);
        }
    }

    /**
     * Watches the descriptor again, after a pause if the last take failed and may have left its item in place.
     */
    void rest() {
        if (pause == 0) {
            watchAgain();
            return;
        }
        long length = pause;
        pause = 0;
        try {
            disarm();
            loop.executeUnlessClosed(this::watchAgain, length);
        } catch (OutOfMemoryError e) {
            watchAgain();
        }
    }

    private void disarm() {
        lock.lock();
        try {
            if (active) {
                watch.disarm();
            }
        } finally {
            lock.unlock();
        }
    }

    private void watchAgain() {
        try {
            busy.set(false);
            lock.lock();
            try {
                int armed = active ? watch.arm() : 0;
                // CLOSED is no failure: the close of the loop or of the object ends the registration
                if (armed != Result.CLOSED) {
                    Call.check(ARM, armed, descriptor);
                }
            } finally {
                lock.unlock();
            }
        } catch (Throwable e) {
            fail(e);
        }
    }

    void fail(Throwable failure) {
        end();
        loop.failed(source(), failure);
    }

    @Override
    public String toString() {
        return source() + " served by " + loop;
    }
}
