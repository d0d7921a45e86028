package io.rpma.testing;

import io.rpma.RpmaEventLoop;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;

/** An event loop in a thread of its own. */
public final class RunningLoop implements AutoCloseable {
    private static final int LIMIT_S = 60;

    /** The loop. */
    public final RpmaEventLoop loop = RpmaEventLoop.create();

    private final FutureTask<Boolean> run = new FutureTask<>(this::runToEnd);
    /** The thread that runs the loop. */
    public final Thread thread = new Thread(run, "loop");

    /** Starts the loop. */
    public RunningLoop() {
        thread.setDaemon(true);
        thread.start();
    }

    /** Runs a task in the loop, and waits for the end of the task. */
    public void call(Runnable task) throws Exception {
        FutureTask<Void> called = new FutureTask<>(task, null);
        loop.execute(called);
        called.get(LIMIT_S, TimeUnit.SECONDS);
    }

    /** Returns whether an interruption has ended the loop. */
    private boolean runToEnd() {
        try {
            loop.run();
            return false;
        } catch (InterruptedException e) {
            return true;
        }
    }

    /** Waits for the end of the loop's thread, which must not have failed. Returns whether an interruption has ended it. */
    public boolean awaitEnd() throws Exception {
        boolean interrupted = run.get(LIMIT_S, TimeUnit.SECONDS);
        thread.join(TimeUnit.SECONDS.toMillis(LIMIT_S));
        return interrupted;
    }

    @Override
    public void close() {
        loop.close();
        try {
            awaitEnd();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }
}
