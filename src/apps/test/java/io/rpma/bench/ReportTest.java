// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.bench;

import static io.rpma.bench.Target.Verdict.MISS;
import static io.rpma.bench.Target.Verdict.NOISY;
import static io.rpma.bench.Target.Verdict.PASS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The results, targets, reports and tables of the benchmarks. */
class ReportTest {
    private static final Map<String, String> DEPTH = Map.of("depth", "16");
    private static final Result C = Result.of("write", DEPTH, Language.C, "ns/op", List.of(3.0, 1.0, 200.0));
    private static final Result CONTROL = Result.of("write", DEPTH, Language.CONTROL, "ns/op", List.of(2.0, 4.0));
    private static final Result JAVA = Result.of("write", DEPTH, Language.JAVA, "ns/op", List.of(15.0, 16.0, 206.0));
    private static final Machine MACHINE =
            new Machine("2 x Model", "Linux 6.1", "VM 17", "1.3.0", "rxe0", "2026-11-21T00:00:00Z");
    private static final Report REPORT = new Report(
            "some",
            MACHINE,
            List.of(C, CONTROL, JAVA),
            List.of(
                    Target.atMost("write: Java - C", 20, JAVA.minus(C), "ns"),
                    Target.atLeast("pipelined: Java / C", 0.97, 0.5, "").withControl(1),
                    Target.atMost("waited: Java / C", 1.05, 1.3, "").withControl(0.9)));

    @TempDir
    private Path directory;

    @Test
    void takesTheMedian() {
        assertThat(C.median()).isEqualTo(3);
        assertThat(CONTROL.median()).isEqualTo(3);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Result.of("write", DEPTH, Language.C, "ns/op", List.of()));
    }

    /** If the machine is slow in one round, it is slow for both programs of that round. */
    @Test
    void comparesRoundByRound() {
        assertThat(JAVA.minus(C)).isEqualTo(12);
        assertThat(JAVA.over(C)).isEqualTo(5);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> JAVA.minus(CONTROL))
                .withMessageContaining("3 rounds");
    }

    @Test
    void holdsValuesAgainstTargets() {
        assertThat(Target.atMost("most", 20, 20, "ns").verdict()).isEqualTo(PASS);
        assertThat(Target.atMost("most", 20, 20.01, "ns").verdict()).isEqualTo(MISS);
        assertThat(Target.atLeast("least", 0.97, 0.97, "").verdict()).isEqualTo(PASS);
        assertThat(Target.atLeast("least", 0.97, 0.96, "").verdict()).isEqualTo(MISS);
        assertThat(Target.atMost("most", 20, Double.NaN, "ns").verdict()).isEqualTo(MISS);
        assertThat(REPORT.passes()).isFalse();
    }

    /** A value of a noisy measurement is neither met nor missed, on whichever side of the target it is. */
    @Test
    void doesNotJudgeNoise() {
        for (double value : List.of(0.5, 1.5)) {
            Target target = Target.atMost("most", 1, value, "");
            for (double quiet : List.of(0.95, 1.0, 1.05)) {
                assertThat(target.withControl(quiet).verdict()).isEqualTo(target.verdict());
            }
            for (double noisy : List.of(0.949, 1.051, 2.0, Double.NaN)) {
                assertThat(target.withControl(noisy).verdict()).isEqualTo(NOISY);
            }
        }
    }

    @Test
    void onlyAMissFails() {
        Target met = Target.atMost("met", 1, 0.5, "");
        Target missed = Target.atMost("missed", 1, 1.5, "");
        assertThat(passes(met, missed.withControl(1.1))).isTrue();
        assertThat(passes(met.withControl(1.1), missed.withControl(1))).isFalse();
    }

    private static boolean passes(Target... targets) {
        return new Report("some", MACHINE, List.of(), List.of(targets)).passes();
    }

    @Test
    void isReadAsItWasWritten() throws IOException {
        Path file = directory.resolve("new/some.json");
        REPORT.write(file);
        assertThat(Report.read(file)).isEqualTo(REPORT);
        assertThat(Files.readString(file))
                .contains(
                        "\"suite\": \"some\"",
                        "\"language\": \"control\"",
                        "\"unit\": \"ns/op\"",
                        "\"verdict\": \"noisy\"");
    }

    @Test
    void refusesOtherFiles() throws IOException {
        Path file = directory.resolve("other.json");
        for (String text : List.of("", "no JSON", "{}", "{\"suite\": \"some\"}", "[1]")) {
            Files.writeString(file, text);
            assertThatIOException().isThrownBy(() -> Report.read(file)).withMessageContaining("is no report");
        }
    }

    @Test
    void showsCAndJavaSideBySide() {
        assertThat(Table.of(REPORT).lines())
                .contains(
                        "2 x Model, Linux 6.1",
                        "VM 17, librpma 1.3.0",
                        "                unit      C  C again   Java  Java - C  Java / C",
                        "write depth=16  ns/op  3.00     3.00  16.00     12.00      5.00",
                        "target               unit  at most  at least  value  C again / C",
                        "write: Java - C      ns      20.00            12.00                pass",
                        "pipelined: Java / C                     0.97   0.50         1.00   MISS",
                        "waited: Java / C              1.05             1.30         0.90  noisy",
                        "1 pass, 1 miss, 1 noisy");
    }

    /**
     * A language has a column if the report has results of it. Its cell is empty if the operation was not measured in
     * it.
     */
    @Test
    void showsWhatElseWasMeasuredWhereItWas() {
        Map<String, String> waited = Map.of("completions", "wait");
        List<Result> results = List.of(
                C,
                JAVA,
                Result.of("write", waited, Language.C, "ns/op", List.of(100.0)),
                Result.of("write", waited, Language.CONTROL, "ns/op", List.of(101.0)),
                Result.of("write", waited, Language.JAVA, "ns/op", List.of(105.0)),
                Result.of("write", waited, Language.BARE, "ns/op", List.of(103.0)));
        assertThat(Table.of(new Report("some", MACHINE, results, List.of())).lines())
                .contains(
                        "                        unit        C  C again    Java  bare JNI  Java - C  Java / C",
                        "write depth=16          ns/op    3.00            16.00               12.00      5.00",
                        "write completions=wait  ns/op  100.00   101.00  105.00    103.00      5.00      1.05");
    }

    @Test
    void showsNumbersOfThreadsSideBySide() {
        List<Result> results = List.of(
                ofThreads("write", "1", Language.C, 1),
                ofThreads("write", "1", Language.CONTROL, 1),
                ofThreads("write", "1", Language.JAVA, 11),
                ofThreads("write", "2", Language.C, 2),
                ofThreads("write", "2", Language.JAVA, 13),
                ofThreads("poll", "1", Language.C, 3),
                ofThreads("poll", "1", Language.JAVA, 4),
                ofThreads("poll", "2", Language.C, 5),
                ofThreads("poll", "2", Language.JAVA, 7),
                ofThreads("close", "1", Language.C, 6),
                ofThreads("close", "1", Language.JAVA, 8));
        assertThat(Table.of(new Report("some", MACHINE, results, List.of())).lines())
                .contains(
                        "              threads=1                   threads=2",
                        "       unit           C   Java  Java - C          C   Java  Java - C",
                        "write  ns/op       1.00  11.00     10.00       2.00  13.00     11.00",
                        "poll   ns/op       3.00   4.00      1.00       5.00   7.00      2.00",
                        "close  ns/op       6.00   8.00      2.00");
    }

    private static Result ofThreads(String name, String threads, Language language, double nanos) {
        return Result.of(name, Map.of(Result.THREADS, threads), language, "ns/op", List.of(nanos));
    }

    @Test
    void knowsTheMachine() throws IOException {
        Machine machine = Machine.here("none", "rxe0");
        assertThat(machine.cpu()).matches("\\d+ x .+");
        assertThat(machine.kernel()).startsWith("Linux ");
        assertThat(machine.librpma()).isEqualTo("none");
        assertThat(machine.device()).startsWith("rxe0");
    }
}
