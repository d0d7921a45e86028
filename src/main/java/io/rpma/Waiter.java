package io.rpma;

import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.spi.AbstractSelectableChannel;
import java.nio.channels.spi.AbstractSelector;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.TimeUnit;

/**
 * A blocked thread: woken by what it waits for, by the close of the object, by its interruption or by the clock.
 *
 * <p>It is a selector only because {@link AbstractSelector#begin()} is the one supported way to be told of
 * {@link Thread#interrupt()} while inside a native. It never selects anything.
 */
final class Waiter extends AbstractSelector {
    /** A timeout that never ends. */
    static final long FOREVER = -1;

    private static final int TIMED_OUT = 0;
    private static final int READY = 1;

    /** Waiters own a descriptor each, so they are used again and again. */
    private static final ConcurrentLinkedDeque<Waiter> IDLE = new ConcurrentLinkedDeque<>();

    private final int fd;

    /** Set by the thread that interrupts; not after {@link #end()}. */
    private volatile boolean woken;

    private Waiter(int fd) {
        super(null);
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
     * @throws IllegalStateException if the object is closed before or meanwhile
     */
    static boolean await(String operation, Handle handle, long nanos) throws InterruptedException {
        long start = System.nanoTime();
        while (true) {
            if (Thread.interrupted()) {
                throw new InterruptedException(operation + " on " + handle);
            }
            int outcome = awaitOnce(handle.id(), left(nanos, start));
            if (outcome == READY || outcome == TIMED_OUT) {
                return outcome == READY;
            }
            Call.check(operation, outcome, handle);
        }
    }

    private static int awaitOnce(long id, long nanos) {
        Waiter idle = IDLE.pollFirst();
        Waiter waiter = idle != null ? idle : create();
        try {
            waiter.begin();
            return Natives.await(id, waiter.fd, nanos);
        } finally {
            waiter.end();
            waiter.reset();
            IDLE.addFirst(waiter);
        }
    }

    private static Waiter create() {
        int fd = Natives.wakerNew();
        if (fd < 0) {
            throw new IllegalStateException(
                    "can't create an eventfd for a wait: " + Errno.message(-fd) + "; see ulimit -n");
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
    public Selector wakeup() {
        woken = true;
        Natives.wakerWake(fd);
        return this;
    }

    @Override
    protected void implCloseSelector() {
        throw unsupported();
    }

    @Override
    protected SelectionKey register(AbstractSelectableChannel channel, int operations, Object attachment) {
        throw unsupported();
    }

    @Override
    public Set<SelectionKey> keys() {
        throw unsupported();
    }

    @Override
    public Set<SelectionKey> selectedKeys() {
        throw unsupported();
    }

    @Override
    public int selectNow() {
        throw unsupported();
    }

    @Override
    public int select(long timeout) {
        throw unsupported();
    }

    @Override
    public int select() {
        throw unsupported();
    }

    private static UnsupportedOperationException unsupported() {
        return new UnsupportedOperationException("a waiter selects nothing");
    }
}
