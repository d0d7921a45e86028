package io.rpma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;

/** A thread inside of a wait: started, and seen in the native that blocks or behind another thread's wait. */
public final class Blocked {
    private final FutureTask<Object> task;
    private final Thread thread;

    /** Starts the wait and returns when it blocks. */
    public Blocked(Callable<?> wait) {
        this(wait, "await");
    }

    /** {@code blocks} is the native, or the beginning of its name. */
    Blocked(Callable<?> wait, String blocks) {
        task = new FutureTask<>(wait::call);
        thread = new Thread(task, "blocked");
        thread.setDaemon(true);
        thread.start();
        while (!isIn(Natives.class, blocks) && !isIn(LockSupport.class, "park")) {
            assertFalse(task.isDone(), "the wait ended at once");
            Thread.onSpinWait();
        }
    }

    /** {@code name} is the beginning of the method's. */
    private boolean isIn(Class<?> type, String name) {
        for (StackTraceElement frame : thread.getStackTrace()) {
            if (frame.getClassName().equals(type.getName())
                    && frame.getMethodName().startsWith(name)) {
                return true;
            }
        }
        return false;
    }

    boolean isDone() {
        return task.isDone();
    }

    void interrupt() {
        thread.interrupt();
    }

    /** What the wait returns. */
    public Object result() throws InterruptedException, ExecutionException, TimeoutException {
        return task.get(Pair.TIMEOUT_S, TimeUnit.SECONDS);
    }

    Throwable failure() {
        return assertThrows(ExecutionException.class, this::result).getCause();
    }

    void assertClosed() {
        Throwable failure = failure();
        assertEquals(IllegalStateException.class, failure.getClass(), failure.toString());
        assertTrue(failure.getMessage().contains("is closed"), failure.getMessage());
    }

    /** The wait ends by the closing, with an exception that says so. */
    public static void assertWokenByClose(Callable<?> wait, Runnable close) {
        Blocked blocked = new Blocked(wait);
        close.run();
        blocked.assertClosed();
    }

    /** The wait ends by the interruption of its thread. */
    public static void assertWokenByInterrupt(Callable<?> wait) {
        Blocked blocked = new Blocked(wait);
        blocked.interrupt();
        assertEquals(InterruptedException.class, blocked.failure().getClass());
    }
}
