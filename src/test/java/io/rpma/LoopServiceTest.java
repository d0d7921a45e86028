// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static io.rpma.testing.Name.name;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.rpma.internal.Fake;
import io.rpma.internal.Natives;
import io.rpma.internal.Resource;
import io.rpma.internal.Signal;
import io.rpma.internal.Waiter;
import io.rpma.internal.loop.Source;
import io.rpma.testing.Eventually;
import io.rpma.testing.Limit;
import io.rpma.testing.RunningLoop;
import io.rpma.testing.Together;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How a loop serves objects. The objects of these tests need no device. */
class LoopServiceTest {
    private final RunningLoop running = new RunningLoop();
    private final RpmaEventLoop loop = running.loop;
    private final List<Signal> signals = new ArrayList<>();
    private final BlockingQueue<Object> seen = new LinkedBlockingQueue<>();
    private final BlockingQueue<Throwable> failures = new LinkedBlockingQueue<>();

    LoopServiceTest() {
        loop.onFailure((source, failure) -> failures.add(failure));
    }

    @AfterEach
    void close() {
        running.close();
        signals.forEach(Signal::close);
    }

    private Signal signal() {
        Signal signal = new Signal();
        signals.add(signal);
        return signal;
    }

    private static <T> T next(BlockingQueue<T> queue) throws InterruptedException {
        T next = queue.poll(Limit.WAIT_S, TimeUnit.SECONDS);
        assertThat(next).as("nothing came").isNotNull();
        return next;
    }

    /** Numbered things, which are taken in order. The descriptor is readable while there are things. */
    private static class Things extends Source<Integer> {
        private final RpmaEventLoop loop;
        private final Executor executor;
        private final Signal signal;
        private final Consumer<Integer> handler;
        private final AtomicInteger given = new AtomicInteger();
        private int taken;
        private volatile RpmaEventLoop.Registration registration;

        Things(RpmaEventLoop loop, Signal signal, Executor executor, Consumer<Integer> handler) {
            super(signal, signal.object());
            this.loop = loop;
            this.executor = executor;
            this.signal = signal;
            this.handler = handler;
        }

        Things register() {
            registration = (executor == null ? loop : loop.on(executor)).register(this);
            return this;
        }

        boolean isActive() {
            return registration.isActive();
        }

        void cancel() {
            registration.cancel();
        }

        void give(int count) {
            given.addAndGet(count);
            signal.set();
        }

        @Override
        public Integer take() {
            if (taken == given.get()) {
                signal.clear();
            }
            return taken == given.get() ? null : ++taken;
        }

        @Override
        public void call(Integer thing) throws InterruptedException {
            handler.accept(thing);
        }
    }

    private Things register(Signal signal, Executor executor, Consumer<Integer> handler) {
        Things things = new Things(loop, signal, executor, handler);
        return things.register();
    }

    private Things register(Consumer<Integer> handler) {
        return register(signal(), null, handler);
    }

    private Things collect() {
        return register(seen::add);
    }

    private void assertSeen(int count) throws InterruptedException {
        for (int i = 1; i <= count; i++) {
            assertThat(next(seen)).isEqualTo(i);
        }
    }

    @Test
    void servesEverythingInOrderInTheThreadOfTheLoop() throws Exception {
        Things things = register(thing -> {
            assertThat(Thread.currentThread()).isSameAs(running.thread);
            seen.add(thing);
        });
        for (int i = 0; i < 20; i++) {
            things.give(i);
        }
        assertSeen(190);
        assertThat(things.isActive()).isTrue();
        assertThat(failures).isEmpty();
    }

    @Test
    void whatCanNotEvenFailEnds() throws Exception {
        Things things =
                new Things(loop, signal(), Runnable::run, thing -> {
                    throw new IllegalStateException("of a test");
                }) {
                    @Override
                    public boolean survivesCall(Integer thing, Throwable failure) {
                        throw new IllegalStateException("of a test, again", failure);
                    }
                };
        things.register();
        things.give(1);
        assertThat(next(failures)).hasMessage("of a test, again");
        assertThat(things.isActive()).isFalse();
    }

    @Test
    void servesWhatWasThereBefore() throws Exception {
        Things things = new Things(loop, signal(), null, seen::add);
        things.given.set(3);
        things.register();
        assertSeen(3);
    }

    @Test
    void oneThatAlwaysHasSomethingLeavesTheOthersTheirTurn() throws Exception {
        Things endless = register(thing -> {});
        endless.give(Integer.MAX_VALUE);
        Things other = collect();
        other.give(3);
        assertSeen(3);
        running.call(() -> {});
        assertThat(endless.isActive()).isTrue();
    }

    /** With an executor that has one thread, and with an executor that runs its tasks in the thread of the loop. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void alsoWithAnExecutor(boolean atOnce) throws Exception {
        ExecutorService pool = Executors.newSingleThreadExecutor();
        Executor executor = atOnce ? Runnable::run : pool;
        Things endless = register(signal(), executor, thing -> {});
        endless.give(Integer.MAX_VALUE);
        Things other = register(signal(), executor, seen::add);
        other.give(100);
        assertSeen(100);
        running.call(() -> {});
        assertThat(endless.isActive()).isTrue();
        assertThat(failures).isEmpty();
        running.close();
        pool.shutdown();
        assertThat(pool.awaitTermination(Limit.WAIT_S, TimeUnit.SECONDS)).isTrue();
    }

    /** The descriptor stays readable. */
    @Test
    void whatHasNoMemoryIsTriedOnceASecond() throws Exception {
        OutOfMemoryError failure = new OutOfMemoryError("test");
        AtomicBoolean starved = new AtomicBoolean(true);
        Things things = new Things(loop, signal(), null, seen::add) {
            @Override
            public Integer take() {
                if (starved.get()) {
                    throw failure;
                }
                return super.take();
            }

            @Override
            public boolean survives(Throwable failure) {
                return true;
            }

            @Override
            public boolean leavesItem(Throwable failure) {
                return true;
            }
        };
        long start = System.nanoTime();
        things.register();
        things.give(1);
        assertThat(next(failures)).isSameAs(failure);
        ThreadMXBean times = ManagementFactory.getThreadMXBean();
        long processor = times.getThreadCpuTime(running.thread.getId());
        assertThat(next(failures)).isSameAs(failure);
        // the loop sleeps during the pause
        assertThat(times.getThreadCpuTime(running.thread.getId()) - processor)
                .isLessThan(TimeUnit.MILLISECONDS.toNanos(500));
        starved.set(false);
        assertSeen(1);
        long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - start);
        assertThat(seconds).isPositive();
        assertThat(failures).hasSizeLessThanOrEqualTo((int) seconds - 2);
    }

    @Test
    void oneThatCanNotTakeLeavesTheOthersTheirTurnToo() throws Exception {
        ExecutorService executor = Executors.newSingleThreadExecutor();
        RuntimeException failure = new RuntimeException("test");
        Things failing = new Things(loop, signal(), executor, thing -> {}) {
            @Override
            public Integer take() {
                throw failure;
            }

            @Override
            public boolean survives(Throwable failure) {
                return true;
            }
        };
        failing.register();
        failing.give(1);
        register(signal(), executor, seen::add).give(3);
        assertSeen(3);
        assertThat(failing.isActive()).isTrue();
        running.close();
        executor.shutdown();
        assertThat(executor.awaitTermination(Limit.WAIT_S, TimeUnit.SECONDS)).isTrue();
        assertThat(failures).isNotEmpty().containsOnly(failure);
    }

    @Test
    void aHandlerThatThrowsEndsItsRegistrationAlone() throws Exception {
        for (Error failure : List.of(new AssertionError("test"), new OutOfMemoryError("test"))) {
            Things bad = register(thing -> {
                throw failure;
            });
            Things good = collect();
            bad.give(2);
            assertThat(next(failures)).isSameAs(failure);
            assertThat(bad.isActive()).isFalse();
            good.give(2);
            assertSeen(2);
            assertThat(failures).isEmpty();
            assertThat(bad.signal.object().isClosed()).isFalse();
        }
    }

    /** The handler of one object is interrupted while another object is ready in the same turn. */
    @Test
    void anInterruptionEndsNoRegistration() throws Exception {
        CountDownLatch waits = new CountDownLatch(1);
        Things interrupted = new Things(loop, signal(), null, seen::add) {
            @Override
            public void call(Integer thing) throws InterruptedException {
                if (thing == 1) {
                    waits.countDown();
                    new CountDownLatch(1).await();
                }
                super.call(thing);
            }
        };
        Things[] other = new Things[1];
        running.call(() -> {
            interrupted.give(2);
            interrupted.register();
            other[0] = register(thing -> seen.add("other " + thing));
            other[0].give(1);
        });
        waits.await();
        running.thread.interrupt();
        assertThat(running.awaitEnd()).isTrue();
        assertThat(next(failures)).isInstanceOf(InterruptedException.class);
        assertThat(seen).isEmpty();
        assertThat(interrupted.isActive()).isTrue();
        assertThat(other[0].isActive()).isTrue();
        loop.execute(() -> loop.schedule(loop::stop, 1, TimeUnit.MILLISECONDS));
        loop.run();
        assertThat(seen).containsExactlyInAnyOrder(2, "other 1");
        assertThat(failures).isEmpty();
    }

    /** The handler of one object stops the loop while another object is ready in the same turn. */
    @Test
    void aStopEndsNoRegistration() throws Exception {
        Things[] things = new Things[2];
        running.call(() -> {
            for (int i = 0; i < things.length; i++) {
                things[i] = register(thing -> {
                    seen.add(thing);
                    loop.stop();
                });
                things[i].give(2);
            }
        });
        assertThat(running.awaitEnd()).isFalse();
        assertThat(seen).hasSize(1);
        for (int calls = 2; calls <= 4; calls++) {
            loop.run();
            assertThat(seen).hasSize(calls);
        }
        assertThat(seen).containsExactlyInAnyOrder(1, 2, 1, 2);
        assertThat(things).allMatch(Things::isActive);
        assertThat(failures).isEmpty();
    }

    /**
     * The handler of one object stops the loop while the object has more things and another object is ready. The
     * executor runs its tasks in the thread of the loop.
     */
    @Test
    void aStopEndsTheTurnOfAnExecutorInTheThreadOfTheLoop() throws Exception {
        Things[] things = new Things[2];
        running.call(() -> {
            for (int i = 0; i < things.length; i++) {
                things[i] = register(signal(), Runnable::run, thing -> {
                    seen.add(thing);
                    loop.stop();
                });
            }
        });
        running.call(() -> {
            things[0].give(2);
            things[1].give(2);
        });
        assertThat(running.awaitEnd()).isFalse();
        assertThat(seen).hasSize(1);
        for (int calls = 2; calls <= 4; calls++) {
            loop.run();
            assertThat(seen).hasSize(calls);
        }
        assertThat(seen).containsExactlyInAnyOrder(1, 2, 1, 2);
        assertThat(things).allMatch(Things::isActive);
        assertThat(failures).isEmpty();
    }

    /** A stop during a turn of the executor: the turn has 16 calls, and the next run has the others. */
    @Test
    void anExecutorCompletesItsTurnAfterAStop() throws Exception {
        ExecutorService executor = Executors.newSingleThreadExecutor();
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch stopped = new CountDownLatch(1);
        Things things = new Things(loop, signal(), executor, seen::add) {
            @Override
            public void call(Integer thing) throws InterruptedException {
                begun.countDown();
                stopped.await();
                super.call(thing);
                if (thing == 20) {
                    loop.stop();
                }
            }
        };
        things.register();
        things.give(20);
        begun.await();
        loop.stop();
        running.awaitEnd();
        stopped.countDown();
        executor.submit(() -> {}).get();
        assertSeen(16);
        assertThat(seen).isEmpty();
        loop.run();
        assertThat(seen).containsExactly(17, 18, 19, 20);
        assertThat(failures).isEmpty();
        executor.shutdown();
    }

    @Test
    void anInterruptionInAnExecutorEndsTheTurnAlone() throws Exception {
        ExecutorService executor = Executors.newSingleThreadExecutor();
        Things interrupted =
                new Things(loop, signal(), executor, thing -> seen.add(thing + " " + Thread.interrupted())) {
                    @Override
                    public void call(Integer thing) throws InterruptedException {
                        if (thing == 1) {
                            throw new InterruptedException("test");
                        }
                        super.call(thing);
                    }
                };
        interrupted.register();
        interrupted.give(2);
        assertThat(next(seen)).isEqualTo("2 false");
        assertThat(next(failures)).hasMessage("test");
        executor.shutdown();
    }

    @Test
    void aSlowHandlerWithAnExecutorHoldsNobodyUp() throws Exception {
        ExecutorService executor = Executors.newFixedThreadPool(2);
        CountDownLatch go = new CountDownLatch(1);
        AtomicInteger atOnce = new AtomicInteger();
        Things slow = register(signal(), executor, thing -> {
            assertThat(Thread.currentThread()).isNotSameAs(running.thread);
            assertThat(atOnce.incrementAndGet()).isOne();
            try {
                go.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            atOnce.decrementAndGet();
            seen.add(-thing);
        });
        slow.give(1);
        slow.give(4);
        Things quick = collect();
        quick.give(100);
        assertSeen(100);
        go.countDown();
        for (int i = 1; i <= 5; i++) {
            assertThat(next(seen)).isEqualTo(-i);
        }
        slow.give(1);
        assertThat(next(seen)).isEqualTo(-6);
        assertThat(failures).isEmpty();
        executor.shutdown();
    }

    @Test
    void anExecutorMayCallAtOnce() throws Exception {
        Things things = register(signal(), Runnable::run, seen::add);
        things.give(1000);
        assertSeen(1000);
    }

    @Test
    void anExecutorThatRefusesEndsTheRegistration() throws Exception {
        ExecutorService executor = Executors.newSingleThreadExecutor();
        executor.shutdown();
        Things things = register(signal(), executor, seen::add);
        assertThat(next(failures)).isInstanceOf(RejectedExecutionException.class);
        assertThat(things.isActive()).isFalse();
        Things others = collect();
        others.give(1);
        assertSeen(1);
    }

    @Test
    void aHandlerCancelsItself() throws Exception {
        Things[] things = new Things[1];
        running.call(() -> things[0] = register(thing -> {
            seen.add(thing);
            things[0].cancel();
        }));
        things[0].give(5);
        assertSeen(1);
        running.call(() -> {});
        assertThat(seen).isEmpty();
        assertThat(things[0].isActive()).isFalse();
    }

    @Test
    void aHandlerHandsOverToAnother() throws Exception {
        Things[] first = new Things[1];
        running.call(() -> first[0] = register(thing -> {
            first[0].cancel();
            register(first[0].signal, null, seen::add).give(2);
        }));
        first[0].give(1);
        assertSeen(2);
        assertThat(failures).isEmpty();
    }

    @Test
    void nobodyIsCalledAfterCancelOfAnotherThread() throws Exception {
        Things things = collect();
        things.give(2);
        assertSeen(2);
        things.cancel();
        things.cancel();
        things.give(2);
        running.call(() -> {});
        running.call(() -> {});
        assertThat(seen).isEmpty();
    }

    /** A take that has begun completes. Nothing is taken after the other thread's call has returned. */
    @Test
    void nothingIsTakenAfterCancelOfAnotherThread() throws Exception {
        CountDownLatch takes = new CountDownLatch(1);
        AtomicBoolean cancelling = new AtomicBoolean();
        AtomicBoolean cancelled = new AtomicBoolean();
        Thread[] canceller = new Thread[1];
        Things things = new Things(loop, signal(), null, seen::add) {
            @Override
            public Integer take() {
                takes.countDown();
                Eventually.become(
                        "the other thread waits or is done",
                        () -> cancelling.get()
                                && (canceller[0].getState() == Thread.State.WAITING
                                        || canceller[0].getState() == Thread.State.TERMINATED));
                Integer thing = super.take();
                seen.add("taken after the end: " + cancelled.get());
                return thing;
            }
        };
        canceller[0] = new Thread(() -> {
            try {
                takes.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            cancelling.set(true);
            things.cancel();
            cancelled.set(true);
        });
        things.register();
        things.give(2);
        canceller[0].start();
        canceller[0].join();
        // the handler may still be called with a thing that was taken before
        running.call(() -> seen.add("fence"));
        running.call(() -> {});
        assertThat(seen)
                .contains("taken after the end: false")
                .doesNotContain("taken after the end: true")
                .last()
                .isEqualTo("fence");
    }

    @Test
    void theCloseOfTheObjectEndsItsRegistration() throws Exception {
        Things things = collect();
        things.give(1);
        assertSeen(1);
        things.give(1);
        things.signal.close();
        assertThat(things.isActive()).isFalse();
        seen.clear();
        running.call(() -> {});
        assertThat(seen).isEmpty();
        assertThat(failures).isEmpty();
        assertThatIllegalStateException()
                .isThrownBy(() -> register(things.signal, null, seen::add))
                .withMessageEndingWith(things.signal.object() + " is closed");
    }

    @Test
    void descriptorsThatAreUsedAgainAreNotMistaken() throws Exception {
        for (int i = 0; i < 200; i++) {
            Things things = collect();
            things.give(1);
            assertSeen(1);
            things.give(1);
            things.signal.close();
            running.call(() -> {});
            seen.clear();
        }
        assertThat(failures).isEmpty();
    }

    @Test
    void anObjectIsServedOnce() throws Exception {
        Things things = collect();
        try (RpmaEventLoop other = RpmaEventLoop.create()) {
            for (RpmaEventLoop second : List.of(loop, other)) {
                assertThatIllegalStateException()
                        .isThrownBy(() -> new Things(second, things.signal, null, seen::add).register())
                        .withMessage(things.signal.object() + " is served by " + loop);
            }
            things.give(2);
            assertSeen(2);
            things.cancel();
            new Things(other, things.signal, null, seen::add).register().cancel();
        }
        register(things.signal, null, seen::add).give(1);
        assertSeen(1);
    }

    @Test
    void aDescriptorThatTheKernelRefusesIsNamed() {
        Resource object = Fake.unwatchable("Unwatchable");
        assertThatExceptionOfType(RpmaException.class)
                .isThrownBy(() -> loop.register(new Unwatchable(object)))
                .satisfies(e -> assertThat(e.detail()).isEqualTo("epoll_ctl() failed: Bad file descriptor"));
        Fake.close(object, "rpma_conn_cfg_delete", Natives::connCfgDelete);
    }

    private static final class Unwatchable extends Source<Integer> {
        Unwatchable(Resource object) {
            super(object, object);
        }

        @Override
        public Integer take() {
            return null;
        }

        @Override
        public void call(Integer taken) {
            throw new AssertionError("nothing was taken");
        }
    }

    @Test
    void nobodyElseWaitsForAnObjectThatIsServed() throws Exception {
        Things things = collect();
        for (long nanos : new long[] {0, Waiter.FOREVER}) {
            assertThatIllegalStateException()
                    .isThrownBy(() -> Waiter.await("test", things.signal.object(), nanos))
                    .withMessage("test: " + things.signal.object() + " is served by " + loop);
        }
        things.cancel();
        things.signal.set();
        assertThat(Waiter.await("test", things.signal.object(), Waiter.FOREVER)).isTrue();
    }

    @Test
    void theCloseOfTheLoopEndsAllRegistrations() throws Exception {
        List<Things> all = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            all.add(i == 0 ? register(thing -> loop.close()) : collect());
        }
        all.get(0).give(2);
        running.awaitEnd();
        for (Things things : all) {
            assertThat(things.isActive()).isFalse();
            assertThat(things.signal.object().isClosed()).isFalse();
            things.give(1);
            assertThat(Waiter.await("test", things.signal.object(), 0)).isTrue();
        }
        assertThat(seen).isEmpty();
        assertThatIllegalStateException().isThrownBy(this::collect).withMessageEndingWith(name(loop) + " is closed");
    }

    @Test
    void aSlowOneGoesOnAfterTheCloseOfTheLoop() throws Exception {
        ExecutorService executor = Executors.newSingleThreadExecutor();
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        Things slow = register(signal(), executor, thing -> {
            begun.countDown();
            try {
                go.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            seen.add(thing);
        });
        slow.give(2);
        begun.await();
        running.close();
        go.countDown();
        executor.shutdown();
        assertThat(executor.awaitTermination(Limit.WAIT_S, TimeUnit.SECONDS)).isTrue();
        assertThat(seen).containsExactly(1);
        assertThat(failures).isEmpty();
    }

    /**
     * Threads do all this at random times: only the documented exceptions occur, and the loop still serves a new
     * object.
     */
    @Test
    void allThatInAnyOrder() throws Exception {
        Signal[] shared = new Signal[8];
        for (int i = 0; i < shared.length; i++) {
            shared[i] = new Signal();
        }
        ExecutorService executor = Executors.newFixedThreadPool(2);
        int rounds = Integer.getInteger("rpma.race.rounds", 300);
        Together.run(4, thread -> {
            SplittableRandom random = new SplittableRandom(thread);
            for (int i = 0; i < 20 * rounds; i++) {
                int at = random.nextInt(shared.length);
                Signal signal;
                synchronized (shared) {
                    signal = shared[at];
                }
                anyOf(random, signal, executor);
                if (random.nextInt(8) == 0) {
                    signal.close();
                    synchronized (shared) {
                        shared[at] = new Signal();
                    }
                }
            }
        });
        Things last = collect();
        last.give(3);
        Eventually.become("the last one is served", () -> last.taken == 3);
        running.close();
        executor.shutdown();
        for (Signal signal : shared) {
            signal.close();
        }
        assertThat(failures).isEmpty();
    }

    private void anyOf(SplittableRandom random, Signal signal, Executor executor) {
        Things[] things = new Things[1];
        int kind = random.nextInt(4);
        things[0] = new Things(loop, signal, random.nextInt(2) == 0 ? executor : null, thing -> {
            if (kind == 0) {
                things[0].cancel();
            } else if (kind == 1) {
                signal.close();
            }
        });
        try {
            things[0].register();
            things[0].give(1 + random.nextInt(3));
            if (kind != 3) {
                things[0].cancel();
            }
        } catch (IllegalStateException e) {
            assertThat(e.getMessage()).containsPattern("is closed|is served by");
        }
    }
}
