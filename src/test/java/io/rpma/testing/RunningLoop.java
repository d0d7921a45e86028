// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.testing;

import io.rpma.RpmaEventLoop;
import io.rpma.internal.loop.PeerProbe;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;

/** An event loop in a thread of its own. */
public final class RunningLoop implements AutoCloseable {
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
        called.get(Limit.WAIT_S, TimeUnit.SECONDS);
    }

    /** Waits until a probe has completed. The program has no operation under way. */
    public static void awaitAnswer(PeerProbe probe) {
        probe.takeSign();
        Eventually.become("an answer to a probe", probe::takeSign);
    }

    /** Makes sure that a probe is under way: the loop's, or else one of this call. */
    public void postProbe(PeerProbe probe) throws Exception {
        probe.post();
        // a post of the loop ends
        call(() -> {});
    }

    /**
     * Waits until the loop has made a check, if one is active: the loop runs its tasks in the order of their times.
     *
     * @param periodMs the period of the check, in milliseconds
     */
    public void awaitCheck(long periodMs) throws Exception {
        call(() -> {});
        FutureTask<Void> passed = new FutureTask<>(() -> null);
        loop.schedule(passed, 2 * periodMs, TimeUnit.MILLISECONDS);
        passed.get(Limit.WAIT_S, TimeUnit.SECONDS);
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

    /**
     * Waits for the end of the loop's thread, which must not have failed. Returns whether an interruption has ended it.
     */
    public boolean awaitEnd() throws Exception {
        boolean interrupted = run.get(Limit.WAIT_S, TimeUnit.SECONDS);
        thread.join(TimeUnit.SECONDS.toMillis(Limit.WAIT_S));
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
