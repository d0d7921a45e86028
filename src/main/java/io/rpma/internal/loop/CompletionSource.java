// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.internal.loop;

import io.rpma.internal.Resource;

/**
 * Takes completions. Those of the probes of a {@link PeerCheck} do not reach the program.
 *
 * @param <Q> the facade of the queue
 */
public abstract class CompletionSource<Q> extends Source<Q> {
    /**
     * @param object the object of the program that failures are reported for
     * @param descriptor the object that has the descriptor
     */
    protected CompletionSource(Object object, Resource descriptor) {
        super(object, descriptor);
    }

    /**
     * Takes completions, or arms the queue if there are none.
     *
     * @return the queue, or null if there are none
     */
    protected abstract Q takeNext();

    /** {@return the probes of the connection, or null if it was never checked} */
    protected abstract PeerProbe probe();

    /**
     * Takes the completion of a probe out of the completions.
     *
     * @param from their queue
     * @param probe the probes
     * @return whether completions are left
     */
    protected abstract boolean removeProbe(Q from, PeerProbe probe);

    @Override
    public final Q take() {
        PeerProbe before = probe();
        boolean overdue = before != null && before.isOverdue();
        Q from = takeNext();
        // again: the first check can begin, and its probe complete, during the poll
        PeerProbe probe = probe();
        while (from != null && probe != null && !removeProbe(from, probe)) {
            from = takeNext();
        }
        if (from == null && overdue) {
            before.silent();
        }
        return from;
    }
}
