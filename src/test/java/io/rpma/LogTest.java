package io.rpma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.rpma.testing.Eventually;
import io.rpma.testing.Jvm;
import io.rpma.testing.LoadProgram;
import io.rpma.testing.LogCapture;
import io.rpma.testing.Together;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What librpma logs, made by asking for the device of an address that is only for documentation. */
@Timeout(60)
class LogTest {
    private static final String NOBODYS = "192.0.2.1";
    private static final int RING = 256;

    private static RpmaException fail(String address) {
        RpmaException failure = catchThrowableOfType(RpmaException.class, () -> RpmaDevice.local(address));
        assertThat(failure).isNotNull();
        return failure;
    }

    @Test
    void theLoggerGetsWhatTheExceptionSays() {
        try (LogCapture log = new LogCapture()) {
            RpmaException failure = fail(NOBODYS);
            assertThat(String.join("; ", log.messages()))
                    .isEqualTo(failure.detail())
                    .contains(NOBODYS);
            assertThat(log.records()).extracting(LogRecord::getLevel).containsOnly(Level.SEVERE);
            assertThat(log.records()).extracting(LogRecord::getLoggerName).containsOnly("io.rpma");
        }
    }

    @Test
    void aTextIsThatOfTheLastCall() {
        try (LogCapture log = new LogCapture()) {
            fail(NOBODYS);
            RpmaException second = fail("192.0.2.2");
            assertThat(second.detail()).contains("192.0.2.2").doesNotContain(NOBODYS);
            RpmaPeerCfg.create().close();
            assertThat(Natives.lastMessages()).isEmpty();
            assertThat(log.messages()).hasSize(2);
        }
    }

    @Test
    void nothingIsDeliveredUnderAQuietLock() throws Exception {
        try (LogCapture log = new LogCapture()) {
            QuietLock outer = new QuietLock();
            QuietLock inner = new QuietLock();
            outer.lock();
            assertThat(inner.tryLock()).isTrue();
            fail(NOBODYS);
            inner.unlock();
            assertThat(log.messages()).isEmpty();
            outer.unlock();
            assertThat(log.messages()).hasSize(1);
        }
    }

    @Test
    void whoDoesNotGetAQuietLockDelivers() throws Exception {
        QuietLock lock = new QuietLock();
        lock.lock();
        try (LogCapture log = new LogCapture()) {
            FutureTask<Void> other = new FutureTask<>(() -> {
                assertThat(lock.tryLock()).isFalse();
                assertThat(lock.tryLock(1)).isFalse();
                Thread.currentThread().interrupt();
                assertThatExceptionOfType(InterruptedException.class).isThrownBy(lock::lockInterruptibly);
                Thread.currentThread().interrupt();
                assertThatExceptionOfType(InterruptedException.class).isThrownBy(() -> lock.tryLock(1));
                fail(NOBODYS);
                assertThat(log.messages()).hasSize(1);
                return null;
            });
            new Thread(other, "refused").start();
            other.get();
        } finally {
            lock.unlock();
        }
    }

    @Test
    void textsOfThreadsAreNotMixed() throws Exception {
        try (LogCapture log = new LogCapture()) {
            Together.run(4, thread -> {
                for (int i = 0; i < RING / 4; i++) {
                    String address = "192.0.2." + (1 + thread);
                    assertThat(fail(address).detail()).contains("node=" + address + ",");
                }
            });
            Eventually.become("everything is logged", () -> log.records().size() == RING);
        }
    }

    @Test
    void messagesThatNobodyTakesAreDroppedAndCounted() throws Exception {
        CountDownLatch blocked = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        try (LogCapture log = new LogCapture(record -> {
            blocked.countDown();
            awaitUninterruptibly(release);
        })) {
            FutureTask<RpmaException> first = new FutureTask<>(() -> fail(NOBODYS));
            new Thread(first, "blocked in a log handler").start();
            blocked.await();
            int failures = RING + 44;
            for (int i = 0; i < failures; i++) {
                fail(NOBODYS);
            }
            release.countDown();
            first.get();
            Eventually.become("everything is logged", () -> log.records().size() >= RING + 2);
            assertThat(log.records()).hasSize(1 + RING + 1);
            LogRecord last = log.records().get(1 + RING);
            assertThat(last.getLevel()).isEqualTo(Level.WARNING);
            assertThat(last.getMessage()).startsWith("44 messages of librpma were dropped");
        }
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void aHandlerCanUseTheLibrary() {
        AtomicBoolean first = new AtomicBoolean(true);
        try (LogCapture log = new LogCapture(record -> {
            if (first.getAndSet(false)) {
                assertThat(fail("192.0.2.2").detail()).contains("192.0.2.2");
            }
        })) {
            assertThat(fail(NOBODYS).detail()).contains(NOBODYS);
            assertThat(log.messages()).hasSize(2);
            assertThat(log.messages().get(1)).contains("192.0.2.2");
        }
    }

    @Test
    void longTextsAreCut() {
        try (LogCapture log = new LogCapture()) {
            assertThat(Natives.deviceGet("x".repeat(5000), false)).isNegative();
            String reason = Log.lastReasons();
            assertThat(reason.length()).isBetween(500, 1024);
            Log.drain();
            assertThat(log.messages()).containsExactly(reason);
        }
    }

    @Test
    void nothingIsWrittenAnywhereElse(@TempDir Path directory) throws Exception {
        Path off = Files.writeString(directory.resolve("logging.properties"), "io.rpma.level = OFF\n");
        Jvm.Finished finished = Jvm.onClassPath(Jvm.libraryJar(), Jvm.testClasses())
                .options("-Djava.util.logging.config.file=" + off)
                .run(LoadProgram.class.getName(), NOBODYS);
        assertThat(finished.status()).as(finished.toString()).isZero();
        assertThat(finished.out()).matches("loaded, 1000 ms\ndetail: .*" + NOBODYS + ".*\n");
        assertThat(finished.err()).isEmpty();
    }

    @Test
    void theConsoleHasItByDefault() throws Exception {
        Jvm.Finished finished =
                Jvm.onClassPath(Jvm.libraryJar(), Jvm.testClasses()).run(LoadProgram.class.getName(), NOBODYS);
        String detail = finished.out().lines().skip(1).findFirst().orElseThrow();
        assertThat(detail).startsWith("detail: ");
        assertThat(finished.err()).contains(detail.substring("detail: ".length()));
    }
}
