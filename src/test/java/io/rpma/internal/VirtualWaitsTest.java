// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.rpma.programs.RefusedThreadProgram;
import io.rpma.programs.VirtualWaitsProgram;
import io.rpma.testing.Eventually;
import io.rpma.testing.Jvm;
import io.rpma.testing.Limit;
import io.rpma.testing.Together;
import io.rpma.testing.VirtualThreads;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;

/** The waits of virtual threads end in the same ways as the waits of platform threads. */
@Tag("newer-jdk")
@EnabledForJreRange(min = JRE.JAVA_21, disabledReason = "virtual threads came with JDK 21")
class VirtualWaitsTest {
    private static final String OPERATION = "rpma_conn_next_event";
    private static final long MILLISECOND = TimeUnit.MILLISECONDS.toNanos(1);

    private final Signal signal = new Signal();

    @AfterEach
    void close() {
        signal.close();
    }

    /** A virtual thread that waits. */
    private static final class Waiting {
        private final FutureTask<Boolean> wait;
        private final Thread thread;

        Waiting(Signal signal, long nanos) {
            wait = new FutureTask<>(() -> {
                assertThat(Waiter.isVirtual()).isTrue();
                return Waiter.await(OPERATION, signal.object(), nanos);
            });
            thread = VirtualThreads.start(wait);
        }

        void awaitParked() {
            Eventually.become(
                    "the thread is parked",
                    () -> thread.getState() == Thread.State.WAITING || thread.getState() == Thread.State.TIMED_WAITING);
        }

        boolean result() throws Exception {
            return wait.get(Limit.WAIT_S, TimeUnit.SECONDS);
        }

        Throwable failure() throws Exception {
            try {
                throw new AssertionError("the wait returned " + result());
            } catch (ExecutionException e) {
                return e.getCause();
            }
        }
    }

    @Test
    void otherThreadsAreNotVirtual() {
        assertThat(Waiter.isVirtual()).isFalse();
    }

    @Test
    void endWithWhatTheyWaitFor() throws Exception {
        Waiting waiting = new Waiting(signal, Waiter.FOREVER);
        waiting.awaitParked();
        signal.set();
        assertThat(waiting.result()).isTrue();
        assertThat(new Waiting(signal, Waiter.FOREVER).result()).isTrue();
        signal.clear();
        assertThat(new Waiting(signal, MILLISECOND).result()).isFalse();
    }

    @Test
    void allEndThatWaitForOneObject() throws Exception {
        List<Waiting> all = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            all.add(new Waiting(signal, i % 2 == 0 ? Waiter.FOREVER : 3_600_000 * MILLISECOND));
        }
        all.forEach(Waiting::awaitParked);
        signal.set();
        for (Waiting waiting : all) {
            assertThat(waiting.result()).isTrue();
        }
    }

    @Test
    void endWithTheTime() throws Exception {
        for (long millis : new long[] {0, 1, 50}) {
            long start = System.nanoTime();
            assertThat(new Waiting(signal, millis * MILLISECOND).result()).isFalse();
            assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(millis * MILLISECOND);
        }
    }

    @Test
    void theEndOfOneLeavesTheOthers() throws Exception {
        Waiting patient = new Waiting(signal, Waiter.FOREVER);
        assertThat(new Waiting(signal, MILLISECOND).result()).isFalse();
        Waiting interrupted = new Waiting(signal, Waiter.FOREVER);
        interrupted.awaitParked();
        interrupted.thread.interrupt();
        assertThat(interrupted.failure()).isInstanceOf(InterruptedException.class);
        signal.set();
        assertThat(patient.result()).isTrue();
    }

    @Test
    void endWithAnInterrupt() throws Exception {
        Waiting waiting = new Waiting(signal, Waiter.FOREVER);
        waiting.awaitParked();
        waiting.thread.interrupt();
        assertThat(waiting.failure())
                .isInstanceOf(InterruptedException.class)
                .hasMessageContaining(signal.object().toString());
    }

    @Test
    void endWithTheCloseOfTheObject() throws Exception {
        List<Waiting> all = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            all.add(new Waiting(signal, i % 2 == 0 ? Waiter.FOREVER : 3_600_000 * MILLISECOND));
        }
        all.forEach(Waiting::awaitParked);
        signal.close();
        all.add(new Waiting(signal, Waiter.FOREVER));
        for (Waiting waiting : all) {
            assertThat(waiting.failure())
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage(OPERATION + ": " + signal.object() + " is closed");
        }
    }

    @Test
    void waitAndCloseInAnyOrder() throws Exception {
        for (int round = 0; round < 300; round++) {
            Signal other = new Signal();
            Waiting[] waiting = new Waiting[3];
            Together.run(3, thread -> {
                waiting[thread] = new Waiting(other, Waiter.FOREVER);
                if (thread == 0) {
                    other.close();
                }
            });
            for (Waiting one : waiting) {
                assertThat(one.failure()).isInstanceOf(IllegalStateException.class);
            }
        }
    }

    @Test
    void waitAndWakeInAnyOrder() throws Exception {
        for (int round = 0; round < 300; round++) {
            int quarters = round % 2;
            Waiting[] waiting = new Waiting[3];
            Together.run(3, thread -> {
                if (thread == 2) {
                    new Waiting(signal, 1 + quarters * MILLISECOND / 4).result();
                }
                waiting[thread] = new Waiting(signal, Waiter.FOREVER);
                if (thread == 0) {
                    signal.set();
                }
            });
            for (Waiting one : waiting) {
                assertThat(one.result()).isTrue();
            }
            signal.clear();
        }
    }

    @Test
    void tellWhyTheyCanNotBegin() throws Exception {
        Resource object = Fake.unwatchable("Unwatchable");
        FutureTask<Boolean> wait = new FutureTask<>(() -> Waiter.await(OPERATION, object, Waiter.FOREVER));
        VirtualThreads.start(wait);
        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(() -> wait.get(Limit.WAIT_S, TimeUnit.SECONDS))
                .havingCause()
                .withMessage(
                        "epoll_ctl failed: Provider error occurred (PROVIDER): epoll_ctl() failed: Bad file descriptor");
        Fake.close(object, "rpma_conn_cfg_delete", Natives::connCfgDelete);
    }

    @Test
    void aThousandWaitOnOneCarrier() throws Exception {
        Jvm.Finished end = Jvm.likeThis()
                .options("-Djdk.virtualThreadScheduler.parallelism=1", "-Djdk.virtualThreadScheduler.maxPoolSize=1")
                .run(VirtualWaitsProgram.class, "1000");
        assertThat(end.status()).as(end.toString()).isZero();
        assertThat(end.out()).contains(VirtualWaitsProgram.ALL_WOKEN + 1000);
    }

    /** Two virtual threads wait for one object, and the scheduler of the first thread refuses to continue it. */
    @Test
    void oneThatCanNotGoOnDoesNotKeepTheOthers() throws Exception {
        Jvm.Finished end = Jvm.likeThis()
                .options("--add-opens=java.base/java.lang=ALL-UNNAMED")
                .run(RefusedThreadProgram.class);
        assertThat(end.status()).as(end.toString()).isZero();
        assertThat(end.out().lines()).containsExactly("woken: true", "reported: refused");
    }
}
