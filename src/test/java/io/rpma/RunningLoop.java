package io.rpma;

import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;

/** An event loop in a thread of its own. */
final class RunningLoop implements AutoCloseable {
    private static final int LIMIT_S = 60;

    final RpmaEventLoop loop = RpmaEventLoop.create();
    private final FutureTask<Void> run = new FutureTask<>(loop::run, null);
    final Thread thread = new Thread(run, "loop");

    RunningLoop() {
        thread.setDaemon(true);
        thread.start();
    }

    /** Has something done by the loop, and waits for it. */
    void call(Runnable task) throws Exception {
        FutureTask<Void> called = new FutureTask<>(task, null);
        loop.execute(called);
        called.get(LIMIT_S, TimeUnit.SECONDS);
    }

    /** Waits for the end of the loop's thread, which must not have failed. */
    void awaitEnd() throws Exception {
        run.get(LIMIT_S, TimeUnit.SECONDS);
        thread.join(TimeUnit.SECONDS.toMillis(LIMIT_S));
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
