// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.programs;

import io.rpma.internal.Signal;
import io.rpma.internal.Waiter;
import io.rpma.testing.Eventually;
import io.rpma.testing.Limit;
import io.rpma.testing.VirtualThreads;
import java.lang.reflect.Constructor;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Two virtual threads wait for one object, and the scheduler of the first thread refuses to resume it. Requires that
 * {@code java.lang} is opened, for the constructor that takes a scheduler.
 */
public final class RefusedThreadProgram {
    private RefusedThreadProgram() {}

    /** Prints whether the second thread was woken, and the failure of the first thread. */
    public static void main(String[] arguments) throws Exception {
        CompletableFuture<Throwable> reported = new CompletableFuture<>();
        Thread.setDefaultUncaughtExceptionHandler((thread, failure) -> reported.complete(failure));
        AtomicBoolean refusing = new AtomicBoolean();
        ExecutorService carrier = Executors.newSingleThreadExecutor();
        Executor scheduler = task -> {
            if (refusing.get()) {
                throw new RejectedExecutionException("refused");
            }
            carrier.execute(task);
        };
        try (Signal signal = new Signal()) {
            Thread refused = start(scheduler, waiting(signal));
            awaitParked(refused);
            FutureTask<Boolean> other = waiting(signal);
            awaitParked(VirtualThreads.start(other));
            refusing.set(true);
            signal.set();
            System.out.println("woken: " + other.get(Limit.WAIT_S, TimeUnit.SECONDS));
            System.out.println(
                    "reported: " + reported.get(Limit.WAIT_S, TimeUnit.SECONDS).getMessage());
        } finally {
            carrier.shutdownNow();
        }
    }

    private static FutureTask<Boolean> waiting(Signal signal) {
        return new FutureTask<>(() -> Waiter.await("test", signal.object(), Waiter.FOREVER));
    }

    private static void awaitParked(Thread thread) {
        Eventually.become("the thread is parked", () -> thread.getState() == Thread.State.WAITING);
    }

    private static Thread start(Executor scheduler, Runnable task) throws ReflectiveOperationException {
        Constructor<?> builder =
                Class.forName("java.lang.ThreadBuilders$VirtualThreadBuilder").getDeclaredConstructor(Executor.class);
        builder.setAccessible(true);
        return (Thread) Class.forName("java.lang.Thread$Builder")
                .getMethod("start", Runnable.class)
                .invoke(builder.newInstance(scheduler), task);
    }
}
