// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.testing;

import io.rpma.RpmaException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A session in steps: each step is a call of the library, and is named by the side and the C functions that the call's
 * exception can name, as {@code "server: rpma_cq_wait|rpma_cq_get_wc"}. The first failure ends the session. All objects
 * are then closed, and each close is a step too.
 */
public final class Steps {
    /** A session. */
    public interface Session {
        /** Takes the steps. */
        void run(Steps steps) throws Exception;
    }

    /** A wait for an event or for a completion. */
    public interface Wait {
        /** Waits for at most this time, and returns whether the event or the completion is there. */
        boolean ends(long milliseconds) throws InterruptedException;
    }

    /** A wait that takes something. */
    public interface Turn<T> {
        /** Waits for at most this time. */
        Optional<T> take(long milliseconds) throws InterruptedException;
    }

    /** A step that has failed. */
    public record Failure(String step, Throwable cause) {}

    private static final class EndedException extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    /** How long an event can be on its way after the faulty call, in milliseconds: those of the stand-in are immediate. */
    private static final int TURN_MS = 200;

    private final Interposer.Call faulty;
    private final boolean loses;
    private final boolean inFreshThreads;
    private final Deque<Runnable> closes = new ArrayDeque<>();
    private final List<Failure> failures = new ArrayList<>();
    private volatile String hitStep;

    private Steps(Interposer.Call faulty, boolean loses, boolean inFreshThreads) {
        this.faulty = faulty;
        this.loses = loses;
        this.inFreshThreads = inFreshThreads;
    }

    /**
     * Runs a session. Calls must be counted already.
     *
     * @param faulty the call that is armed, or null
     * @param loses whether the armed call loses its event
     * @param inFreshThreads whether each step is the first call of a thread
     */
    public static Steps run(Session session, Interposer.Call faulty, boolean loses, boolean inFreshThreads)
            throws Exception {
        Steps steps = new Steps(faulty, loses, inFreshThreads);
        Interposer.countThread(1);
        try {
            session.run(steps);
        } catch (EndedException e) {
            // the failure is in the list
        } finally {
            steps.closeAll();
            Interposer.countThread(0);
            Interposer.stop();
        }
        return steps;
    }

    /** The failures, in the order of the steps. */
    public List<Failure> failures() {
        return failures;
    }

    /** The step of the faulty call, or null if the call was not made. */
    public String hitStep() {
        return hitStep;
    }

    /**
     * Waits. After the faulty call has lost an event meanwhile, the wait goes on only for a moment: the event does not
     * come.
     *
     * @return whether the event or the completion is there
     */
    public boolean await(Wait wait) throws InterruptedException {
        if (!loses || Interposer.isHit()) {
            return wait.ends(TimeUnit.SECONDS.toMillis(Limit.WAIT_S));
        }
        boolean isLost;
        do {
            isLost = Interposer.isHit();
            if (wait.ends(TURN_MS)) {
                return true;
            }
        } while (!isLost);
        return false;
    }

    /** Waits in the same way, for an object. */
    public <T> T awaitOne(Turn<T> turn, String absent) throws InterruptedException {
        AtomicReference<T> taken = new AtomicReference<>();
        await(milliseconds -> {
            taken.set(turn.take(milliseconds).orElse(null));
            return taken.get() != null;
        });
        return Optional.ofNullable(taken.get()).orElseThrow(() -> new AssertionError(absent));
    }

    /** Takes a step. */
    public <T> T take(String step, Callable<T> call) throws Exception {
        try {
            return inFreshThreads ? result(start(1, call)) : call.call();
        } catch (RpmaException | OutOfMemoryError | AssertionError e) {
            failures.add(new Failure(step, e));
            throw new EndedException();
        } finally {
            noteHit(1, step);
        }
    }

    /** Takes a step without a result. */
    public void make(String step, Runnable call) throws Exception {
        take(step, () -> {
            call.run();
            return null;
        });
    }

    /** Takes a step that makes an object, and remembers the step that closes it. */
    public <T extends AutoCloseable> T open(String step, String closing, Callable<T> call) throws Exception {
        T object = take(step, call);
        closes.push(() -> close(closing, object));
        return object;
    }

    /** Begins a step in a thread with the number 2, and returns the step that waits for it. */
    public <T> Callable<T> begin(String step, Callable<T> call) {
        return end(step, startSecond(step, call));
    }

    /**
     * Begins a step that waits for a completion in a thread with the number 2, as {@link #begin}, and returns when it
     * waits.
     */
    public <T> Callable<T> beginWait(String step, Callable<T> call) {
        Started<T> started = startSecond(step, call);
        while (!started.task.isDone() && !Blocked.isBlocked(started.thread, "cqAwait", "awaitComp")) {
            Thread.onSpinWait();
        }
        return end(step, started);
    }

    private <T> Started<T> startSecond(String step, Callable<T> call) {
        Started<T> started = start(2, () -> {
            try {
                return call.call();
            } finally {
                noteHit(2, step);
            }
        });
        // after the closes of the objects, which end the call
        closes.addLast(() -> await(started.thread));
        return started;
    }

    private <T> Callable<T> end(String step, Started<T> started) {
        return () -> {
            try {
                return result(started);
            } catch (RpmaException | AssertionError e) {
                failures.add(new Failure(step, e));
                throw new EndedException();
            }
        };
    }

    private record Started<T>(FutureTask<T> task, Thread thread) {}

    private static <T> Started<T> start(int number, Callable<T> call) {
        FutureTask<T> task = new FutureTask<>(() -> {
            Interposer.countThread(number);
            return call.call();
        });
        Thread thread = new Thread(task, "step-" + number);
        thread.start();
        return new Started<>(task, thread);
    }

    private static void await(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static <T> T result(Started<T> started) throws Exception {
        await(started.thread);
        try {
            return started.task.get();
        } catch (ExecutionException e) {
            if (e.getCause() instanceof Error error) {
                throw error;
            }
            throw (Exception) e.getCause();
        }
    }

    private void noteHit(int thread, String step) {
        if (faulty != null && faulty.thread() == thread && hitStep == null && Interposer.isHit()) {
            hitStep = step;
        }
    }

    private void close(String closing, AutoCloseable object) {
        try {
            take(closing, () -> {
                object.close();
                return null;
            });
        } catch (EndedException e) {
            // the failure is in the list
        } catch (Exception e) {
            failures.add(new Failure(closing, e));
        }
    }

    private void closeAll() {
        while (!closes.isEmpty()) {
            closes.pop().run();
        }
    }
}
