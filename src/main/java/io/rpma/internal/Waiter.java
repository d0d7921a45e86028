package io.rpma.internal;

import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A blocked thread: woken by what it waits for, by the close of the object, by its interruption or by the clock.
 *
 * <p>Virtual threads are not blocked but parked: see {@link VirtualWaits}.
 */
public final class Waiter extends Interruptible {
    /** The timeout, in nanoseconds, of a wait that has none. */
    public static final long FOREVER = Long.MAX_VALUE;

    /** Waiters own a descriptor each, so they are used again and again. Guards itself. */
    private static final ArrayDeque<Waiter> IDLE = new ArrayDeque<>();

    /** The one that is taken first: where one thread waits at a time this costs less than a lock. */
    private static final AtomicReference<Waiter> SPARE = new AtomicReference<>();

    /** An eventfd, set when the Java object exists: without that nothing would close it. */
    private int fd;

    /** Set by the thread that interrupts, which may be late: then the next wait is woken for nothing, and goes on. */
    private volatile boolean woken;

    private Waiter() {}

    /**
     * {@return a timeout in nanoseconds}
     *
     * @param timeout of the user
     * @param unit of {@code timeout}
     * @throws IllegalArgumentException if it is negative
     */
    public static long nanos(long timeout, TimeUnit unit) {
        if (timeout < 0) {
            throw new IllegalArgumentException("timeout must not be negative: " + timeout);
        }
        return unit.toNanos(timeout);
    }

    /**
     * {@return when a timeout starts, for {@link #left}}
     *
     * @param nanos the timeout, or {@link #FOREVER}
     */
    public static long start(long nanos) {
        return nanos == FOREVER ? 0 : System.nanoTime();
    }

    /**
     * {@return what is left of a timeout}
     *
     * @param nanos the timeout, or {@link #FOREVER}
     * @param start of it, by {@link #start}
     */
    public static long left(long nanos, long start) {
        return nanos == FOREVER ? FOREVER : Math.max(0, nanos - (System.nanoTime() - start));
    }

    /**
     * Waits until the object's descriptor has something to read.
     *
     * @param operation the C function, for messages
     * @param object has the descriptor
     * @param nanos the timeout, or {@link #FOREVER}
     * @return false if the wait has timed out
     * @throws InterruptedException if the thread is interrupted before or meanwhile
     * @throws IllegalStateException if the object is closed before or meanwhile, or served by an event loop
     */
    public static boolean await(String operation, NativeObject object, long nanos) throws InterruptedException {
        object.checkUnclaimed(operation);
        long start = start(nanos);
        while (true) {
            if (Thread.interrupted()) {
                throw new InterruptedException(operation + " on " + object);
            }
            int outcome = awaitOnce(operation, object, left(nanos, start));
            if (outcome != Result.WOKEN) {
                return outcome == Result.READY;
            }
        }
    }

    private static int awaitOnce(String operation, NativeObject object, long nanos) {
        // what does not wait holds up no other virtual thread either
        return nanos != 0 && isVirtual()
                ? VirtualWaits.await(operation, object, nanos)
                : block(operation, object, nanos);
    }

    /** Returns whether the current thread is a virtual one. */
    static boolean isVirtual() {
        Thread thread = Thread.currentThread();
        // the class of virtual threads is another one; most programs wait in no thread that has to be asked
        return thread.getClass() != Thread.class && VirtualWaits.isVirtual(thread);
    }

    private static int block(String operation, NativeObject object, long nanos) {
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
        Waiter waiter = new Waiter();
        waiter.fd = Natives.wakerNew();
        if (waiter.fd < 0) {
            throw Call.failure("eventfd", Result.ERRNO + waiter.fd);
        }
        return waiter;
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
