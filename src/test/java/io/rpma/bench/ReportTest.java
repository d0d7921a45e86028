package io.rpma.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The results, targets, reports and tables of the benchmarks. */
@Tag("benchmarks")
class ReportTest {
    private static final Map<String, String> DEPTH = Map.of("depth", "16");
    private static final Result C = Result.of("write", DEPTH, Language.C, "ns/op", List.of(3.0, 1.0, 200.0));
    private static final Result CONTROL = Result.of("write", DEPTH, Language.CONTROL, "ns/op", List.of(2.0, 4.0));
    private static final Result JAVA = Result.of("write", DEPTH, Language.JAVA, "ns/op", List.of(15.0, 16.0, 206.0));
    private static final Machine MACHINE =
            new Machine("2 x Model", "Linux 6.1", "VM 17", "1.3.0", "2026-11-21T00:00:00Z");
    private static final Report REPORT = new Report(
            "some",
            MACHINE,
            List.of(C, CONTROL, JAVA),
            List.of(
                    Target.atMost("write: Java - C", 20, JAVA.minus(C), "ns"),
                    Target.atLeast("pipelined: Java / C", 0.97, 0.5, "")));

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
        assertThat(Target.atMost("most", 20, 20, "ns").pass()).isTrue();
        assertThat(Target.atMost("most", 20, 20.01, "ns").pass()).isFalse();
        assertThat(Target.atLeast("least", 0.97, 0.97, "").pass()).isTrue();
        assertThat(Target.atLeast("least", 0.97, 0.96, "").pass()).isFalse();
        assertThat(Target.atMost("most", 20, Double.NaN, "ns").pass()).isFalse();
        assertThat(REPORT.passes()).isFalse();
    }

    @Test
    void isReadAsItWasWritten() throws IOException {
        Path file = directory.resolve("new/some.json");
        REPORT.write(file);
        assertThat(Report.read(file)).isEqualTo(REPORT);
        assertThat(Files.readString(file))
                .contains("\"suite\": \"some\"", "\"language\": \"control\"", "\"unit\": \"ns/op\"", "\"pass\": false");
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
                        "write: Java - C      ns      20.00            12.00  pass",
                        "pipelined: Java / C                     0.97   0.50  MISS");
    }

    /** A language has a column if the report has results of it. Its cell is empty if the operation was not measured in it. */
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
    void knowsTheMachine() throws IOException {
        Machine machine = Machine.here("none");
        assertThat(machine.cpu()).matches("\\d+ x .+");
        assertThat(machine.kernel()).startsWith("Linux ");
        assertThat(machine.librpma()).isEqualTo("none");
    }
}
