// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.internal;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

/**
 * The waits of virtual threads. A waiting virtual thread parks, so that its carrier can run other virtual threads. One
 * thread of the JVM watches the objects of all waits.
 */
final class VirtualWaits {
    private static final MethodHandle IS_VIRTUAL = findIsVirtual();

    private static final AtomicReference<Poller> POLLER = new AtomicReference<>();

    /**
     * The waits of each object. The monitor of this map guards the map and the waits. A monitor is safe, because no
     * thread parks while it holds the monitor. A lock could be handed over to a virtual thread that has no carrier,
     * while the threads that wait for the lock occupy all carriers.
     */
    private static final Map<Resource, Awaited> AWAITED = new HashMap<>();

    private VirtualWaits() {}

    /** Finds Thread.isVirtual(), which JDK 17 lacks. */
    private static MethodHandle findIsVirtual() {
        try {
            return MethodHandles.publicLookup()
                    .findVirtual(Thread.class, "isVirtual", MethodType.methodType(boolean.class));
        } catch (NoSuchMethodException e) {
            return MethodHandles.dropArguments(MethodHandles.constant(boolean.class, false), 0, Thread.class);
        } catch (IllegalAccessException e) {
            throw new AssertionError(e);
        }
    }

    static boolean isVirtual(Thread thread) {
        try {
            return (boolean) IS_VIRTUAL.invokeExact(thread);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /**
     * Parks the current thread until the descriptor of the object is readable.
     *
     * @param operation the C function, for messages
     * @param object the object with the descriptor
     * @param events the events of a connection, which end the wait as the object does, or null
     * @param nanos the timeout, or {@link Waiter#FOREVER}
     * @return {@link Result#READY}, {@link Result#TIMED_OUT}, or {@link Result#WOKEN} if the thread is interrupted
     * @throws IllegalStateException if the object is closed before or during the wait
     * @throws io.rpma.RpmaException if the kernel refuses to watch the descriptor
     */
    static int await(String operation, Resource object, ConnectionEvents<?> events, long nanos) {
        Stack.reserve();
        Parked parked = new Parked();
        int outcome = begin(poller(), object, parked);
        if (outcome == 0) {
            try {
                outcome = events == null ? park(parked, nanos) : parkWatching(events, parked, nanos);
            } finally {
                end(object, parked);
            }
        }
        if (outcome == Result.CLOSED) {
            throw Call.failure(operation, outcome, object);
        }
        return outcome;
    }

    /** The thread has begun its wait, so that another thread that takes an event from now on finds and wakes it. */
    private static int parkWatching(ConnectionEvents<?> events, Parked parked, long nanos) {
        if (events.hasEnded()) {
            return Result.READY;
        }
        Resource watched = events.watched();
        if (watched == null) {
            return park(parked, nanos);
        }
        try {
            int begun = begin(poller(), watched, parked);
            return begun == 0 ? park(parked, nanos) : begun;
        } finally {
            end(watched, parked);
        }
    }

    private static int park(Parked parked, long nanos) {
        long start = Waiter.start(nanos);
        long left = nanos;
        while (parked.outcome == Result.TIMED_OUT && left != 0) {
            if (Thread.currentThread().isInterrupted()) {
                return Result.WOKEN;
            }
            parked.park(left);
            left = Waiter.left(nanos, start);
        }
        return parked.outcome;
    }

    /** Ends the waits for the object, as if it were ready. */
    static void wake(Resource object) {
        synchronized (AWAITED) {
            Awaited awaited = AWAITED.get(object);
            if (awaited != null) {
                awaited.unparkAll(Result.READY);
            }
        }
    }

    /** Returns 0 or {@link Result#CLOSED}. */
    private static int begin(Poller poller, Resource object, Parked parked) {
        synchronized (AWAITED) {
            Awaited awaited = AWAITED.get(object);
            if (awaited == null) {
                awaited = new Awaited(poller, object);
                int begun = awaited.begin();
                if (begun < 0) {
                    return begun;
                }
            }
            awaited.parked.add(parked);
            return 0;
        }
    }

    private static void end(Resource object, Parked parked) {
        synchronized (AWAITED) {
            Awaited awaited = AWAITED.get(object);
            if (awaited != null && awaited.parked.remove(parked) && awaited.parked.isEmpty()) {
                awaited.end();
            }
        }
    }

    /** A waiting thread. */
    private static final class Parked {
        private final Thread thread = Thread.currentThread();
        private volatile int outcome = Result.TIMED_OUT;

        void park(long nanos) {
            if (nanos == Waiter.FOREVER) {
                LockSupport.park(this);
            } else {
                LockSupport.parkNanos(this, nanos);
            }
        }

        void unpark(int why) {
            outcome = why;
            LockSupport.unpark(thread);
        }
    }

    /** An object with waiting threads. */
    private static final class Awaited {
        private final Resource object;
        private final List<Parked> parked = new ArrayList<>();
        private final Runnable closing = () -> unparkAll(Result.CLOSED);
        private final Poller.Watch watch;

        Awaited(Poller poller, Resource object) {
            this.object = object;
            watch = poller.watch(object, () -> unparkAll(Result.READY), true);
        }

        /**
         * Returns 0 or {@link Result#CLOSED}.
         *
         * @throws io.rpma.RpmaException if the kernel refuses to watch the descriptor
         */
        int begin() {
            AWAITED.put(object, this);
            int begun = Result.CLOSED;
            try {
                if (object.beforeClose(closing)) {
                    begun = watch.arm();
                    if (begun < 0 && begun != Result.CLOSED) {
                        throw Call.failure("epoll_ctl", begun, object);
                    }
                }
                return begun;
            } finally {
                if (begun < 0) {
                    end();
                }
            }
        }

        void end() {
            AWAITED.remove(object, this);
            object.notBeforeClose(closing);
            watch.end();
        }

        private void unparkAll(int why) {
            Throwable failure = null;
            synchronized (AWAITED) {
                // otherwise all threads of this Awaited have left; the map then has no Awaited for the object, or a
                // newer one
                if (AWAITED.get(object) == this) {
                    for (int i = 0; i < parked.size(); i++) {
                        try {
                            parked.get(i).unpark(why);
                        } catch (RuntimeException | Error e) {
                            // the scheduler of the thread can lack memory or threads: continue with the other threads
                            failure = e;
                        }
                    }
                    end();
                }
            }
            if (failure != null) {
                Log.reportUncaught(failure);
            }
        }
    }

    /** Returns the poller, which the first wait creates. */
    private static Poller poller() {
        if (POLLER.get() == null) {
            Poller created = new Poller("VirtualWaits").open();
            boolean wanted = false;
            try {
                Daemon.start("rpma virtual waits", () -> pollUntilClosed(created));
                wanted = POLLER.compareAndSet(null, created);
            } finally {
                if (!wanted) {
                    created.close();
                }
            }
        }
        return POLLER.get();
    }

    private static void pollUntilClosed(Poller created) {
        while (!created.object().isClosed()) {
            // a pending interruption would end each poll at once
            Thread.interrupted();
            try {
                created.poll(Waiter.FOREVER);
            } catch (Throwable e) {
                // out of memory
                Log.reportUncaught(e);
            }
        }
    }
}
