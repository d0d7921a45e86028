// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.internal;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaEventLoop;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;

/**
 * The probes of one connection. A check in an event loop posts them, and all completions of the queue pass through this
 * object, which takes out the completions of probes.
 *
 * <p>The object stays for the life of the connection: a probe can complete after its check has ended.
 */
public abstract class PeerProbe {
    /** The result of the completions since the last check of the loop. */
    private enum Sign {
        NONE,
        ALIVE,
        /** There was no completion within the limit. The next poll that finds the queue empty changes this to SILENT. */
        OVERDUE,
        /** A completion that another poll has taken can still change this to ALIVE. */
        SILENT,
        FAILED
    }

    private final Access access = Access.get();
    private final NativeObject queue;

    /**
     * The context of the probes. It is random, because the program may use all 64 bits of its contexts: no number can be
     * reserved, and the program can't use this one by accident.
     */
    private final long context = ThreadLocalRandom.current().nextLong();

    private final AtomicBoolean outstanding = new AtomicBoolean();
    private final AtomicReference<Sign> sign = new AtomicReference<>(Sign.NONE);
    private volatile RpmaEventLoop.Registration check;

    /**
     * @param queue the completion queue, which has the descriptor for an event loop
     */
    protected PeerProbe(NativeObject queue) {
        this.queue = queue;
    }

    /** {@return the completion queue} */
    public final NativeObject queue() {
        return queue;
    }

    /** Makes all polls and waits of the queue pass their completions through this object. */
    protected abstract void attach();

    /**
     * Posts a write of 0 bytes that requests a completion.
     *
     * @param opContext the context of the write
     * @return whether the write is posted; false if the send queue is full
     */
    protected abstract boolean post(long opContext);

    /**
     * Polls the queue.
     *
     * @param completions the array to fill
     * @return the number of completions
     */
    protected abstract int take(RpmaCompletions completions);

    /**
     * Polls the queue, and takes out the completion of a probe.
     *
     * @param completions the array to fill
     * @return the number of completions; 0 only if the queue is empty
     */
    public final int poll(RpmaCompletions completions) {
        // before the poll: an answer can arrive between an earlier poll and the end of the limit
        boolean overdue = sign.get() == Sign.OVERDUE;
        while (take(completions) > 0) {
            int left = filter(completions);
            if (left > 0) {
                return left;
            }
        }
        if (overdue) {
            sign.compareAndSet(Sign.OVERDUE, Sign.SILENT);
        }
        return 0;
    }

    /**
     * Completes a poll that began before this object was attached. The poll can have taken the completion of the first probe.
     *
     * @param completions the completions, at least one
     * @return as {@link #poll}
     */
    public final int endPoll(RpmaCompletions completions) {
        int left = filter(completions);
        return left > 0 ? left : poll(completions);
    }

    /**
     * Takes the completion of a probe out of the completions.
     *
     * @param completions the completions, at least one
     * @return the number of completions that are left
     */
    public final int filter(RpmaCompletions completions) {
        int last = completions.count() - 1;
        // after a failure all operations fail, so the last status is the current one
        if (completions.isSuccess(last)) {
            alive();
        }
        for (int i = 0; outstanding.get() && i <= last; i++) {
            if (completions.wrId(i) == context) {
                boolean failed = !completions.isSuccess(i);
                access.remove(completions, i);
                outstanding.set(false);
                if (failed) {
                    sign.set(Sign.FAILED);
                }
                break;
            }
        }
        return completions.count();
    }

    private void alive() {
        Sign before = sign.get();
        // most completions find the sign of an earlier one
        while (before != Sign.ALIVE && before != Sign.FAILED && !sign.compareAndSet(before, Sign.ALIVE)) {
            before = sign.get();
        }
    }

    /**
     * Begins a check, and attaches this object.
     *
     * @param begun the check
     * @throws IllegalStateException if another check is active
     */
    public final synchronized void begin(RpmaEventLoop.Registration begun) {
        if (check != null && check.isActive()) {
            throw new IllegalStateException(queue + " is checked by " + check);
        }
        sign.set(Sign.ALIVE);
        check = begun;
        attach();
    }

    /** Ends the check, if there is one. */
    public final void end() {
        RpmaEventLoop.Registration ended = check;
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
        if (!outstanding.compareAndSet(false, true)) {
            return false;
        }
        boolean posted = false;
        try {
            posted = post(context);
        } finally {
            if (!posted) {
                outstanding.set(false);
            }
        }
        return posted;
    }
}
