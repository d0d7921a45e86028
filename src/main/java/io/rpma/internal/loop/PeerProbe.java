// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.internal.loop;

import io.rpma.internal.Resource;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

/**
 * The probes of one connection. A check in an event loop posts them, and the loop, which serves the completions, takes
 * those of the probes out.
 *
 * <p>The object stays for the life of the connection: a probe can complete after its check has ended.
 */
public abstract class PeerProbe {
    /** The result of the completions since the last check of the loop. */
    private enum Sign {
        NONE,
        ALIVE,
        /**
         * There was no completion within the limit. The next poll that finds the queue empty changes this to SILENT.
         */
        OVERDUE,
        SILENT,
        FAILED
    }

    private final Resource queue;

    /**
     * The context of the probes. It is random, because the program may use all 64 bits of its contexts: no number can
     * be reserved, and the program can't use this one by accident.
     */
    private final long context = ThreadLocalRandom.current().nextLong();

    /** Whether the probe of the current check is under way. */
    private final AtomicBoolean posted = new AtomicBoolean();

    /** The number of probes under way, also of earlier checks. */
    private final AtomicInteger outstanding = new AtomicInteger();

    private final AtomicReference<Sign> sign = new AtomicReference<>(Sign.NONE);
    private volatile Entry check;

    /**
     * @param queue the completion queue, which has the descriptor for an event loop
     */
    protected PeerProbe(Resource queue) {
        this.queue = queue;
    }

    /** {@return the completion queue} */
    public final Resource queue() {
        return queue;
    }

    /**
     * Posts a write of 0 bytes that requests a completion.
     *
     * @param opContext the context of the write
     * @return whether the write is posted; false if the send queue is full
     */
    protected abstract boolean post(long opContext);

    /** {@return the context of the probes} */
    public final long context() {
        return context;
    }

    /** Records that an operation has completed. */
    public final void alive() {
        Sign before = sign.get();
        // most completions find the sign of an earlier one
        while (before != Sign.ALIVE && before != Sign.FAILED && !sign.compareAndSet(before, Sign.ALIVE)) {
            before = sign.get();
        }
    }

    /**
     * Records the completion of the probe.
     *
     * @param success whether the write has succeeded
     */
    public final void answered(boolean success) {
        outstanding.decrementAndGet();
        posted.set(false);
        if (!success) {
            sign.set(Sign.FAILED);
        }
    }

    /** {@return whether a probe is under way} */
    public final boolean isOutstanding() {
        return outstanding.get() > 0;
    }

    /**
     * {@return whether the limit has passed; asked before a poll, because an answer can arrive between an earlier poll and the limit}
     */
    final boolean isOverdue() {
        return sign.get() == Sign.OVERDUE;
    }

    /** Records that a poll after the limit has found the queue empty. */
    final void silent() {
        sign.compareAndSet(Sign.OVERDUE, Sign.SILENT);
    }

    /**
     * Begins a check.
     *
     * @param begun the check
     * @throws IllegalStateException if another check is active
     */
    public final synchronized void begin(Entry begun) {
        if (check != null && check.isActive()) {
            throw new IllegalStateException(queue + " is checked by " + check);
        }
        sign.set(Sign.ALIVE);
        // the program can have taken the completion of an earlier check's probe
        posted.set(false);
        check = begun;
    }

    /** Ends the check, if there is one. */
    public final void end() {
        Entry ended = check;
        if (ended != null) {
            ended.cancel();
        }
    }

    /** {@return whether an operation has completed since the last call} */
    public final boolean takeSign() {
        return sign.compareAndSet(Sign.ALIVE, Sign.NONE);
    }

    /** Makes the next poll find out whether the queue is empty. */
    public final void limitReached() {
        sign.compareAndSet(Sign.NONE, Sign.OVERDUE);
    }

    /** {@return whether a probe has failed, or a poll after the limit has found the queue empty} */
    public final boolean isLost() {
        Sign last = sign.get();
        return last == Sign.SILENT || last == Sign.FAILED;
    }

    /**
     * Posts a probe, if the previous one has completed and the send queue has room.
     *
     * @return whether this call has posted a probe
     */
    public final boolean post() {
        if (!posted.compareAndSet(false, true)) {
            return false;
        }
        outstanding.incrementAndGet();
        boolean success = false;
        try {
            success = post(context);
        } finally {
            if (!success) {
                outstanding.decrementAndGet();
                posted.set(false);
            }
        }
        return success;
    }
}
