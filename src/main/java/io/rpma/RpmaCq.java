package io.rpma;

import java.lang.ref.Reference;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A completion queue: tells which operations are done.
 *
 * <p>Safe for use by many threads, each with its own {@link RpmaCompletions}. It belongs to its connection and is closed
 * with it.
 *
 * <p>Manual pages: rpma_cq_get_wc(3), rpma_cq_wait(3).
 */
public final class RpmaCq {
    private static final String WAIT = "rpma_cq_wait";

    private final RpmaConn conn;
    private final Handle wait;
    private final long id;

    /**
     * A waiter re-arms the queue and then polls. Were there a second one, asleep, it would not be woken for completions
     * that the first leaves behind.
     */
    private final ReentrantLock waiting = new ReentrantLock();

    RpmaCq(RpmaConn conn, long id) {
        this.conn = conn;
        this.id = id;
        this.wait = conn.handle().part("RpmaCq", id);
    }

    /**
     * Takes completions without waiting.
     *
     * <p>Allocates nothing.
     *
     * @param completions where to; what it had before is gone
     * @return how many were taken, from 0 to the capacity
     * @throws IllegalStateException if the connection is closed
     * @throws RpmaException if the device fails
     */
    public int poll(RpmaCompletions completions) {
        completions.clear();
        int result = Natives.cqGetWc(id, completions.capacity(), completions.address());
        Reference.reachabilityFence(completions);
        if (result < 0) {
            throw Call.failure("rpma_cq_get_wc", result, conn.handle());
        }
        completions.filled(result);
        return result;
    }

    /**
     * Takes completions, and waits without end for the first one.
     *
     * @param completions where to; what it had before is gone
     * @return how many were taken, from 1 to the capacity
     * @throws InterruptedException if the thread is interrupted while waiting
     * @throws IllegalStateException if the connection is closed, before or while waiting
     * @throws RpmaException if the device fails
     */
    public int await(RpmaCompletions completions) throws InterruptedException {
        waiting.lockInterruptibly();
        try {
            return await(completions, Waiter.FOREVER);
        } finally {
            waiting.unlock();
        }
    }

    /**
     * Takes completions, and waits for the first one if there is none.
     *
     * @param completions where to; what it had before is gone
     * @param timeout how long to wait; 0 does not wait
     * @param unit the unit of {@code timeout}
     * @return how many were taken, from 1 to the capacity; 0 if the time is up
     * @throws InterruptedException if the thread is interrupted while waiting
     * @throws IllegalStateException if the connection is closed, before or while waiting
     * @throws RpmaException if the device fails
     */
    public int await(RpmaCompletions completions, long timeout, TimeUnit unit) throws InterruptedException {
        long nanos = Waiter.nanos(timeout, unit);
        long start = System.nanoTime();
        if (!waiting.tryLock(nanos, TimeUnit.NANOSECONDS)) {
            return poll(completions);
        }
        try {
            return await(completions, Waiter.left(nanos, start));
        } finally {
            waiting.unlock();
        }
    }

    private int await(RpmaCompletions completions, long nanos) throws InterruptedException {
        int taken = poll(completions);
        long start = System.nanoTime();
        while (taken == 0 && Waiter.await(WAIT, wait, Waiter.left(nanos, start))) {
            int result = Natives.cqWait(id);
            if (result != RpmaError.NO_COMPLETION.code()) {
                Call.check(WAIT, result, wait);
            }
            taken = poll(completions);
        }
        return taken;
    }

    @Override
    public String toString() {
        return "RpmaCq of " + conn;
    }
}
