// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.rpma.RpmaDevice;
import io.rpma.RpmaException;
import io.rpma.RpmaLog;
import io.rpma.RpmaLogLevel;
import io.rpma.RpmaLogThreshold;
import io.rpma.RpmaPeerCfg;
import io.rpma.programs.LoadProgram;
import io.rpma.programs.LogAtExitProgram;
import io.rpma.testing.Eventually;
import io.rpma.testing.Jvm;
import io.rpma.testing.LogCapture;
import io.rpma.testing.Together;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The messages of librpma. Their cause is a request for the device of an address that is reserved for documentation.
 */
class LogTest {
    private static final String NOBODYS = "192.0.2.1";
    private static final int RING = 256;

    @BeforeEach
    void logWhatExceptionsSay() {
        RpmaLog.setThreshold(RpmaLogThreshold.MAIN, RpmaLogLevel.DEBUG);
    }

    @AfterEach
    void restore() {
        RpmaLog.setThreshold(RpmaLogThreshold.MAIN, RpmaLogLevel.WARNING);
    }

    private static RpmaException fail(String address) {
        RpmaException failure = catchThrowableOfType(RpmaException.class, () -> RpmaDevice.local(address));
        assertThat(failure).isNotNull();
        return failure;
    }

    @Test
    void theLoggerGetsWhatTheExceptionSaysForDebuggingAlone() {
        try (LogCapture log = new LogCapture()) {
            RpmaException failure = fail(NOBODYS);
            Delivery.settle();
            assertThat(String.join("; ", log.messages()))
                    .isEqualTo(failure.detail())
                    .contains(NOBODYS);
            assertThat(log.records()).extracting(LogRecord::getLevel).containsOnly(Level.FINE);
            assertThat(log.records()).extracting(LogRecord::getLoggerName).containsOnly("io.rpma");
        }
    }

    @Test
    void theLoggerDoesNotGetWhatTheExceptionSays() {
        RpmaLog.setThreshold(RpmaLogThreshold.MAIN, RpmaLogLevel.INFO);
        try (LogCapture log = new LogCapture()) {
            assertThat(fail(NOBODYS).detail()).contains(NOBODYS);
            Delivery.settle();
            assertThat(log.messages()).isEmpty();
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
            Delivery.settle();
            assertThat(log.messages()).hasSize(2);
        }
    }

    @Test
    void aThreadOfItsOwnDelivers() {
        Set<Thread> threads = ConcurrentHashMap.newKeySet();
        try (LogCapture log = new LogCapture(record -> threads.add(Thread.currentThread()))) {
            fail(NOBODYS);
            CompletableFuture.runAsync(() -> fail(NOBODYS)).join();
            Delivery.settle();
            assertThat(log.messages()).hasSize(2);
        }
        assertThat(threads).singleElement().satisfies(thread -> {
            assertThat(thread.getName()).isEqualTo("rpma log");
            assertThat(thread.isDaemon()).isTrue();
            assertThat(thread.getContextClassLoader()).isNull();
        });
    }

    @Test
    void aCallCanBeMadeUnderALockThatTheLoggerWants() {
        ReentrantLock lock = new ReentrantLock();
        lock.lock();
        try (LogCapture log = new LogCapture(record -> {
            lock.lock();
            lock.unlock();
        })) {
            fail(NOBODYS);
            fail(NOBODYS);
            lock.unlock();
            Delivery.settle();
            assertThat(log.messages()).hasSize(2);
        }
    }

    @Test
    void anInterruptionDoesNotEndTheDelivery() {
        try (LogCapture log = new LogCapture(record -> Thread.currentThread().interrupt())) {
            for (int i = 1; i <= 3; i++) {
                fail(NOBODYS);
                Delivery.settle();
                assertThat(log.messages()).hasSize(i);
            }
        }
    }

    @Test
    void anInterruptionDoesNotStay() {
        AtomicReference<Thread> thread = new AtomicReference<>();
        try (LogCapture log = new LogCapture(record -> {
            thread.set(Thread.currentThread());
            Thread.currentThread().interrupt();
        })) {
            fail(NOBODYS);
            Delivery.settle();
            assertThat(log.messages()).hasSize(1);
            Eventually.become("the thread waits again", () -> !thread.get().isInterrupted());
        }
    }

    /** librpma always logs errors, because exceptions need the text. The delivery applies the user's threshold. */
    @Test
    void theThresholdHoldsBackWhatIsThereAlready() throws Exception {
        CountDownLatch blocked = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        try (LogCapture log = new LogCapture(record -> {
            blocked.countDown();
            awaitUninterruptibly(release);
        })) {
            fail(NOBODYS);
            blocked.await();
            for (int i = 0; i < 2 * RING; i++) {
                fail(NOBODYS);
            }
            RpmaLog.setThreshold(RpmaLogThreshold.MAIN, RpmaLogLevel.ERROR);
            release.countDown();
            Delivery.settle();
            // neither the other messages nor the warning that messages were dropped
            assertThat(log.records()).hasSize(1);
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
            fail(NOBODYS);
            blocked.await();
            int failures = RING + 44;
            for (int i = 0; i < failures; i++) {
                fail(NOBODYS);
            }
            release.countDown();
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
            Delivery.settle();
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
            Delivery.settle();
            assertThat(log.messages()).containsExactly(reason);
        }
    }

    @Test
    void nothingIsWrittenAnywhereElse(@TempDir Path directory) throws Exception {
        Path off = Files.writeString(directory.resolve("logging.properties"), "io.rpma.level = OFF\n");
        Jvm.Finished finished = Jvm.onClassPath(Jvm.libraryJar(), Jvm.testClasses())
                .options("-Djava.util.logging.config.file=" + off)
                .run(LoadProgram.class, NOBODYS);
        assertThat(finished.status()).as(finished.toString()).isZero();
        assertThat(finished.out()).matches("loaded, 1000 ms\ndetail: .*" + NOBODYS + ".*\n");
        assertThat(finished.err()).isEmpty();
    }

    @Test
    void theConsoleHasNothingThatAnExceptionSays() throws Exception {
        Jvm.Finished finished =
                Jvm.onClassPath(Jvm.libraryJar(), Jvm.testClasses()).run(LoadProgram.class, NOBODYS);
        assertThat(finished.out()).contains("detail: ").contains(NOBODYS);
        assertThat(finished.err()).isEmpty();
    }

    @Test
    void theEndOfTheJvmDeliversTheRest() throws Exception {
        Jvm.Finished finished = Jvm.likeThis().run(LogAtExitProgram.class, "last");
        assertThat(finished.status()).as(finished.toString()).isZero();
        assertThat(finished.out()).isEqualTo("got all\n");
    }
}
