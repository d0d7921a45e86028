// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Method;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;

/** Virtual threads, which came with JDK 21. */
public final class VirtualThreads {
    private VirtualThreads() {}

    /** Starts a virtual thread. */
    public static Thread start(Runnable task) {
        try {
            Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
            return (Thread) start.invoke(null, task);
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    /** The result of a task that a virtual thread runs. */
    public static <T> T call(Callable<T> task) throws Exception {
        FutureTask<T> call = new FutureTask<>(task);
        start(call);
        return call.get(Limit.WAIT_S, TimeUnit.SECONDS);
    }

    /** Checks that an interrupt ends the wait of a virtual thread. */
    public static void assertInterrupted(Callable<?> wait) {
        FutureTask<?> call = new FutureTask<>(wait);
        Thread thread = start(call);
        Eventually.become("the thread is parked", () -> thread.getState() == Thread.State.WAITING);
        thread.interrupt();
        ExecutionException e = assertThrows(ExecutionException.class, () -> call.get(Limit.WAIT_S, TimeUnit.SECONDS));
        assertEquals(InterruptedException.class, e.getCause().getClass());
    }

    /** A JVM whose virtual threads have two carriers. */
    public static Jvm onTwoCarriers() {
        return Jvm.likeThis()
                .options("-Djdk.virtualThreadScheduler.parallelism=2", "-Djdk.virtualThreadScheduler.maxPoolSize=2");
    }

    /** Checks that the program has succeeded, and has printed this count after each of the texts. */
    public static void assertReported(int count, Jvm.Finished end, String... waits) {
        assertEquals(0, end.status(), end.toString());
        for (String wait : waits) {
            assertTrue(end.out().contains(wait + count + "\n"), end.toString());
        }
    }
}
