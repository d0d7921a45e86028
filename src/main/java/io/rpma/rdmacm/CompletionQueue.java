package io.rpma.rdmacm;

import io.rpma.RpmaCompletions;
import io.rpma.internal.Internals;
import io.rpma.internal.NativeObject;
import java.lang.ref.Reference;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/** Polls one of the completion queues of a queue pair, and waits for it. */
abstract class CompletionQueue {
    private static final Internals INTERNALS = Internals.get();

    private final String operation;
    private final NativeObject handle;

    /**
     * A waiter asks for an event and then polls. Were there a second one, asleep, it would not be woken for completions
     * that the first leaves behind.
     */
    private final ReentrantLock waiting = new ReentrantLock();

    /** Whether any completion makes an event, rather than a solicited one at most; under the lock. */
    private boolean armedForAny;

    CompletionQueue(String operation, NativeObject handle) {
        this.operation = operation;
        this.handle = handle;
    }

    /** Calls the native that takes completions. */
    abstract int poll(long id, int capacity, long completions);

    /** Calls the native that takes an event and asks for the next. */
    abstract int rearm(long id, boolean solicitedOnly);

    final NativeObject handle() {
        return handle;
    }

    final int poll(RpmaCompletions completions) {
        INTERNALS.filled(completions, 0);
        int result = poll(handle.id(), completions.capacity(), INTERNALS.address(completions));
        Reference.reachabilityFence(completions);
        if (result < 0) {
            throw INTERNALS.failure("ibv_poll_cq", result, handle);
        }
        INTERNALS.filled(completions, result);
        return result;
    }

    final int get(RpmaCompletions completions, boolean solicitedOnly) throws InterruptedException {
        waiting.lockInterruptibly();
        try {
            return await(completions, solicitedOnly, INTERNALS.forever());
        } finally {
            waiting.unlock();
        }
    }

    final int get(RpmaCompletions completions, boolean solicitedOnly, long nanos) throws InterruptedException {
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
        long start = System.nanoTime();
        long left = nanos;
        int taken = poll(completions);
        if (taken == 0 && (solicitedOnly || !armedForAny)) {
            rearm(solicitedOnly);
            taken = poll(completions);
        }
        while (taken == 0 && INTERNALS.await(operation, handle, left)) {
            rearm(solicitedOnly);
            taken = poll(completions);
            if (left == 0) {
                return taken;
            }
            left = INTERNALS.left(nanos, start);
        }
        return taken;
    }

    private void rearm(boolean solicitedOnly) {
        armedForAny = false;
        INTERNALS.check(operation, rearm(handle.id(), solicitedOnly), handle);
        armedForAny = !solicitedOnly;
    }
}
