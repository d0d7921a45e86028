// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import io.rpma.programs.DescriptorLimitProgram;
import io.rpma.testing.Eventually;
import io.rpma.testing.Jvm;
import io.rpma.testing.Together;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Waits for an object that has no descriptor (a configuration). Such a wait ends at its timeout, by an interrupt or by
 * the close of the object.
 */
class WaiterTest {
    private static final String OPERATION = "rpma_conn_next_event";
    private static final long MILLISECOND = TimeUnit.MILLISECONDS.toNanos(1);

    private final Resource object = Fake.unwatchable("Waitable");

    @AfterEach
    void close() {
        Fake.close(object, "rpma_conn_cfg_delete", Natives::connCfgDelete);
    }

    /** A thread in a wait without a timeout. */
    private final class Waiting {
        private final FutureTask<Boolean> wait =
                new FutureTask<>(() -> Waiter.await(OPERATION, object, Waiter.FOREVER));
        private final Thread thread = new Thread(wait, "waiting");

        Waiting() {
            thread.setDaemon(true);
            thread.start();
            Eventually.become("the thread waits", () -> isBlocked(thread));
        }

        Throwable failure() throws InterruptedException {
            try {
                throw new AssertionError("the wait returned " + wait.get());
            } catch (ExecutionException e) {
                return e.getCause();
            }
        }
    }

    private static boolean isBlocked(Thread thread) {
        StackTraceElement[] stack = thread.getStackTrace();
        return stack.length > 0 && stack[0].getClassName().equals(Natives.class.getName());
    }

    @Test
    void endsWithTheTime() throws InterruptedException {
        for (long millis : new long[] {0, 1, 50}) {
            long start = System.nanoTime();
            assertThat(Waiter.await(OPERATION, object, millis * MILLISECOND)).isFalse();
            assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(millis * MILLISECOND);
        }
    }

    @Test
    void endsWithTheCloseOfTheObject() throws InterruptedException {
        Waiting waiting = new Waiting();
        close();
        assertThat(waiting.failure())
                .isInstanceOf(IllegalStateException.class)
                .hasMessage(OPERATION + ": " + object + " is closed");
    }

    @Test
    void allEndWithTheCloseOfTheObject() throws InterruptedException {
        List<Waiting> all = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            all.add(new Waiting());
        }
        close();
        for (Waiting waiting : all) {
            assertThat(waiting.failure()).isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void doesNotBeginWhenTheObjectIsClosed() {
        close();
        for (long nanos : new long[] {0, MILLISECOND, Long.MAX_VALUE, Waiter.FOREVER}) {
            assertThatIllegalStateException().isThrownBy(() -> Waiter.await(OPERATION, object, nanos));
        }
    }

    @Test
    void endsWithAnInterrupt() throws InterruptedException {
        Waiting waiting = new Waiting();
        waiting.thread.interrupt();
        assertThat(waiting.failure()).isInstanceOf(InterruptedException.class).hasMessageContaining(object.toString());
    }

    @Test
    void doesNotBeginWhenInterrupted() throws InterruptedException {
        for (long nanos : new long[] {0, Waiter.FOREVER}) {
            Thread.currentThread().interrupt();
            assertThatExceptionOfType(InterruptedException.class)
                    .isThrownBy(() -> Waiter.await(OPERATION, object, nanos));
            assertThat(Thread.interrupted()).isFalse();
        }
        assertThat(Waiter.await(OPERATION, object, MILLISECOND)).isFalse();
    }

    /** JDK 23 and later can wake a thread after its wait has ended. */
    @Test
    void aWakeUpThatIsLateEndsNoWait() throws InterruptedException {
        Waiter waiter = Waiter.take();
        waiter.giveBack();
        for (int i = 0; i < 2; i++) {
            waiter.wake();
            long start = System.nanoTime();
            assertThat(Waiter.await(OPERATION, object, 20 * MILLISECOND)).isFalse();
            assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(20 * MILLISECOND);
            Waiter next = Waiter.take();
            try {
                assertThat(next).isSameAs(waiter);
                assertThat(Natives.await(object.handle(), next.begun(), 0))
                        .as("it is woken no more")
                        .isEqualTo(Result.TIMED_OUT);
            } finally {
                next.giveBack();
            }
        }
    }

    @Test
    void anInterruptEndsOneWaitAndNotTheNext() throws Exception {
        long seed = new Random().nextLong();
        System.out.println("WaiterTest: seed " + seed);
        Random random = new Random(seed);
        int[] interrupted = new int[1];
        Thread[] waiting = new Thread[1];
        boolean[] done = new boolean[1];
        Together.run(2, thread -> {
            if (thread == 0) {
                synchronized (done) {
                    waiting[0] = Thread.currentThread();
                }
                for (int i = 0; i < 300 || interrupted[0] == 0; i++) {
                    try {
                        Waiter.await(OPERATION, object, random.nextInt(300_000));
                    } catch (InterruptedException e) {
                        interrupted[0]++;
                    }
                }
                synchronized (done) {
                    done[0] = true;
                    waiting[0] = null;
                }
                Thread.interrupted();
                long start = System.nanoTime();
                assertThat(Waiter.await(OPERATION, object, 20 * MILLISECOND)).isFalse();
                assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(20 * MILLISECOND);
            } else {
                boolean over = false;
                while (!over) {
                    synchronized (done) {
                        over = done[0];
                        if (waiting[0] != null) {
                            waiting[0].interrupt();
                        }
                    }
                    Thread.yield();
                }
            }
        });
        assertThat(interrupted[0]).isPositive();
    }

    @Test
    void waitsAndClosesInAnyOrder() throws Exception {
        for (int round = 0; round < 300; round++) {
            Resource other = Fake.unwatchable("Waitable");
            Together.run(3, thread -> {
                if (thread == 0) {
                    Fake.close(other, "rpma_conn_cfg_delete", Natives::connCfgDelete);
                } else {
                    assertThatIllegalStateException().isThrownBy(() -> Waiter.await(OPERATION, other, Waiter.FOREVER));
                }
            });
        }
    }

    @Test
    void theLongestTimeoutIsNotShort() throws InterruptedException {
        FutureTask<Boolean> wait =
                new FutureTask<>(() -> Waiter.await(OPERATION, object, Waiter.nanos(Long.MAX_VALUE, TimeUnit.DAYS)));
        Thread thread = new Thread(wait, "waiting long");
        thread.setDaemon(true);
        thread.start();
        Eventually.become("the thread waits", () -> isBlocked(thread));
        close();
        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(wait::get)
                .withCauseInstanceOf(IllegalStateException.class);
    }

    @Test
    void descriptorsAreUsedAgain() throws Exception {
        Waiter.await(OPERATION, object, 1);
        int before = openDescriptors();
        Together.run(4, thread -> {
            for (int i = 0; i < 500; i++) {
                Waiter.await(OPERATION, object, i % 100);
            }
        });
        assertThat(openDescriptors()).isLessThanOrEqualTo(before + 8);
    }

    @Test
    void closedObjectsGiveTheirDescriptorsBack() throws Exception {
        Waiter.await(OPERATION, object, 1);
        int before = openDescriptors();
        for (int i = 0; i < 200; i++) {
            Resource other = Fake.unwatchable("Waitable");
            // a wait that could block: it makes the descriptor that ends it at close
            assertThat(Waiter.await(OPERATION, other, 1_000_000)).isFalse();
            Fake.close(other, "rpma_conn_cfg_delete", Natives::connCfgDelete);
        }
        assertThat(openDescriptors()).isLessThanOrEqualTo(before + 8);
    }

    private static int openDescriptors() throws IOException {
        try (Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"))) {
            return (int) descriptors.count();
        }
    }

    @Test
    void failsWithoutDescriptors(@TempDir Path directory) throws Exception {
        String file = directory.resolve("file").toString();
        Jvm.Finished finished = Jvm.likeThis().under("prlimit", "--nofile=256").run(DescriptorLimitProgram.class, file);
        assertThat(finished.status()).as(finished.toString()).isZero();
        String remedy =
                "; too many descriptors are open: see ulimit -n (RLIMIT_NOFILE=256), and /proc/sys/fs/file-max for all"
                        + " processes together";
        assertThat(finished.out().lines())
                .containsExactly(
                        "eventfd failed: Provider error occurred (PROVIDER): Too many open files (EMFILE)" + remedy,
                        "epoll_create1 failed: Provider error occurred (PROVIDER): epoll_create1() failed: Too many open files"
                                + remedy,
                        file + ": Too many open files" + remedy,
                        "/sys: its description /sys can't be read: java.nio.file.FileSystemException: /sys/size: Too many"
                                + " open files" + remedy,
                        OPERATION + " failed: Provider error occurred (PROVIDER): eventfd() failed: Too many open files"
                                + remedy,
                        "false");
    }

    @Test
    void timeouts() {
        assertThat(Waiter.nanos(0, TimeUnit.SECONDS)).isZero();
        assertThat(Waiter.nanos(2, TimeUnit.MILLISECONDS)).isEqualTo(2_000_000);
        assertThat(Waiter.nanos(Long.MAX_VALUE, TimeUnit.SECONDS)).isEqualTo(Long.MAX_VALUE);
        assertThatIllegalArgumentException().isThrownBy(() -> Waiter.nanos(-1, TimeUnit.SECONDS));
        assertThatIllegalArgumentException().isThrownBy(() -> Waiter.nanos(Long.MIN_VALUE, TimeUnit.SECONDS));
        assertThatNullPointerException().isThrownBy(() -> Waiter.nanos(1, null));
        long now = System.nanoTime();
        assertThat(Waiter.left(Waiter.FOREVER, now)).isEqualTo(Waiter.FOREVER);
        assertThat(Waiter.left(0, now)).isZero();
        assertThat(Waiter.left(1, now - MILLISECOND)).isZero();
        assertThat(Waiter.left(Long.MAX_VALUE, now)).isPositive();
    }
}
