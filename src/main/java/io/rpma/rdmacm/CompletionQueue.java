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

    CompletionQueue(String operation, NativeObject handle) {
        this.operation = operation;
        this.handle = handle;
    }

    /** Calls the native that takes completions. */
    abstract int poll(long id, int capacity, long completions);

    /** Calls the native that takes an event and asks for the next. */
    abstract int rearm(long id);

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

    final int get(RpmaCompletions completions) throws InterruptedException {
        waiting.lockInterruptibly();
        try {
            return await(completions, INTERNALS.forever());
        } finally {
            waiting.unlock();
        }
    }

    final int get(RpmaCompletions completions, long nanos) throws InterruptedException {
        long start = System.nanoTime();
        if (!waiting.tryLock(nanos, TimeUnit.NANOSECONDS)) {
            return poll(completions);
        }
        try {
            return await(completions, INTERNALS.left(nanos, start));
        } finally {
            waiting.unlock();
        }
    }

    private int await(RpmaCompletions completions, long nanos) throws InterruptedException {
        long start = System.nanoTime();
        long left = nanos;
        int taken = poll(completions);
        while (taken == 0 && INTERNALS.await(operation, handle, left)) {
            INTERNALS.check(operation, rearm(handle.id()), handle);
            taken = poll(completions);
            if (left == 0) {
                return taken;
            }
            left = INTERNALS.left(nanos, start);
        }
        return taken;
    }
}
