// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import io.rpma.internal.Natives;
import io.rpma.internal.Resource;
import io.rpma.internal.Signal;
import io.rpma.internal.loop.CompletionSource;
import io.rpma.internal.loop.PeerProbe;
import io.rpma.testing.Limit;
import io.rpma.testing.RunningLoop;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongPredicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** How a loop checks the other side of a connection. The queue of these tests needs no device. */
class PeerCheckTest {
    private static final long NEVER_MS = TimeUnit.DAYS.toMillis(1);
    private static final int FLUSHED = RpmaWcStatus.WR_FLUSH_ERR.ordinal();
    private static final int CAPACITY = 4;
    private static final int WC_SIZE = 48;

    private final RunningLoop running = new RunningLoop();
    private final RpmaEventLoop loop = running.loop;
    private final Signal signal = new Signal();
    private final BlockingQueue<Long> probes = new LinkedBlockingQueue<>();
    private final BlockingQueue<Long> seen = new LinkedBlockingQueue<>();
    private final BlockingQueue<Thread> lost = new LinkedBlockingQueue<>();
    private final BlockingQueue<Throwable> failures = new LinkedBlockingQueue<>();
    private final Queue queue = new Queue(signal.object());

    /** Posts a probe: by default without an answer. */
    private volatile LongPredicate post = context -> true;

    PeerCheckTest() {
        loop.onFailure((source, failure) -> {
            assertThat(source).isSameAs(queue);
            failures.add(failure);
        });
    }

    @AfterEach
    void close() {
        running.close();
        signal.close();
    }

    /** A queue whose completions come from the test. */
    private final class Queue extends PeerProbe {
        private final ConcurrentLinkedQueue<long[]> completed = new ConcurrentLinkedQueue<>();

        Queue(Resource object) {
            super(object);
        }

        void complete(long context, int status) {
            completed.add(new long[] {context, status});
            signal.set();
        }

        @Override
        protected boolean post(long context) {
            probes.add(context);
            return post.test(context);
        }

        private int take(RpmaCompletions completions) {
            ByteBuffer wcs = Natives.memoryBuffer(completions.address(), (long) completions.capacity() * WC_SIZE)
                    .order(ByteOrder.nativeOrder());
            int count = 0;
            while (count < completions.capacity() && !completed.isEmpty()) {
                long[] next = completed.remove();
                wcs.putLong(count * WC_SIZE, next[0]).putInt(count * WC_SIZE + Long.BYTES, (int) next[1]);
                count++;
            }
            completions.filled(count);
            return count;
        }
    }

    /** Takes the completions as the sources of the facades do. */
    private final class Source extends CompletionSource<RpmaCompletions> {
        private final RpmaCompletions completions;

        Source(int capacity) {
            super(queue, queue.queue());
            completions = RpmaCompletions.create(capacity);
        }

        @Override
        protected RpmaCompletions takeNext() {
            signal.clear();
            return queue.take(completions) == 0 ? null : completions;
        }

        @Override
        protected PeerProbe probe() {
            return queue;
        }

        @Override
        protected boolean removeProbe(RpmaCompletions from, PeerProbe probe) {
            return from.removeProbe(probe);
        }

        @Override
        public void call(RpmaCompletions taken) {
            for (int i = 0; i < taken.count(); i++) {
                seen.add(taken.wrId(i));
            }
        }
    }

    private RpmaEventLoop.Registration serve(int capacity) {
        return loop.register(new Source(capacity));
    }

    private RpmaEventLoop.Registration check(long periodMs, long limitMs) {
        return loop.check(queue, queue, periodMs, limitMs, TimeUnit.MILLISECONDS, source -> {
            assertThat(source).isSameAs(queue);
            lost.add(Thread.currentThread());
        });
    }

    private static <T> T next(BlockingQueue<T> queue) throws InterruptedException {
        T next = queue.poll(Limit.WAIT_S, TimeUnit.SECONDS);
        assertThat(next).as("nothing came").isNotNull();
        return next;
    }

    @Test
    void aSideThatDoesNotAnswerIsLostOnce() throws Exception {
        serve(CAPACITY);
        RpmaEventLoop.Registration check = check(1, 20);
        assertThat(next(lost)).isSameAs(running.thread);
        assertThat(check.isActive()).isFalse();
        running.call(() -> {});
        assertThat(probes).as("a second probe before the answer to the first").hasSize(1);
        assertThat(lost).isEmpty();
        assertThat(failures).isEmpty();
    }

    @Test
    void anExecutorCallsTheHandler() throws Exception {
        ExecutorService executor = Executors.newSingleThreadExecutor();
        try {
            serve(CAPACITY);
            loop.on(executor)
                    .check(queue, queue, 1, 1, TimeUnit.MILLISECONDS, source -> lost.add(Thread.currentThread()));
            assertThat(next(lost)).isNotSameAs(running.thread);
        } finally {
            executor.shutdown();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, CAPACITY})
    void answersKeepTheCheckAndDoNotReachTheProgram(int capacity) throws Exception {
        post = context -> {
            queue.complete(context, 0);
            return true;
        };
        serve(capacity);
        RpmaEventLoop.Registration check = check(1, NEVER_MS);
        for (int i = 0; i < 20; i++) {
            next(probes);
        }
        assertThat(check.isActive()).isTrue();
        assertThat(seen).isEmpty();
        assertThat(lost).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 10})
    void theOtherCompletionsKeepTheirOrder(int capacity) throws Exception {
        post = context -> {
            queue.complete(1, 0);
            queue.complete(2, 0);
            queue.complete(context, 0);
            queue.complete(3, 0);
            return true;
        };
        serve(capacity);
        RpmaEventLoop.Registration check = check(1, NEVER_MS);
        for (int i = 0; i < 5; i++) {
            for (long context = 1; context <= 3; context++) {
                assertThat(next(seen)).isEqualTo(context);
            }
        }
        check.cancel();
    }

    @Test
    void onlyOneCompletionIsTakenForOneProbe() throws Exception {
        post = context -> {
            queue.complete(context, 0);
            queue.complete(context, 0);
            return true;
        };
        serve(CAPACITY);
        check(1, NEVER_MS);
        assertThat(next(seen)).isEqualTo(next(probes));
    }

    /** The first is that of an earlier check. */
    @Test
    void theCompletionsOfTwoProbesCanComeTogether() throws Exception {
        serve(CAPACITY);
        RpmaEventLoop.Registration first = check(1, NEVER_MS);
        long context = next(probes);
        first.cancel();
        check(1, NEVER_MS);
        assertThat(next(probes)).isEqualTo(context);
        queue.completed.add(new long[] {context, 0});
        queue.completed.add(new long[] {context, 0});
        queue.complete(5, 0);
        assertThat(next(seen)).isEqualTo(5);
        assertThat(seen).isEmpty();
    }

    @Test
    void completionsOfTheProgramAreASign() throws Exception {
        Source source = new Source(1);
        // only this test takes completions
        loop.stop();
        running.awaitEnd();
        serve(CAPACITY);
        RpmaEventLoop.Registration check = check(NEVER_MS, NEVER_MS);
        assertThat(queue.takeSign()).as("the registration").isTrue();
        assertThat(queue.takeSign()).isFalse();
        queue.limitReached();
        queue.completed.add(new long[] {5, 0});
        assertThat(source.take()).isNotNull();
        assertThat(source.take()).isNull();
        assertThat(queue.takeSign()).isTrue();
        queue.completed.add(new long[] {6, FLUSHED});
        assertThat(source.take()).isNotNull();
        assertThat(queue.takeSign()).as("a failure").isFalse();
        assertThat(check.isActive()).isTrue();
        assertThat(probes).isEmpty();
    }

    @Test
    void aLossAfterTheEndOfTheServiceIsSilent() throws Exception {
        RpmaEventLoop.Registration service = serve(CAPACITY);
        RpmaEventLoop.Registration check = check(1, NEVER_MS);
        long probe = next(probes);
        running.call(service::cancel);
        assertThat(check.isActive()).isFalse();
        queue.completed.add(new long[] {probe, FLUSHED});
        running.call(() -> {});
        assertThat(lost).isEmpty();
    }

    @Test
    void aFailedProbeIsALoss() throws Exception {
        post = context -> {
            queue.complete(7, FLUSHED);
            queue.complete(context, FLUSHED);
            return true;
        };
        serve(CAPACITY);
        check(1, NEVER_MS);
        next(lost);
        assertThat(next(seen)).isEqualTo(7);
    }

    @Test
    void aFullQueueIsALossOnlyIfNothingCompletes() throws Exception {
        post = context -> {
            if (probes.size() < 10) {
                queue.complete(1, 0);
            }
            return false;
        };
        serve(CAPACITY);
        check(1, 200);
        next(lost);
        assertThat(probes).hasSizeGreaterThanOrEqualTo(10);
        assertThat(seen).isNotEmpty().containsOnly(1L);
    }

    /** The send queue has no room for the first probe, and the post of the second one takes half the limit. */
    @Test
    void aProbeThatIsPostedLaterHasTheWholeLimit() throws Exception {
        long limitMs = 1000;
        AtomicLong posted = new AtomicLong();
        post = context -> {
            if (probes.size() == 1) {
                return false;
            }
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(limitMs / 2));
            posted.set(System.nanoTime());
            return true;
        };
        serve(CAPACITY);
        check(1, limitMs);
        next(lost);
        assertThat(probes).hasSize(2);
        assertThat(System.nanoTime() - posted.get()).isGreaterThanOrEqualTo(TimeUnit.MILLISECONDS.toNanos(limitMs));
    }

    @Test
    void anAnswerBehindASlowHandlerCounts() throws Exception {
        long limitMs = 2;
        post = context -> {
            // the handler of another object, for example
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(3 * limitMs));
            queue.completed.add(new long[] {context, 0});
            return true;
        };
        serve(CAPACITY);
        RpmaEventLoop.Registration check = check(1, limitMs);
        for (int i = 0; i < 5; i++) {
            next(probes);
        }
        assertThat(check.isActive()).isTrue();
        assertThat(lost).isEmpty();
    }

    @Test
    void aPostThatFailsEndsTheCheck() throws Exception {
        post = context -> {
            throw new IllegalArgumentException("of a test");
        };
        serve(CAPACITY);
        RpmaEventLoop.Registration check = check(1, NEVER_MS);
        assertThat(next(failures)).hasMessage("of a test");
        assertThat(check.isActive()).isFalse();
        assertThat(lost).isEmpty();
    }

    @Test
    void failuresOfTheHandlerAndOfTheExecutorAreReported() throws Exception {
        serve(CAPACITY);
        loop.check(queue, queue, 1, 1, TimeUnit.MILLISECONDS, source -> {
            throw new IllegalStateException("of a test");
        });
        assertThat(next(failures)).hasMessage("of a test");
        RpmaEventLoop.Registration check = loop.on(task -> {
                    throw new RejectedExecutionException("of a test, too");
                })
                .check(queue, queue, 1, 1, TimeUnit.MILLISECONDS, source -> lost.add(Thread.currentThread()));
        assertThat(next(failures)).hasMessage("of a test, too");
        assertThat(check.isActive()).isFalse();
        assertThat(lost).isEmpty();
    }

    @Test
    void aReportThatTheExecutorDropsKeepsTheCheck() throws Exception {
        serve(CAPACITY);
        BlockingQueue<Runnable> dropped = new LinkedBlockingQueue<>();
        RpmaEventLoop.Registration check = loop.on(dropped::add)
                .check(queue, queue, 1, 1, TimeUnit.MILLISECONDS, source -> lost.add(Thread.currentThread()));
        Runnable report = next(dropped);
        assertThat(check.isActive()).isTrue();
        check.cancel();
        report.run();
        running.call(() -> {});
        assertThat(lost).isEmpty();
        assertThat(dropped).isEmpty();
        check(1, 1);
        next(lost);
    }

    @Test
    void aCancelledCheckIsSilent() throws Exception {
        serve(CAPACITY);
        RpmaEventLoop.Registration check = check(1, NEVER_MS);
        long context = next(probes);
        check.cancel();
        check.cancel();
        assertThat(check.isActive()).isFalse();
        queue.complete(context, FLUSHED);
        queue.complete(5, 0);
        assertThat(next(seen)).as("the completion of the probe is taken out").isEqualTo(5);
        running.call(() -> {});
        assertThat(lost).isEmpty();
        assertThat(probes).isEmpty();
    }

    @Test
    void theEndOfTheServiceEndsTheCheck() throws Exception {
        RpmaEventLoop.Registration service = serve(CAPACITY);
        RpmaEventLoop.Registration check = check(1, NEVER_MS);
        next(probes);
        service.cancel();
        assertThat(check.isActive()).isFalse();
        serve(CAPACITY);
        RpmaEventLoop.Registration second = check(1, 1);
        next(lost);
        assertThat(second.isActive()).isFalse();
        assertThat(probes)
                .as("a probe of its own, because the program can have taken the first")
                .hasSize(1);
    }

    @Test
    void closesEndTheCheck() {
        serve(CAPACITY);
        RpmaEventLoop.Registration check = check(1, NEVER_MS);
        signal.close();
        assertThat(check.isActive()).isFalse();
        assertThatIllegalStateException().isThrownBy(() -> check(1, 1)).withMessageEndingWith("is closed");
    }

    @Test
    void theCloseOfTheLoopEndsTheCheck() {
        serve(CAPACITY);
        RpmaEventLoop.Registration check = check(1, NEVER_MS);
        running.close();
        assertThat(check.isActive()).isFalse();
        assertThatIllegalStateException().isThrownBy(() -> check(1, 1)).withMessageEndingWith("is closed");
    }

    @Test
    void aStopKeepsTheCheck() throws Exception {
        serve(CAPACITY);
        loop.stop();
        running.awaitEnd();
        RpmaEventLoop.Registration check = check(1, 1);
        assertThat(check.isActive()).isTrue();
        Thread again = new Thread(() -> {
            try {
                loop.run();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        });
        again.start();
        next(lost);
        loop.close();
        again.join();
    }

    @Test
    void oneLoopServesAndChecksAConnection() {
        assertThatIllegalStateException()
                .isThrownBy(() -> check(1, 1))
                .withMessageContaining("does not serve")
                .withMessageContaining("register a handler of its completions first");
        RpmaEventLoop.Registration service = serve(CAPACITY);
        try (RpmaEventLoop other = RpmaEventLoop.create()) {
            assertThatIllegalStateException()
                    .isThrownBy(() -> other.check(queue, queue, 1, 1, TimeUnit.SECONDS, source -> {}))
                    .withMessageContaining("does not serve");
        }
        check(NEVER_MS, NEVER_MS);
        assertThatIllegalStateException().isThrownBy(() -> check(1, 1)).withMessageContaining("is checked by");
        service.cancel();
        assertThatIllegalStateException().isThrownBy(() -> check(1, 1)).withMessageContaining("does not serve");
    }

    @ParameterizedTest
    @CsvSource({"0, 1, period", "-1, 1, period", "1, 0, limit", "1, -9223372036854775808, limit"})
    void refusesTimesThatAreNotPositive(long period, long limit, String name) {
        serve(CAPACITY);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> check(period, limit))
                .withMessageStartingWith(name + " must be positive: ");
    }

    @Test
    void acceptsTheLongestTimes() {
        serve(CAPACITY);
        RpmaEventLoop.Registration check = check(Long.MAX_VALUE, Long.MAX_VALUE);
        assertThat(check.isActive()).isTrue();
        assertThat(check).hasToString("a check in " + loop);
    }

    @Test
    void refusesNull() {
        serve(CAPACITY);
        assertThatNullPointerException()
                .isThrownBy(() -> loop.check(queue, queue, 1, 1, TimeUnit.SECONDS, null))
                .withMessage("handler");
        assertThatNullPointerException()
                .isThrownBy(() -> loop.check(queue, queue, 1, 1, null, source -> {}))
                .withMessage("unit");
    }
}
