// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static io.rpma.testing.Name.name;
import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.programs.LeakProgram;
import io.rpma.testing.Eventually;
import io.rpma.testing.Jvm;
import io.rpma.testing.LogCapture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class LeakTest {
    static Stream<Supplier<AutoCloseable>> objects() {
        return Stream.of(
                RpmaPeerCfg::create,
                RpmaConnCfg::create,
                RpmaSrqCfg::create,
                () -> RpmaMrRemoteTest.region(4096, 4096, 1),
                () -> RpmaMemory.allocate(1),
                FakeFacade::request,
                FakeFacade::conn);
    }

    /** Creates and drops an object, and returns its name. */
    private static String drop(Supplier<? extends AutoCloseable> object) {
        return name(object.get());
    }

    private static String closeAndDrop() {
        RpmaPeerCfg cfg = RpmaPeerCfg.create();
        cfg.close();
        return name(cfg);
    }

    @ParameterizedTest
    @MethodSource("objects")
    void aDroppedObjectIsReported(Supplier<? extends AutoCloseable> object) {
        assertReported(object);
    }

    /** Makes an object, drops it, and waits for the report. */
    static void assertReported(Supplier<? extends AutoCloseable> object) {
        try (LogCapture log = new LogCapture()) {
            String closed = closeAndDrop();
            String report = drop(object)
                    + " was dropped without close(); -Dio.rpma.leakSites=true reports where it was created";
            Eventually.becomeByGc("a report", () -> log.messages().contains(report));
            assertThat(log.records())
                    .filteredOn(record -> record.getMessage().equals(report))
                    .singleElement()
                    .extracting(LogRecord::getLevel)
                    .isEqualTo(Level.WARNING);
            assertThat(log.messages()).noneMatch(message -> message.startsWith(closed + " "));
        }
    }

    @Test
    void anObjectInUseIsNotReported() {
        try (LogCapture log = new LogCapture();
                RpmaPeerCfg used = RpmaPeerCfg.create()) {
            long start = System.nanoTime();
            Eventually.becomeByGc(
                    "time for a collection", () -> System.nanoTime() - start > TimeUnit.MILLISECONDS.toNanos(100));
            assertThat(used.getDirectWriteToPmem()).isFalse();
            assertThat(log.messages()).noneMatch(message -> message.startsWith(name(used) + " "));
        }
    }

    @Test
    void aReportTellsWhereTheObjectWasMade() throws Exception {
        Jvm.Finished finished = Jvm.onClassPath(Jvm.libraryJar(), Jvm.testClasses())
                .options("-Dio.rpma.leakSites=true")
                .run(LeakProgram.class);
        assertThat(finished.status()).as(finished.toString()).isZero();
        assertThat(finished.out())
                .containsPattern("WARNING: RpmaConnCfg#\\d+ was dropped without close\\(\\)\\R")
                .contains("created here")
                .contains("at io.rpma.programs.LeakProgram.makeAndDrop(LeakProgram.java:")
                .doesNotContain("-Dio.rpma.leakSites");
    }
}
