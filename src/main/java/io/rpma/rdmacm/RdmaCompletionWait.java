// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.rdmacm;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaEventLoop;
import io.rpma.internal.Access;
import io.rpma.internal.Call;
import io.rpma.internal.CompletionWait;
import io.rpma.internal.ConnectionEvents;
import io.rpma.internal.Natives;
import io.rpma.internal.Resource;
import io.rpma.internal.Result;
import io.rpma.internal.loop.CompletionSource;
import io.rpma.internal.loop.PeerProbe;
import java.lang.ref.Reference;
import java.util.Objects;

/** The completion queue of the operations or of the receives of a queue pair. */
final class RdmaCompletionWait extends CompletionWait<RpmaCompletions, RdmaCompletionWait> {
    /** Not static: a failure for lack of memory would be permanent. */
    private final Access access = Access.get();

    private final boolean send;

    /**
     * Whether the queue is armed for all completions, not only for solicited ones. Only the thread that waits for the
     * queue or serves it uses this field.
     */
    private boolean armedForAny;

    /** A copy of the handle, which saves an indirection in each poll. Set by {@link #made}. */
    private long handle;

    /** Null until the first check of the connection, and in the queue of receives. */
    private volatile PeerProbe probe;

    private RdmaCompletionWait(String operation, Resource object, boolean send) {
        super(operation, object, object);
        this.send = send;
    }

    static RdmaCompletionWait ofOperations(Resource object) {
        return new RdmaCompletionWait("rdma_get_send_comp", object, true);
    }

    static RdmaCompletionWait ofReceives(Resource object) {
        return new RdmaCompletionWait("rdma_get_recv_comp", object, false);
    }

    /** Takes the handle of the native queue. Allocates nothing. */
    void made(long queue) {
        owner.madeWithWhole(queue);
        handle = queue;
    }

    int take(RpmaCompletions completions, boolean solicitedOnly, ConnectionEvents<?> events, long nanos)
            throws InterruptedException {
        access.filled(completions, 0);
        await(completions, solicitedOnly, events, nanos);
        return completions.count();
    }

    int pollCount(RpmaCompletions completions) {
        access.filled(completions, 0);
        int capacity = completions.capacity();
        long address = access.address(completions);
        int result = send
                ? Natives.pollSendComp(handle, capacity, address)
                : Natives.pollRecvComp(handle, capacity, address);
        Reference.reachabilityFence(completions);
        if (result < 0) {
            throw Call.failure("ibv_poll_cq", result, owner);
        }
        access.filled(completions, result);
        return result;
    }

    /** Registers a handler with an event loop. The id is the source of failures. */
    RpmaEventLoop.Registration register(
            RpmaEventLoop loop,
            RdmaId id,
            int batchSize,
            boolean solicitedOnly,
            RpmaEventLoop.Handler<? super RpmaCompletions> handler) {
        Objects.requireNonNull(loop, "loop");
        Objects.requireNonNull(handler, "handler");
        RpmaCompletions completions = RpmaCompletions.create(batchSize);
        return access.register(loop, new Source(id, completions, solicitedOnly, handler));
    }

    @Override
    public RdmaCompletionWait poll(RpmaCompletions completions) {
        return pollCount(completions) == 0 ? null : this;
    }

    @Override
    protected int take(RpmaCompletions completions, boolean solicitedOnly, long events, int wakeFd, long nanos) {
        // a call that can't block must take the event, because the program may watch the channel itself
        boolean armed = armedForAny && !solicitedOnly && nanos != 0;
        armedForAny = false;
        int result = Natives.awaitComp(
                handle,
                send,
                solicitedOnly,
                armed,
                completions.capacity(),
                access.address(completions),
                events,
                wakeFd,
                nanos);
        Reference.reachabilityFence(completions);
        armedForAny = !solicitedOnly && (result >= 0 || result == Result.WOKEN);
        return result;
    }

    @Override
    protected RdmaCompletionWait taken(RpmaCompletions completions, int result) {
        access.filled(completions, result);
        return this;
    }

    PeerProbe probe() {
        return probe;
    }

    void attach(PeerProbe first) {
        probe = first;
    }

    private final class Source extends CompletionSource<RdmaCompletionWait> {
        private final RpmaCompletions completions;
        private final boolean solicitedOnly;
        private final RpmaEventLoop.Handler<? super RpmaCompletions> handler;

        Source(
                RdmaId id,
                RpmaCompletions completions,
                boolean solicitedOnly,
                RpmaEventLoop.Handler<? super RpmaCompletions> handler) {
            super(id, channel());
            this.completions = completions;
            this.solicitedOnly = solicitedOnly;
            this.handler = handler;
        }

        @Override
        public void claim(Object loop) {
            RdmaCompletionWait.this.claim(loop);
        }

        @Override
        protected RdmaCompletionWait takeNext() {
            return pollOrArm(completions, solicitedOnly);
        }

        @Override
        protected PeerProbe probe() {
            return probe;
        }

        @Override
        protected boolean removeProbe(RdmaCompletionWait from, PeerProbe attached) {
            return access.removeProbe(completions, attached);
        }

        @Override
        public void call(RdmaCompletionWait from) throws Exception {
            handler.handle(completions);
        }
    }
}
