package io.rpma.rdmacm;

import io.rpma.RpmaCompletions;
import io.rpma.internal.Internals;
import io.rpma.internal.NativeObject;
import java.lang.ref.Reference;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/** Polls one of the completion queues of a queue pair, and waits for it. */
final class CompletionQueue {
    private static final Internals INTERNALS = Internals.get();

    private final String operation;
    private final NativeObject handle;
    private final boolean send;

    /**
     * A waiter asks for an event and then polls. Were there a second one, asleep, it would not be woken for completions
     * that the first leaves behind.
     *
     * <p>Messages are withheld around it: what gets them may wait for a thread that wants it.
     */
    private final ReentrantLock waiting = new ReentrantLock();

    /** Whether any completion makes an event, rather than a solicited one at most; under the lock. */
    private boolean armedForAny;

    /** Set by {@link #made}; a copy, which a poll reaches sooner. */
    private long id;

    /** Where the wait under the lock puts completions; a field, because a lambda for each wait would be allocated. */
    private RpmaCompletions awaited;

    private final Internals.Blocking anyAwaited = (wakeFd, nanos) -> awaitComp(false, wakeFd, nanos);
    private final Internals.Blocking solicitedAwaited = (wakeFd, nanos) -> awaitComp(true, wakeFd, nanos);

    private CompletionQueue(String operation, NativeObject handle, boolean send) {
        this.operation = operation;
        this.handle = handle;
        this.send = send;
    }

    static CompletionQueue ofOperations(NativeObject handle) {
        return new CompletionQueue("rdma_get_send_comp", handle, true);
    }

    static CompletionQueue ofReceives(NativeObject handle) {
        return new CompletionQueue("rdma_get_recv_comp", handle, false);
    }

    /** Ends the making; allocates nothing. */
    void made(long nativeId) {
        handle.made(nativeId);
        id = nativeId;
    }

    int poll(RpmaCompletions completions) {
        INTERNALS.filled(completions, 0);
        int capacity = completions.capacity();
        long address = INTERNALS.address(completions);
        int result = send ? Natives.pollSendComp(id, capacity, address) : Natives.pollRecvComp(id, capacity, address);
        Reference.reachabilityFence(completions);
        if (result < 0) {
            throw INTERNALS.failure("ibv_poll_cq", result, handle);
        }
        INTERNALS.filled(completions, result);
        return result;
    }

    int get(RpmaCompletions completions, boolean solicitedOnly) throws InterruptedException {
        INTERNALS.withhold();
        try {
            return getLocked(completions, solicitedOnly);
        } finally {
            INTERNALS.deliver();
        }
    }

    private int getLocked(RpmaCompletions completions, boolean solicitedOnly) throws InterruptedException {
        waiting.lockInterruptibly();
        try {
            return await(completions, solicitedOnly, INTERNALS.forever());
        } finally {
            waiting.unlock();
        }
    }

    int get(RpmaCompletions completions, boolean solicitedOnly, long nanos) throws InterruptedException {
        INTERNALS.withhold();
        try {
            return getLocked(completions, solicitedOnly, nanos);
        } finally {
            INTERNALS.deliver();
        }
    }

    private int getLocked(RpmaCompletions completions, boolean solicitedOnly, long nanos) throws InterruptedException {
        long start = System.nanoTime();
        if (!waiting.tryLock(nanos, TimeUnit.NANOSECONDS)) {
            return poll(completions);
        }
        try {
            int taken = await(completions, solicitedOnly, INTERNALS.left(nanos, start));
            // unsolicited ones may have come meanwhile
            return taken == 0 && solicitedOnly ? poll(completions) : taken;
        } finally {
            waiting.unlock();
        }
    }

    private int await(RpmaCompletions completions, boolean solicitedOnly, long nanos) throws InterruptedException {
        int taken = poll(completions);
        if (taken == 0 && (solicitedOnly || !armedForAny)) {
            rearm(solicitedOnly);
            taken = poll(completions);
        }
        if (taken != 0) {
            return taken;
        }
        return nanos != 0 && INTERNALS.isVirtual()
                ? park(completions, solicitedOnly, nanos)
                : block(completions, solicitedOnly, nanos);
    }

    /** Leaves the carrier of a virtual thread to others. */
    private int park(RpmaCompletions completions, boolean solicitedOnly, long nanos) throws InterruptedException {
        long start = System.nanoTime();
        long left = nanos;
        int taken = 0;
        while (taken == 0 && INTERNALS.await(operation, handle, left)) {
            rearm(solicitedOnly);
            taken = poll(completions);
            if (left == 0) {
                // another thread may take each completion that comes: then the time counts, not the events
                return taken;
            }
            left = INTERNALS.left(nanos, start);
        }
        return taken;
    }

    private void rearm(boolean solicitedOnly) {
        armedForAny = false;
        INTERNALS.check(operation, Natives.rearmComp(id, send, solicitedOnly), handle);
        armedForAny = !solicitedOnly;
    }

    private int block(RpmaCompletions completions, boolean solicitedOnly, long nanos) throws InterruptedException {
        armedForAny = false;
        awaited = completions;
        int taken;
        try {
            taken = INTERNALS.block(operation, handle, nanos, solicitedOnly ? solicitedAwaited : anyAwaited);
        } finally {
            awaited = null;
        }
        armedForAny = !solicitedOnly;
        INTERNALS.filled(completions, taken);
        return taken;
    }

    private int awaitComp(boolean solicitedOnly, int wakeFd, long nanos) {
        RpmaCompletions completions = awaited;
        int capacity = completions.capacity();
        long address = INTERNALS.address(completions);
        int result = Natives.awaitComp(id, send, solicitedOnly, capacity, address, wakeFd, nanos);
        Reference.reachabilityFence(completions);
        return result;
    }
}
