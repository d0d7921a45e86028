// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import io.rpma.internal.Call;
import io.rpma.internal.CompletionWait;
import io.rpma.internal.Natives;
import io.rpma.internal.Resource;
import io.rpma.internal.Result;
import java.lang.ref.Reference;

/** A completion channel, which wakes the threads that wait for its completion queues. */
final class RpmaCompletionWait extends CompletionWait<RpmaCompletions, RpmaCq> {
    /** Whether the owner is a connection, and not the queue itself. */
    private final boolean shared;

    private final RpmaCq cq;

    /** Null if there is only one queue. */
    private RpmaCq rcq;

    /** Whether the second queue is polled first. The queues take turns, so that neither starves. */
    private volatile boolean rcqFirst;

    /**
     * @param owner the connection whose queues share the channel, or the only queue of the channel
     * @param shared whether the owner is a connection
     * @param rcq the second queue, or null
     */
    RpmaCompletionWait(String operation, Resource owner, boolean shared, RpmaCq cq, RpmaCq rcq) {
        super(operation, owner, cq.object());
        this.shared = shared;
        this.cq = cq;
        this.rcq = rcq;
    }

    /** Records that there is no second queue. */
    void hasOneQueue() {
        rcq = null;
    }

    /**
     * Returns the failure of a wait for a queue without a channel of its own, or for a connection without a shared one.
     *
     * @param conn the connection, or 0
     */
    static RuntimeException refusal(String operation, Resource owner, long conn, Resource cq) {
        return Call.failure(operation, Natives.cqAwait(conn, cq.handle(), 0, false, false, 0, 0, 0, NO_FD, 0), owner);
    }

    @Override
    public RpmaCq poll(RpmaCompletions completions) {
        if (rcq == null) {
            return cq.poll(completions) == 0 ? null : cq;
        }
        int result = cqAwait(completions, true, 0, NO_FD, 0);
        if (result < 0) {
            throw Call.failure("rpma_cq_get_wc", result, owner);
        }
        return result == 0 ? null : taken(completions, result);
    }

    private void takeTurns(RpmaCq served) {
        if (rcq != null) {
            rcqFirst = served == cq;
        }
    }

    /**
     * librpma arms each queue at its creation, and arms a queue again when it takes an event of the queue from the
     * channel. A call that can't block must take the event, because the program may watch the channel itself.
     */
    @Override
    protected int take(RpmaCompletions completions, boolean solicitedOnly, long events, int wakeFd, long nanos) {
        return cqAwait(completions, nanos != 0, events, wakeFd, nanos);
    }

    private int cqAwait(RpmaCompletions completions, boolean armed, long events, int wakeFd, long nanos) {
        try {
            return Natives.cqAwait(
                    shared ? owner.handle() : 0,
                    cq.object().handle(),
                    rcq == null ? 0 : rcq.object().handle(),
                    rcqFirst,
                    armed,
                    completions.capacity(),
                    completions.address(),
                    events,
                    wakeFd,
                    nanos);
        } finally {
            Reference.reachabilityFence(completions);
        }
    }

    @Override
    protected RpmaCq taken(RpmaCompletions completions, int result) {
        RpmaCq from = (result & Result.SECOND_QUEUE) == 0 ? cq : rcq;
        takeTurns(from);
        completions.filled(result & ~Result.SECOND_QUEUE);
        return from;
    }
}
