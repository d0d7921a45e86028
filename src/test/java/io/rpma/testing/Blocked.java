// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/** A thread that is blocked in a wait: asleep in a native, or parked behind another thread's wait. */
public final class Blocked {
    private static final AtomicInteger COUNT = new AtomicInteger();

    private final FutureTask<Object> task;
    private final Thread thread;

    /** Starts the wait and returns when it blocks. */
    public Blocked(Callable<?> wait) {
        this(wait, "await", "cqAwait");
    }

    /**
     * Starts the wait and returns when it blocks.
     *
     * @param natives the natives that may block, or the beginnings of their names
     */
    public Blocked(Callable<?> wait, String... natives) {
        task = new FutureTask<>(wait::call);
        thread = new Thread(task, "blocked-" + COUNT.incrementAndGet());
        thread.setDaemon(true);
        thread.start();
        while (!isBlocked(thread, natives)) {
            assertFalse(task.isDone(), "the wait ended at once");
            Thread.onSpinWait();
        }
    }

    /**
     * Whether a thread is blocked.
     *
     * @param thread a thread whose name has at most 15 characters, and is the name of no other thread
     * @param natives the natives that may block, or the beginnings of their names
     */
    static boolean isBlocked(Thread thread, String... natives) {
        return (isIn(thread, "io.rpma.internal.Natives", natives) || isIn(thread, LockSupport.class.getName(), "park"))
                && isAsleep(thread);
    }

    /** Whether the kernel has put the thread to sleep. A native that blocks polls before it sleeps. */
    private static boolean isAsleep(Thread thread) {
        try (DirectoryStream<Path> tasks = Files.newDirectoryStream(Path.of("/proc/self/task"))) {
            for (Path kernelTask : tasks) {
                String[] fields = Files.readString(kernelTask.resolve("stat")).split("[()]");
                if (fields[1].equals(thread.getName())) {
                    return fields[2].startsWith(" S");
                }
            }
            return false;
        } catch (IOException e) {
            // another thread has ended in the meantime
            return false;
        }
    }

    /** Whether the thread is in a method of the type whose name begins with one of {@code names}. */
    private static boolean isIn(Thread thread, String type, String... names) {
        return Stream.of(thread.getStackTrace())
                .filter(frame -> frame.getClassName().equals(type))
                .anyMatch(frame -> Stream.of(names).anyMatch(frame.getMethodName()::startsWith));
    }

    /** Whether the wait has ended. */
    public boolean isDone() {
        return task.isDone();
    }

    /** Interrupts the thread that waits. */
    public void interrupt() {
        thread.interrupt();
    }

    /** The result of the wait. */
    public Object result() throws InterruptedException, ExecutionException, TimeoutException {
        return task.get(Limit.WAIT_S, TimeUnit.SECONDS);
    }

    /** The exception that ends the wait. */
    public Throwable failure() {
        return assertThrows(ExecutionException.class, this::result).getCause();
    }

    /** Checks that the wait ends with the exception for a closed object. */
    public void assertClosed() {
        Throwable failure = failure();
        assertEquals(IllegalStateException.class, failure.getClass(), failure.toString());
        assertTrue(failure.getMessage().contains("is closed"), failure.getMessage());
    }

    /** Checks that the close ends the wait, with the exception for a closed object. */
    public static void assertWokenByClose(Callable<?> wait, Runnable close) {
        Blocked blocked = new Blocked(wait);
        close.run();
        blocked.assertClosed();
    }

    /** Checks that an interrupt of its thread ends the wait. */
    public static void assertWokenByInterrupt(Callable<?> wait) {
        Blocked blocked = new Blocked(wait);
        blocked.interrupt();
        assertEquals(InterruptedException.class, blocked.failure().getClass());
    }
}
