// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.internal;

import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Blocks a thread until an object is ready or closed, the thread is interrupted, or the timeout has passed.
 *
 * <p>Virtual threads park instead of blocking: see {@link VirtualWaits}.
 */
public final class Waiter extends Interruptible {
    /** The number of nanoseconds that stands for no timeout. */
    public static final long FOREVER = Long.MAX_VALUE;

    /** Idle waiters, which are reused because each has a file descriptor. Guarded by its own monitor. */
    private static final ArrayDeque<Waiter> IDLE = new ArrayDeque<>();

    /** An idle waiter, taken before the waiters of {@link #IDLE}. A single waiting thread avoids the monitor. */
    private static final AtomicReference<Waiter> SPARE = new AtomicReference<>();

    private final Eventfd eventfd = new Eventfd();

    /**
     * Set by the interrupting thread. If set late, the next wait of this waiter ends as woken, and its caller waits
     * again.
     */
    private volatile boolean woken;

    /**
     * The descriptor. It is created after the Java objects: otherwise, a failure to create an object would leak the
     * descriptor.
     */
    private static final class Eventfd implements Runnable {
        private int fd = -1;

        @Override
        public void run() {
            if (fd >= 0) {
                Natives.memoryClose(fd);
            }
        }
    }

    static {
        // a process without free descriptors can't load the class during its first wait
        new Eventfd().run();
    }

    private Waiter() {}

    /**
     * {@return a timeout in nanoseconds}
     *
     * @param timeout the timeout of the user
     * @param unit the unit of {@code timeout}
     * @throws IllegalArgumentException if the timeout is negative
     */
    public static long nanos(long timeout, TimeUnit unit) {
        if (timeout < 0) {
            throw new IllegalArgumentException("timeout must not be negative: " + timeout);
        }
        return unit.toNanos(timeout);
    }

    /**
     * {@return the start of a timeout, for {@link #left}}
     *
     * @param nanos the timeout, or {@link #FOREVER}
     */
    public static long start(long nanos) {
        return nanos == FOREVER ? 0 : System.nanoTime();
    }

    /**
     * {@return the remaining time of a timeout}
     *
     * @param nanos the timeout, or {@link #FOREVER}
     * @param start the result of {@link #start}
     */
    public static long left(long nanos, long start) {
        return nanos == FOREVER ? FOREVER : Math.max(0, nanos - (System.nanoTime() - start));
    }

    /**
     * Waits until the descriptor of the object is readable.
     *
     * @param operation the C function, for messages
     * @param object the object with the descriptor
     * @param nanos the timeout, or {@link #FOREVER}
     * @return false if the wait times out
     * @throws InterruptedException if the thread is interrupted before or during the wait
     * @throws IllegalStateException if the object is closed before or during the wait, or if an event loop serves it
     */
    public static boolean await(String operation, Resource object, long nanos) throws InterruptedException {
        FlightEvents.Wait event = FlightEvents.waitBegins();
        try {
            return awaitReady(operation, object, null, nanos);
        } finally {
            FlightEvents.waitEnds(event, operation, object);
        }
    }

    /**
     * Waits as {@link #await}, for a caller that records the wait for Flight Recorder itself. In a virtual thread, an
     * event of a connection ends the wait as well, unless {@code events} is null.
     */
    static boolean awaitReady(String operation, Resource object, ConnectionEvents<?> events, long nanos)
            throws InterruptedException {
        object.checkUnclaimed(operation);
        long start = start(nanos);
        while (true) {
            if (Thread.interrupted()) {
                throw new InterruptedException(operation + " on " + object);
            }
            int outcome = awaitOnce(operation, object, events, left(nanos, start));
            if (outcome != Result.WOKEN) {
                return outcome == Result.READY;
            }
        }
    }

    private static int awaitOnce(String operation, Resource object, ConnectionEvents<?> events, long nanos) {
        // with a timeout of 0, the native method does not block, so a virtual thread need not park
        return nanos != 0 && isVirtual()
                ? VirtualWaits.await(operation, object, events, nanos)
                : block(operation, object, nanos);
    }

    /** Returns whether the current thread is virtual. */
    static boolean isVirtual() {
        Thread thread = Thread.currentThread();
        // virtual threads have a class of their own: the comparison avoids the call of isVirtual() for most threads
        return thread.getClass() != Thread.class && VirtualWaits.isVirtual(thread);
    }

    private static int block(String operation, Resource object, long nanos) {
        Waiter waiter = take();
        try {
            int outcome = Natives.await(object.handle(), waiter.begun(), nanos);
            if (outcome < 0 && outcome != Result.WOKEN) {
                throw Call.failure(operation, outcome, object);
            }
            return outcome;
        } finally {
            waiter.giveBack();
        }
    }

    /** Returns a waiter for the current thread, which gives it back with {@link #giveBack}. */
    static Waiter take() {
        Waiter spare = SPARE.getAndSet(null);
        return spare != null ? spare : takeIdle();
    }

    private static Waiter takeIdle() {
        Waiter idle;
        synchronized (IDLE) {
            idle = IDLE.poll();
        }
        return idle != null ? idle : create();
    }

    /** Begins a wait, and returns the eventfd that ends the native method when the thread is interrupted. */
    int begun() {
        begin();
        return eventfd.fd;
    }

    void giveBack() {
        end();
        reset();
        if (!SPARE.compareAndSet(null, this)) {
            synchronized (IDLE) {
                IDLE.push(this);
            }
        }
    }

    private static Waiter create() {
        Waiter waiter = new Waiter();
        // for a waiter that is lost, because the stack of a wait has ended in giveBack()
        Resource.CLEANER.started().register(waiter, waiter.eventfd);
        int fd = Natives.wakerNew();
        if (fd < 0) {
            throw Call.failure("eventfd", fd);
        }
        waiter.eventfd.fd = fd;
        return waiter;
    }

    /**
     * Clears the eventfd after an interruption. Few waits are interrupted: the flag saves all others the system call.
     */
    private void reset() {
        if (woken) {
            woken = false;
            Natives.wakerReset(eventfd.fd);
        }
    }

    @Override
    void wake() {
        Natives.wakerWake(eventfd.fd);
        // set after the wake-up, because JDK 23 and later can call this method late, while reset() runs: in the
        // other order, reset() could clear the flag before the wake-up, and the count would stay in the eventfd
        woken = true;
    }
}
