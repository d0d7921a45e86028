// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static io.rpma.testing.Name.name;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import io.rpma.internal.Natives;
import io.rpma.internal.OpenResources;
import io.rpma.testing.Eventually;
import io.rpma.testing.Limit;
import io.rpma.testing.LogCapture;
import io.rpma.testing.RunningLoop;
import io.rpma.testing.Together;
import java.lang.ref.Reference;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Level;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The tasks and the life of a loop. {@link LoopServiceTest} tests the objects that a loop serves. */
class RpmaEventLoopTest {
    private static final Runnable NOTHING = () -> {};

    private final BlockingQueue<Object> seen = new LinkedBlockingQueue<>();

    private Object next() throws InterruptedException {
        Object next = seen.poll(Limit.WAIT_S, TimeUnit.SECONDS);
        assertThat(next).as("nothing came").isNotNull();
        return next;
    }

    @Test
    void runsTasksInItsThreadInTheirOrder() throws Exception {
        try (RunningLoop running = new RunningLoop()) {
            for (int i = 0; i < 100; i++) {
                int number = i;
                running.loop.execute(() -> {
                    assertThat(Thread.currentThread()).isSameAs(running.thread);
                    seen.add(number);
                });
            }
            for (int i = 0; i < 100; i++) {
                assertThat(next()).isEqualTo(i);
            }
        }
    }

    @Test
    void runsTheTasksOfManyThreadsEachInItsOrder() throws Exception {
        int threads = 4;
        int each = 2000;
        int[] last = new int[threads];
        AtomicInteger count = new AtomicInteger();
        try (RunningLoop running = new RunningLoop()) {
            Together.run(threads, thread -> {
                for (int i = 1; i <= each; i++) {
                    int number = i;
                    running.loop.execute(() -> {
                        if (last[thread] == number - 1) {
                            last[thread] = number;
                            count.incrementAndGet();
                        }
                    });
                }
            });
            running.call(NOTHING);
        }
        assertThat(count).hasValue(threads * each);
    }

    @Test
    void tasksGiveTasks() throws Exception {
        try (RunningLoop running = new RunningLoop()) {
            running.loop.execute(() -> {
                running.loop.execute(() -> seen.add("inner"));
                seen.add("outer");
            });
            assertThat(next()).isEqualTo("outer");
            assertThat(next()).isEqualTo("inner");
        }
    }

    @Test
    void aTaskThatGivesItselfAgainLeavesTheOthersTheirTurn() throws Exception {
        try (RunningLoop running = new RunningLoop()) {
            Runnable again = new Runnable() {
                @Override
                public void run() {
                    running.loop.execute(this);
                }
            };
            running.loop.execute(again);
            running.call(NOTHING);
            running.call(NOTHING);
        }
    }

    @Test
    void takesTasksBeforeItRuns() throws Exception {
        try (RpmaEventLoop loop = RpmaEventLoop.create()) {
            loop.execute(() -> seen.add("early"));
            loop.execute(loop::close);
            loop.run();
            assertThat(seen).containsExactly("early");
        }
    }

    @Test
    void runsScheduledTasksInTheOrderOfTheirTimesAndNotEarlier() throws Exception {
        try (RunningLoop running = new RunningLoop()) {
            long[] latest = new long[4];
            // this is the loop's thread, so no task runs before the last one is scheduled
            running.call(() -> {
                for (int i = 0; i < latest.length; i++) {
                    int task = i;
                    long delay = TimeUnit.MILLISECONDS.toNanos(new int[] {60, 20, 40, 0}[i]);
                    long earliest = System.nanoTime() + delay;
                    running.loop.schedule(
                            () -> {
                                assertThat(System.nanoTime() - earliest).isNotNegative();
                                seen.add(List.of(task, earliest));
                            },
                            delay,
                            TimeUnit.NANOSECONDS);
                    latest[i] = System.nanoTime() + delay;
                }
            });
            List<List<?>> order = new ArrayList<>();
            for (int i = 0; i < latest.length; i++) {
                List<?> next = (List<?>) next();
                // none of the earlier ones was due later: the time of a task is between earliest and latest
                for (List<?> former : order) {
                    assertThat((long) former.get(1)).isLessThanOrEqualTo(latest[(int) next.get(0)]);
                }
                order.add(next);
            }
        }
    }

    @Test
    void cancelledTasksAreNotRun() throws Exception {
        try (RunningLoop running = new RunningLoop()) {
            RpmaEventLoop.Registration far = running.loop.schedule(NOTHING, 1, TimeUnit.DAYS);
            assertThat(far.isActive()).isTrue();
            far.cancel();
            assertThat(far.isActive()).isFalse();
            running.call(() -> {
                // this is the loop's thread, so no task runs meanwhile
                RpmaEventLoop.Registration near =
                        running.loop.schedule(() -> seen.add("cancelled"), 0, TimeUnit.SECONDS);
                assertThat(near.isActive()).isTrue();
                near.cancel();
                near.cancel();
                assertThat(near.isActive()).isFalse();
                running.loop.schedule(() -> seen.add("not cancelled"), 10, TimeUnit.MILLISECONDS);
            });
            assertThat(next()).isEqualTo("not cancelled");
            assertThat(seen).isEmpty();
        }
    }

    @Test
    void aTaskThatHasRunIsNotActive() throws Exception {
        try (RunningLoop running = new RunningLoop()) {
            RpmaEventLoop.Registration task = running.loop.schedule(NOTHING, 0, TimeUnit.SECONDS);
            running.call(NOTHING);
            assertThat(task.isActive()).isFalse();
            task.cancel();
        }
    }

    @Test
    void theLongestDelayIsNotShort() throws Exception {
        try (RunningLoop running = new RunningLoop()) {
            RpmaEventLoop.Registration never =
                    running.loop.schedule(() -> seen.add("never"), Long.MAX_VALUE, TimeUnit.DAYS);
            running.loop.schedule(() -> seen.add("soon"), 1, TimeUnit.MILLISECONDS);
            assertThat(next()).isEqualTo("soon");
            running.call(NOTHING);
            assertThat(seen).isEmpty();
            assertThat(never.isActive()).isTrue();
        }
    }

    @Test
    void wrongArguments() {
        try (RpmaEventLoop loop = RpmaEventLoop.create()) {
            RpmaConn conn = FakeFacade.conn();
            for (ThrowingCallable wrong : List.<ThrowingCallable>of(
                    () -> loop.execute(null),
                    () -> loop.schedule(null, 0, TimeUnit.SECONDS),
                    () -> loop.schedule(NOTHING, 0, null),
                    () -> loop.onRequest(null, null, request -> {}),
                    () -> loop.onRequest(null, null, null),
                    () -> loop.onEvent(null, event -> {}),
                    () -> loop.onEvent(conn, null),
                    () -> loop.onCompletion((RpmaConn) null, 1, (cq, completions) -> {}),
                    () -> loop.onCompletion(conn, 1, null),
                    () -> loop.onCompletion((RpmaCq) null, 1, (cq, completions) -> {}),
                    () -> loop.onCompletion(conn.getCq(), 1, null),
                    () -> loop.on(null))) {
                assertThatNullPointerException().isThrownBy(wrong);
            }
            for (ThrowingCallable wrong : List.<ThrowingCallable>of(
                    () -> loop.schedule(NOTHING, -1, TimeUnit.SECONDS),
                    () -> loop.schedule(NOTHING, Long.MIN_VALUE, TimeUnit.SECONDS),
                    () -> loop.onCompletion(conn, 0, (cq, completions) -> {}),
                    () -> loop.onCompletion(conn.getCq(), 0, (cq, completions) -> {}),
                    () -> loop.onCompletion(conn.getCq(), Integer.MAX_VALUE, (cq, completions) -> {}))) {
                assertThatIllegalArgumentException().isThrownBy(wrong);
            }
            for (ThrowingCallable closed : List.<ThrowingCallable>of(
                    () -> loop.onEvent(conn, event -> {}),
                    () -> loop.onCompletion(conn, 1, (cq, completions) -> {}),
                    () -> loop.onCompletion(conn.getCq(), 1, (cq, completions) -> {}))) {
                assertThatIllegalStateException().isThrownBy(closed).withMessageEndingWith("is closed");
            }
            FakeFacade.close(conn);
        }
    }

    @Test
    void tasksThatThrowHarmNoOthers() throws Exception {
        List<Object> sources = new CopyOnWriteArrayList<>();
        try (RunningLoop running = new RunningLoop()) {
            running.loop.onFailure((source, failure) -> {
                sources.add(source);
                seen.add(failure);
            });
            List<Throwable> failures = List.of(
                    new IllegalStateException("test"), new OutOfMemoryError("test"), new AssertionError("test"));
            List<Runnable> tasks = new ArrayList<>();
            for (Throwable failure : failures) {
                tasks.add(() -> RpmaEventLoopTest.<RuntimeException>raise(failure));
                running.loop.execute(tasks.get(tasks.size() - 1));
            }
            for (Throwable failure : failures) {
                assertThat(next()).isSameAs(failure);
            }
            running.call(NOTHING);
            assertThat(sources).isEqualTo(tasks);
        }
    }

    @SuppressWarnings("unchecked")
    private static <T extends Throwable> void raise(Throwable failure) throws T {
        throw (T) failure;
    }

    @Test
    void failuresAreLoggedByDefault() throws Exception {
        try (LogCapture log = new LogCapture();
                RunningLoop running = new RunningLoop()) {
            for (boolean again : new boolean[] {false, true}) {
                RuntimeException failure = new RuntimeException("test");
                if (again) {
                    running.loop.onFailure(null);
                }
                running.loop.execute(() -> {
                    throw failure;
                });
                running.call(NOTHING);
                assertThat(log.records()).hasSize(again ? 2 : 1).last().satisfies(record -> {
                    assertThat(record.getLevel()).isEqualTo(Level.WARNING);
                    assertThat(record.getThrown()).isSameAs(failure);
                    assertThat(record.getMessage()).contains(running.loop.toString(), "has failed");
                });
            }
        }
    }

    @Test
    void aFailureHandlerThatFailsHarmsNobody() throws Exception {
        try (RunningLoop running = new RunningLoop()) {
            running.thread.setUncaughtExceptionHandler((thread, failure) -> seen.add(failure));
            RuntimeException failure = new RuntimeException("handler");
            running.loop.onFailure((source, thrown) -> {
                throw failure;
            });
            running.loop.execute(() -> {
                throw new RuntimeException("task");
            });
            running.call(NOTHING);
            assertThat(next()).isSameAs(failure);
        }
    }

    @Test
    void runsInOneThread() throws Exception {
        try (RunningLoop running = new RunningLoop()) {
            running.call(() -> assertThatIllegalStateException()
                    .isThrownBy(running.loop::run)
                    .withMessageContaining("running"));
            assertThatIllegalStateException().isThrownBy(running.loop::run).withMessageContaining("running");
        }
    }

    @Test
    void anInterruptEndsItUntilItIsRunAgain() throws Exception {
        try (RunningLoop running = new RunningLoop()) {
            RpmaEventLoop loop = running.loop;
            Eventually.become("the loop waits", () -> isBlocked(running.thread));
            running.thread.interrupt();
            assertThat(running.awaitEnd()).isTrue();
            loop.execute(() -> seen.add("again"));
            Thread.currentThread().interrupt();
            assertThatExceptionOfType(InterruptedException.class)
                    .isThrownBy(loop::run)
                    .withMessage("run of " + loop);
            assertThat(Thread.currentThread().isInterrupted()).isFalse();
            assertThat(seen).isEmpty();
            loop.execute(loop::close);
            loop.run();
            assertThat(seen).containsExactly("again");
        }
    }

    @Test
    void anInterruptedTaskIsTheLastOne() throws Exception {
        try (RpmaEventLoop loop = RpmaEventLoop.create()) {
            loop.execute(() -> Thread.currentThread().interrupt());
            loop.execute(() -> seen.add("next"));
            loop.execute(loop::close);
            assertThatExceptionOfType(InterruptedException.class).isThrownBy(loop::run);
            assertThat(seen).isEmpty();
            loop.run();
            assertThat(seen).containsExactly("next");
        }
    }

    @Test
    void anInterruptionIsKeptByALoopThatIsClosedOrStopped() throws Exception {
        try (RpmaEventLoop loop = RpmaEventLoop.create()) {
            for (Runnable end : List.<Runnable>of(loop::stop, loop::close)) {
                loop.execute(() -> {
                    Thread.currentThread().interrupt();
                    end.run();
                });
                loop.run();
                assertThat(Thread.interrupted()).isTrue();
            }
        }
    }

    @Test
    void isStoppedByAnotherThreadWhileItWaits() throws Exception {
        try (RunningLoop running = new RunningLoop()) {
            Eventually.become("the loop waits", () -> isBlocked(running.thread));
            running.loop.stop();
            assertThat(running.awaitEnd()).isFalse();
            running.loop.execute(() -> seen.add("again"));
            running.loop.execute(running.loop::stop);
            running.loop.run();
            assertThat(seen).containsExactly("again");
        }
    }

    @Test
    void aTaskThatStopsIsTheLastOne() throws Exception {
        try (RpmaEventLoop loop = RpmaEventLoop.create()) {
            loop.execute(loop::stop);
            RpmaEventLoop.Registration next = loop.schedule(() -> seen.add("next"), 0, TimeUnit.SECONDS);
            loop.run();
            assertThat(seen).isEmpty();
            assertThat(next.isActive()).isTrue();
            loop.execute(loop::stop);
            loop.run();
            assertThat(seen).containsExactly("next");
        }
    }

    @Test
    void isStoppedBeforeItRuns() throws Exception {
        try (RpmaEventLoop loop = RpmaEventLoop.create()) {
            loop.execute(() -> seen.add("task"));
            loop.stop();
            loop.stop();
            loop.run();
            assertThat(seen).isEmpty();
            loop.execute(loop::stop);
            loop.run();
            assertThat(seen).containsExactly("task");
        }
    }

    @Test
    void aStopHasNoEffectOnAClosedLoop() throws Exception {
        RpmaEventLoop loop = RpmaEventLoop.create();
        loop.close();
        loop.stop();
        loop.run();
        loop.run();
    }

    /** The thread of the loop starts at a random time before or after the stop. */
    @Test
    void noStopIsLost() throws Exception {
        try (RpmaEventLoop loop = RpmaEventLoop.create()) {
            for (int round = 0; round < 1000; round++) {
                Together.run(2, thread -> {
                    if (thread == 0) {
                        loop.run();
                    } else {
                        loop.stop();
                    }
                });
            }
        }
    }

    private static boolean isBlocked(Thread thread) {
        StackTraceElement[] stack = thread.getStackTrace();
        return stack.length > 0 && stack[0].getClassName().equals(Natives.class.getName());
    }

    @Test
    void isClosedByAnotherThreadWhileItWaits() throws Exception {
        RunningLoop running = new RunningLoop();
        Eventually.become("the loop waits", () -> isBlocked(running.thread));
        running.close();
        running.loop.close();
        running.loop.run();
    }

    @Test
    void isClosedByATask() throws Exception {
        try (RunningLoop running = new RunningLoop()) {
            running.loop.execute(() -> {
                running.loop.execute(() -> seen.add("dropped"));
                running.loop.close();
                seen.add("closed");
            });
            running.awaitEnd();
            assertThat(seen).containsExactly("closed");
        }
    }

    @Test
    void isClosedBeforeItRuns() throws Exception {
        RpmaEventLoop loop = RpmaEventLoop.create();
        RpmaEventLoop.Registration task = loop.schedule(() -> seen.add("dropped"), 0, TimeUnit.SECONDS);
        loop.close();
        loop.run();
        assertThat(seen).isEmpty();
        assertThat(task.isActive()).isFalse();
    }

    @Test
    void doesNothingMoreWhenClosed() {
        RpmaEventLoop loop = RpmaEventLoop.create();
        loop.close();
        for (ThrowingCallable late : List.<ThrowingCallable>of(
                () -> loop.execute(NOTHING), () -> loop.schedule(NOTHING, 1, TimeUnit.DAYS))) {
            assertThatIllegalStateException().isThrownBy(late).withMessage(name(loop) + " is closed");
        }
    }

    @Test
    void keepsNoTaskWhenClosed() {
        RpmaEventLoop loop = RpmaEventLoop.create();
        loop.close();
        Runnable task = new Runnable() {
            @Override
            public void run() {
                seen.add("dropped");
            }
        };
        WeakReference<Runnable> kept = new WeakReference<>(task);
        loop.engine().executeUnlessClosed(task, 0);
        task = null;
        Eventually.becomeByGc("the task is collected", () -> kept.get() == null);
        Reference.reachabilityFence(loop);
        assertThat(seen).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void isClosedWhileOthersGiveTasks(boolean byTask) throws Exception {
        for (int round = 0; round < 100; round++) {
            RunningLoop running = new RunningLoop();
            Together.run(3, thread -> {
                if (thread > 0) {
                    assertThatExceptionOfType(IllegalStateException.class)
                            .isThrownBy(() -> giveForever(running.loop))
                            .withMessageContaining("closed");
                } else if (byTask) {
                    running.loop.execute(running.loop::close);
                } else {
                    running.loop.close();
                }
            });
            running.awaitEnd();
        }
    }

    private static void giveForever(RpmaEventLoop loop) {
        while (true) {
            loop.execute(NOTHING);
            loop.schedule(NOTHING, 1, TimeUnit.MILLISECONDS).cancel();
        }
    }

    @Test
    void leavesNothingOpen() throws Exception {
        try (RunningLoop warmUp = new RunningLoop()) {
            warmUp.call(NOTHING);
        }
        OpenResources before = OpenResources.now();
        CountDownLatch run = new CountDownLatch(100);
        for (int i = 0; i < 100; i++) {
            try (RunningLoop running = new RunningLoop()) {
                running.call(run::countDown);
            }
        }
        assertThat(run.getCount()).isZero();
        before.assertSameNow(0);
    }
}
