// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.rpma.internal.Delivery;
import io.rpma.programs.LogAtExitProgram;
import io.rpma.testing.CProgram;
import io.rpma.testing.Eventually;
import io.rpma.testing.Jvm;
import io.rpma.testing.LogCapture;
import io.rpma.testing.Together;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The user's log function and the thresholds. Failing calls make librpma log messages. */
class RpmaLogTest {
    private static final String NOBODYS = "192.0.2.1";

    private final List<String> messages = new CopyOnWriteArrayList<>();

    @BeforeEach
    void logWhatExceptionsSay() {
        RpmaLog.setThreshold(RpmaLogThreshold.MAIN, RpmaLogLevel.DEBUG);
    }

    @AfterEach
    void restore() {
        RpmaLog.setFunction(null);
        RpmaLog.setThreshold(RpmaLogThreshold.MAIN, RpmaLogLevel.WARNING);
        RpmaLog.setThreshold(RpmaLogThreshold.AUX, RpmaLogLevel.DISABLED);
    }

    private void take() {
        RpmaLog.setFunction((level, fileName, lineNo, functionName, message) -> messages.add(message));
    }

    private static RpmaException fail(String address) {
        RpmaException failure = catchThrowableOfType(RpmaException.class, () -> RpmaDevice.local(address));
        assertThat(failure).isNotNull();
        return failure;
    }

    @Test
    void theFunctionGetsEverythingAboutAMessage() {
        RpmaLog.setFunction((level, fileName, lineNo, functionName, message) ->
                messages.add(level + "|" + fileName + "|" + lineNo + "|" + functionName + "|" + message));
        RpmaException failure = fail(NOBODYS);
        Delivery.settle();
        assertThat(messages).hasSize(1);
        assertThat(messages.get(0)).matches("DEBUG\\|.*info\\.c\\|[1-9]\\d*\\|rpma_info_\\w+\\|.*");
        assertThat(messages.get(0)).endsWith("|" + failure.detail());
    }

    @Test
    void theFunctionTakesThePlaceOfTheLogger() {
        try (LogCapture log = new LogCapture()) {
            take();
            fail(NOBODYS);
            Delivery.settle();
            assertThat(log.messages()).isEmpty();
            assertThat(messages).hasSize(1);
            RpmaLog.setFunction(null);
            fail(NOBODYS);
            Delivery.settle();
            assertThat(log.messages()).hasSize(1);
            assertThat(messages).hasSize(1);
        }
    }

    @Test
    void theLastFunctionCounts() {
        List<String> others = new CopyOnWriteArrayList<>();
        take();
        RpmaLog.setFunction((level, fileName, lineNo, functionName, message) -> others.add(message));
        fail(NOBODYS);
        Delivery.settle();
        assertThat(messages).isEmpty();
        assertThat(others).hasSize(1);
    }

    @Test
    void whatIsNotDeliveredYetGoesToTheFormerFunction() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        List<String> former = new CopyOnWriteArrayList<>();
        RpmaLog.setFunction((level, fileName, lineNo, functionName, message) -> {
            begun.countDown();
            join(release);
            former.add(message);
        });
        fail(NOBODYS);
        begun.await();
        fail("192.0.2.2");
        take();
        fail("192.0.2.3");
        release.countDown();
        Delivery.settle();
        assertThat(former).hasSize(2).last().asString().contains("192.0.2.2");
        assertThat(messages).singleElement().asString().contains("192.0.2.3");
    }

    private static void join(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void theMessagesOfEachThreadAreInOrder() throws Exception {
        take();
        int threads = 4;
        // the ring has room for the messages of all threads
        int count = 60;
        Together.run(threads, thread -> {
            for (int i = 0; i < count; i++) {
                fail("192.0." + (1 + thread) + "." + i);
            }
        });
        Eventually.become("all are delivered", () -> messages.size() == threads * count);
        for (int thread = 0; thread < threads; thread++) {
            String network = "192.0." + (1 + thread) + ".";
            assertThat(messages.stream()
                            .filter(message -> message.contains("node=" + network))
                            .map(message -> message.replaceAll(".*node=" + network + "(\\d+).*", "$1")))
                    .containsExactlyElementsOf(IntStream.range(0, count)
                            .mapToObj(Integer::toString)
                            .collect(Collectors.toList()));
        }
    }

    @Test
    void oneThreadAtATimeIsInTheFunction() throws Exception {
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger calls = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        RpmaLog.setFunction((level, fileName, lineNo, functionName, message) -> {
            most.accumulateAndGet(inside.incrementAndGet(), Math::max);
            Thread.yield();
            inside.decrementAndGet();
            calls.incrementAndGet();
        });
        Together.run(4, thread -> {
            for (int i = 0; i < 60; i++) {
                fail(NOBODYS);
            }
        });
        Eventually.become("all are delivered", () -> calls.get() == 240);
        assertThat(most).hasValue(1);
    }

    @Test
    void whatAFunctionThrowsGoesToTheUncaughtExceptionHandler() {
        List<Throwable> uncaught = new CopyOnWriteArrayList<>();
        Thread.UncaughtExceptionHandler former = Thread.getDefaultUncaughtExceptionHandler();
        Thread.setDefaultUncaughtExceptionHandler((in, e) -> uncaught.add(e));
        try {
            for (Throwable thrown : List.of(new IllegalStateException("function"), new AssertionError("function"))) {
                RpmaLog.setFunction((level, fileName, lineNo, functionName, message) -> sneakyThrow(thrown));
                assertThat(fail(NOBODYS).detail()).contains(NOBODYS);
                Delivery.settle();
                assertThat(uncaught).containsExactly(thrown);
                uncaught.clear();
            }
        } finally {
            Thread.setDefaultUncaughtExceptionHandler(former);
        }
    }

    @SuppressWarnings("unchecked")
    private static <T extends Throwable> void sneakyThrow(Throwable thrown) throws T {
        throw (T) thrown;
    }

    @Test
    void aHandlerThatThrowsDoesNoHarmEither() {
        Thread.UncaughtExceptionHandler former = Thread.getDefaultUncaughtExceptionHandler();
        Thread.setDefaultUncaughtExceptionHandler((in, e) -> {
            throw new IllegalStateException("handler");
        });
        try {
            RpmaLog.setFunction((level, fileName, lineNo, functionName, message) -> {
                messages.add(message);
                throw new IllegalStateException("function");
            });
            for (int i = 1; i <= 2; i++) {
                assertThat(fail(NOBODYS).detail()).contains(NOBODYS);
                Delivery.settle();
                assertThat(messages).hasSize(i);
            }
        } finally {
            Thread.setDefaultUncaughtExceptionHandler(former);
        }
    }

    @Test
    void aFunctionCanWaitForAThreadThatUsesTheLibrary() {
        RpmaLog.setFunction((level, fileName, lineNo, functionName, message) -> {
            messages.add(message);
            if (messages.size() == 1) {
                CompletableFuture.runAsync(() -> fail("192.0.2.2")).join();
            }
        });
        fail(NOBODYS);
        Delivery.settle();
        assertThat(messages).hasSize(2);
    }

    @Test
    void aFunctionCanUseTheLibraryAndReplaceItself() {
        RpmaLog.setFunction((level, fileName, lineNo, functionName, message) -> {
            take();
            assertThat(fail("192.0.2.2").detail()).contains("192.0.2.2");
        });
        assertThat(fail(NOBODYS).detail()).contains(NOBODYS);
        Delivery.settle();
        assertThat(messages).hasSize(1);
        assertThat(messages.get(0)).contains("192.0.2.2");
    }

    @ParameterizedTest
    @EnumSource
    void aThresholdIsKept(RpmaLogLevel level) {
        for (RpmaLogThreshold threshold : RpmaLogThreshold.values()) {
            RpmaLog.setThreshold(threshold, level);
            assertThat(RpmaLog.getThreshold(threshold)).isSameAs(level);
        }
    }

    @Test
    void theDefaultThresholds() throws Exception {
        Jvm.Finished finished = Jvm.likeThis().run(LogAtExitProgram.class, "thresholds");
        assertThat(finished.out()).isEqualTo("WARNING DISABLED\n");
    }

    @ParameterizedTest
    @EnumSource
    void exceptionsSayWhyWhateverTheThreshold(RpmaLogLevel level) {
        take();
        RpmaLog.setThreshold(RpmaLogThreshold.MAIN, level);
        assertThat(fail(NOBODYS).detail()).contains(NOBODYS);
        Delivery.settle();
        assertThat(messages.isEmpty()).isEqualTo(level != RpmaLogLevel.DEBUG);
    }

    @Test
    void nothingGoesToTheStandardErrorStream() throws Exception {
        Jvm.Finished finished = Jvm.likeThis().run(LogAtExitProgram.class, "aux");
        assertThat(finished.status()).as(finished.toString()).isZero();
        assertThat(finished.err()).isEmpty();
    }

    @Test
    void nothingGoesToSyslog(@TempDir Path directory) throws Exception {
        String syslog =
                CProgram.compile(directory, "syslog.c", "-shared", "-fPIC").toString();
        String fail = CProgram.compile(directory, "fail.c", "-lrpma").toString();
        int aborted = 128 + 6;
        assertThat(CProgram.run(Map.of("LD_PRELOAD", syslog), fail).status()).isEqualTo(aborted);
        for (String way : List.of("aux", "return")) {
            Jvm.Finished finished = Jvm.likeThis().preload(syslog).run(LogAtExitProgram.class, way);
            assertThat(finished.status()).as(finished.toString()).isZero();
        }
    }

    /** librpma's destructor clears the pointer to the log function, which other threads may be about to call. */
    @ParameterizedTest
    @ValueSource(strings = {"exit", "return"})
    void messagesAtTheEndOfTheJvm(String end) throws Exception {
        for (int i = 0; i < 3; i++) {
            Jvm.Finished finished = Jvm.likeThis().run(LogAtExitProgram.class, end);
            assertThat(finished.status()).as(finished.toString()).isZero();
        }
    }

    @Test
    void nullIsRefused() {
        assertThatNullPointerException().isThrownBy(() -> RpmaLog.getThreshold(null));
        assertThatNullPointerException().isThrownBy(() -> RpmaLog.setThreshold(null, RpmaLogLevel.INFO));
        assertThatNullPointerException().isThrownBy(() -> RpmaLog.setThreshold(RpmaLogThreshold.MAIN, null));
        assertThat(RpmaLog.getThreshold(RpmaLogThreshold.MAIN)).isSameAs(RpmaLogLevel.DEBUG);
    }
}
