// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.testing.Eventually;
import io.rpma.testing.Limit;
import io.rpma.testing.Pair;
import io.rpma.testing.StandIn;
import io.rpma.testing.TestDevice;
import io.rpma.testing.VirtualThreads;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Many threads wait for completions with all kinds of timeouts while others post and interrupt. Each completion is
 * taken once, no completion remains while a thread waits, and the close of the connection ends every wait.
 * {@code -Drpma.stress.seconds} sets the duration of each test.
 */
@Tag("stand-in")
@Timeout(7200) // for a long run
class WaitStressTest {
    private static final long RUN = TimeUnit.SECONDS.toNanos(Integer.getInteger("rpma.stress.seconds", 5));
    private static final long SEED = Long.getLong("rpma.random.seed", new SplittableRandom().nextLong());
    private static final int CONNECTIONS = 4;
    private static final int WAITERS = 2;
    private static final int QUEUE = 16;
    private static final int ALWAYS = RpmaConn.F_COMPLETION_ALWAYS;

    private final AtomicBoolean over = new AtomicBoolean();
    private final ConcurrentLinkedQueue<Throwable> failures = new ConcurrentLinkedQueue<>();
    private final List<Thread> waiters = new ArrayList<>();
    private final List<Lane> lanes = new ArrayList<>();
    private final ExecutorService platform = Executors.newCachedThreadPool();
    private StandIn standIn;
    private RpmaPeer peer;
    private String before;

    @BeforeEach
    void open() throws InterruptedException {
        standIn = StandIn.open();
        System.out.println("stress of waits with -Drpma.random.seed=" + SEED);
        // the first connection opens resources for the life of the process: do not count them
        Pair.connect().close();
        peer = TestDevice.peer();
        before = StandIn.alive();
    }

    @AfterEach
    void nothingIsLeft() throws InterruptedException {
        over.set(true);
        platform.shutdownNow();
        assertThat(platform.awaitTermination(Limit.WAIT_S, TimeUnit.SECONDS)).isTrue();
        assertThat(StandIn.alive()).isEqualTo(before);
        peer.close();
        standIn.close();
    }

    /** A connection with the counts of its posted and completed writes. */
    private final class Lane {
        final Pair pair;
        final AtomicLong posted = new AtomicLong();
        final AtomicLong taken = new AtomicLong();
        final AtomicLong sum = new AtomicLong();

        Lane() throws InterruptedException {
            try (RpmaConnCfg cfg = RpmaConnCfg.create().setSqSize(QUEUE).setCqSize(QUEUE)) {
                pair = Pair.connect(peer, cfg, cfg);
            }
        }

        /** Posts until the end of the test. Never has more writes outstanding than the queues hold. */
        void post(Random random) {
            while (!over.get()) {
                long number = posted.get();
                if (number - taken.get() < QUEUE) {
                    assertThat(pair.client.write(ALWAYS, number)).isTrue();
                    posted.incrementAndGet();
                }
                if (random.nextInt(64) == 0) {
                    Thread.yield();
                }
            }
        }

        void await(Random random) {
            RpmaCompletions completions = RpmaCompletions.create(1 + random.nextInt(4));
            while (true) {
                try {
                    int count = pair.client.getCq().await(completions, timeout(random), TimeUnit.NANOSECONDS);
                    for (int i = 0; i < count; i++) {
                        assertThat(completions.status(i)).isEqualTo(RpmaWcStatus.SUCCESS);
                        sum.addAndGet(completions.wrId(i));
                    }
                    taken.addAndGet(count);
                } catch (InterruptedException e) {
                    // from interruptSome: wait again
                } catch (IllegalStateException e) {
                    assertThat(e).hasMessageContaining("is closed");
                    return;
                }
            }
        }

        void assertAllTaken() {
            Eventually.become("all completions of " + pair.client + " are taken", () -> taken.get() >= posted.get());
            long count = posted.get();
            assertThat(taken.get()).isEqualTo(count);
            assertThat(sum.get()).isEqualTo(count * (count - 1) / 2);
        }
    }

    private static long timeout(Random random) {
        return switch (random.nextInt(4)) {
            case 0 -> 0;
            case 1 -> random.nextInt(100_000);
            case 2 -> random.nextInt(10_000_000);
            default -> Long.MAX_VALUE;
        };
    }

    private Runnable guarded(Runnable task) {
        return () -> {
            try {
                task.run();
            } catch (Throwable e) {
                failures.add(e);
                over.set(true);
            }
        };
    }

    private void startWaiters(boolean virtual) {
        Random seeds = new Random(SEED);
        for (Lane lane : lanes) {
            for (int i = 0; i < WAITERS; i++) {
                Random random = new Random(seeds.nextLong());
                Runnable task = guarded(() -> lane.await(random));
                if (virtual) {
                    waiters.add(VirtualThreads.start(task));
                } else {
                    Thread thread = new Thread(task);
                    thread.setDaemon(true);
                    thread.start();
                    waiters.add(thread);
                }
            }
            Random random = new Random(seeds.nextLong());
            platform.execute(guarded(() -> lane.post(random)));
        }
        Random random = new Random(seeds.nextLong());
        platform.execute(guarded(() -> interruptSome(random)));
    }

    private void interruptSome(Random random) {
        while (!over.get()) {
            waiters.get(random.nextInt(waiters.size())).interrupt();
            Thread.yield();
        }
    }

    /** Virtual threads came with JDK 21. */
    private static Stream<Boolean> kindsOfThreads() {
        return Runtime.version().feature() < 21 ? Stream.of(false) : Stream.of(false, true);
    }

    @ParameterizedTest(name = "virtual: {0}")
    @MethodSource("kindsOfThreads")
    void everyCompletionIsTakenOnce(boolean virtual) throws InterruptedException {
        for (int i = 0; i < CONNECTIONS; i++) {
            lanes.add(new Lane());
        }
        startWaiters(virtual);
        long start = System.nanoTime();
        while (!over.get() && System.nanoTime() - start < RUN) {
            platform.awaitTermination(10, TimeUnit.MILLISECONDS);
        }
        over.set(true);
        platform.shutdown();
        assertThat(platform.awaitTermination(Limit.WAIT_S, TimeUnit.SECONDS)).isTrue();
        assertThat(failures).isEmpty();
        lanes.forEach(Lane::assertAllTaken);
        lanes.forEach(lane -> lane.pair.close());
        for (Thread waiter : waiters) {
            waiter.join(TimeUnit.SECONDS.toMillis(Limit.WAIT_S));
            assertThat(waiter.isAlive()).isFalse();
        }
        assertThat(failures).isEmpty();
    }
}
