package io.rpma;

import io.rpma.internal.Internals;
import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A blocked thread: woken by what it waits for, by the close of the object, by its interruption or by the clock.
 *
 * <p>Virtual threads are not blocked but parked: see {@link VirtualWaits}.
 */
final class Waiter extends Interruptible {
    /** A timeout that never ends. */
    static final long FOREVER = -1;

    // of a wait; besides them it may end with Natives.CLOSED or an error
    static final int TIMED_OUT = 0;
    static final int READY = 1;
    static final int WOKEN = -4;

    /** Waiters own a descriptor each, so they are used again and again. Guards itself. */
    private static final ArrayDeque<Waiter> IDLE = new ArrayDeque<>();

    /** The one that is taken first: where one thread waits at a time this costs less than a lock. */
    private static final AtomicReference<Waiter> SPARE = new AtomicReference<>();

    private final int fd;

    /** Set by the thread that interrupts, which may be late: then the next wait is woken for nothing, and goes on. */
    private volatile boolean woken;

    private Waiter(int fd) {
        this.fd = fd;
    }

    /** A timeout in nanoseconds, checked. */
    static long nanos(long timeout, TimeUnit unit) {
        if (timeout < 0) {
            throw new IllegalArgumentException("timeout must not be negative: " + timeout);
        }
        return unit.toNanos(timeout);
    }

    /** What is left of a timeout that started at {@code start} ({@link System#nanoTime()}). */
    static long left(long nanos, long start) {
        return nanos == FOREVER ? FOREVER : Math.max(0, nanos - (System.nanoTime() - start));
    }

    /**
     * Waits until the object's descriptor has something to read.
     *
     * @return false if the time is up
     * @throws InterruptedException if the thread is interrupted before or meanwhile
     * @throws IllegalStateException if the object is closed before or meanwhile, or served by an event loop
     */
    static boolean await(String operation, Handle handle, long nanos) throws InterruptedException {
        handle.checkUnserved(operation);
        long start = System.nanoTime();
        while (true) {
            if (Thread.interrupted()) {
                throw new InterruptedException(operation + " on " + handle);
            }
            int outcome = awaitOnce(handle, left(nanos, start));
            if (outcome == READY || outcome == TIMED_OUT) {
                return outcome == READY;
            }
            if (outcome != WOKEN) {
                throw Call.failure(operation, outcome, handle);
            }
        }
    }

    /**
     * Has a native of another facade block, and again when it is woken without an interruption. The waits of {@code io.rpma}
     * make no object for that: each class would be loaded before a program's first write.
     *
     * @return what the native returned, no error
     * @throws InterruptedException if the thread is interrupted before or meanwhile
     */
    static int block(String operation, Handle handle, long nanos, Internals.Blocking blocking)
            throws InterruptedException {
        long start = nanos == FOREVER ? 0 : System.nanoTime();
        int outcome = WOKEN;
        while (outcome == WOKEN) {
            if (Thread.interrupted()) {
                throw new InterruptedException(operation + " on " + handle);
            }
            outcome = blockOnce(blocking, left(nanos, start));
        }
        if (outcome < 0) {
            throw Call.failure(operation, outcome, handle);
        }
        return outcome;
    }

    private static int blockOnce(Internals.Blocking blocking, long nanos) {
        Waiter waiter = take();
        try {
            return blocking.block(waiter.begun(), nanos);
        } finally {
            waiter.giveBack();
        }
    }

    private static int awaitOnce(Handle handle, long nanos) {
        // what does not wait holds up no other virtual thread either
        return nanos != 0 && isVirtual() ? VirtualWaits.await(handle, nanos) : block(handle.id(), nanos);
    }

    /** Returns whether the current thread is a virtual one. */
    static boolean isVirtual() {
        Thread thread = Thread.currentThread();
        // the class of virtual threads is another one; most programs wait in no thread that has to be asked
        return thread.getClass() != Thread.class && VirtualWaits.isVirtual(thread);
    }

    private static int block(long id, long nanos) {
        Waiter waiter = take();
        try {
            return Natives.await(id, waiter.begun(), nanos);
        } finally {
            waiter.giveBack();
        }
    }

    /** A waiter for the current thread, to be given back. */
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

    /** The descriptor of an eventfd that tells the native which blocks now of the thread's interruption. */
    int begun() {
        begin();
        return fd;
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
        int fd = Natives.wakerNew();
        if (fd < 0) {
            throw Call.failure("eventfd", Call.ERRNO + fd);
        }
        return new Waiter(fd);
    }

    /** Nearly no wait is interrupted, and the others save a system call. */
    private void reset() {
        if (woken) {
            woken = false;
            Natives.wakerReset(fd);
        }
    }

    @Override
    void wake() {
        Natives.wakerWake(fd);
        // after it: reset() may come in between, because JDK 23 and later wake late, and would leave a count for ever
        woken = true;
    }
}
