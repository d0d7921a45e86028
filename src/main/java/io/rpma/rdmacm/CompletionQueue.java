package io.rpma.rdmacm;

import io.rpma.RpmaCompletions;
import io.rpma.internal.Access;
import io.rpma.internal.Call;
import io.rpma.internal.CompletionWait;
import io.rpma.internal.NativeObject;
import io.rpma.internal.Natives;
import java.lang.ref.Reference;

/** One of the completion queues of a queue pair. */
final class CompletionQueue extends CompletionWait<RpmaCompletions, CompletionQueue> {
    private static final Access ACCESS = Access.get();

    private final boolean send;

    /** Whether any completion makes an event, rather than a solicited one at most; of the thread that waits. */
    private boolean armedForAny;

    /** Set by {@link #made}; a copy, which a poll reaches sooner. */
    private long handle;

    private CompletionQueue(String operation, NativeObject object, boolean send) {
        super(operation, object, object);
        this.send = send;
    }

    static CompletionQueue ofOperations(NativeObject object) {
        return new CompletionQueue("rdma_get_send_comp", object, true);
    }

    static CompletionQueue ofReceives(NativeObject object) {
        return new CompletionQueue("rdma_get_recv_comp", object, false);
    }

    /** Ends the making; allocates nothing. */
    void made(long queue) {
        owner.madeWithWhole(queue);
        handle = queue;
    }

    int take(RpmaCompletions completions, boolean solicitedOnly, long nanos) throws InterruptedException {
        ACCESS.filled(completions, 0);
        await(completions, solicitedOnly, nanos);
        return completions.count();
    }

    int pollCount(RpmaCompletions completions) {
        ACCESS.filled(completions, 0);
        int capacity = completions.capacity();
        long address = ACCESS.address(completions);
        int result = send
                ? Natives.pollSendComp(handle, capacity, address)
                : Natives.pollRecvComp(handle, capacity, address);
        Reference.reachabilityFence(completions);
        if (result < 0) {
            throw Call.failure("ibv_poll_cq", result, owner);
        }
        ACCESS.filled(completions, result);
        return result;
    }

    @Override
    public CompletionQueue poll(RpmaCompletions completions) {
        return pollCount(completions) == 0 ? null : this;
    }

    @Override
    protected boolean isArmed(boolean solicitedOnly) {
        return armedForAny && !solicitedOnly;
    }

    @Override
    protected boolean arm(boolean solicitedOnly) {
        armedForAny = false;
        Call.check(operation, Natives.armComp(handle, send, solicitedOnly), owner);
        armedForAny = !solicitedOnly;
        return true;
    }

    @Override
    protected int block(RpmaCompletions completions, boolean solicitedOnly, int wakeFd, long nanos) {
        armedForAny = false;
        int result = Natives.awaitComp(
                handle, send, solicitedOnly, completions.capacity(), ACCESS.address(completions), wakeFd, nanos);
        Reference.reachabilityFence(completions);
        armedForAny = result >= 0 && !solicitedOnly;
        return result;
    }

    @Override
    protected CompletionQueue taken(RpmaCompletions completions, int result) {
        ACCESS.filled(completions, result);
        return this;
    }
}
