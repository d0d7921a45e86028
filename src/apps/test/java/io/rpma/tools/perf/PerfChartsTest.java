// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools.perf;

import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.testing.Jvm;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

/** The charts of {@code perf}. */
class PerfChartsTest {
    private static final String JAVA =
            Path.of(System.getProperty("java.home"), "bin", "java").toString();

    @TempDir
    private static Path directory;

    /** Draws the charts of each case in a directory with the name of the case. */
    static final class Drawing {
        private static final PerfReport.Machine MACHINE =
                new PerfReport.Machine("2 x CPU", "6.12", "25", "1.3.0", "56.1", "rxe0", "10.0.0.1");

        private static final Map<String, List<PerfResult>> CASES = Map.of(
                "several sizes and depths",
                        List.of(
                                result(PerfOperation.WRITE, 64, 1, 2000),
                                result(PerfOperation.WRITE, 64, 16, 2000),
                                result(PerfOperation.WRITE, 4096, 1, 2000),
                                result(PerfOperation.WRITE, 4096, 16, 2000),
                                result(PerfOperation.ATOMIC_WRITE, 8, 1, 2000)),
                "one size", List.of(result(PerfOperation.READ, 100, 4, 2000)),
                "few operations", List.of(result(PerfOperation.READ, 64, 1, 5), result(PerfOperation.READ, 128, 1, 5)),
                "nothing", List.of());

        private Drawing() {}

        private static PerfResult result(PerfOperation operation, int size, int depth, int operations) {
            Histogram times = new Histogram(3);
            for (int i = 1; i <= operations; i++) {
                times.recordValue(size * 10L + i);
            }
            return new PerfResult(operation, size, depth, 1, 1, false, 0.5, times);
        }

        public static void main(String[] arguments) throws IOException {
            for (Map.Entry<String, List<PerfResult>> drawn : CASES.entrySet()) {
                PerfCharts.draw(MACHINE, drawn.getValue(), Path.of(arguments[0], drawn.getKey()));
            }
        }
    }

    /** Draws with the classes of the jar of the tools, without the part of the JDK that needs fonts. */
    @BeforeAll
    static void draw() throws Exception {
        try (Jvm.Running drawing = Jvm.command(
                JAVA,
                "--limit-modules",
                "java.base",
                "-cp",
                Jvm.toolsJar() + File.pathSeparator + Jvm.testClasses(),
                Drawing.class.getName(),
                directory.toString())) {
            Jvm.Finished end = drawing.awaitEnd();
            assertThat(end.status()).as(end.toString()).isZero();
        }
    }

    /** The names of the charts of a case, in order. */
    private static List<String> names(String name) throws Exception {
        List<String> names = new ArrayList<>();
        for (Path file : files(directory.resolve(name))) {
            names.add(file.getFileName().toString());
            Element svg = parse(file);
            assertThat(svg.getTagName()).isEqualTo("svg");
            assertThat(svg.getAttribute("width")).isEqualTo("900");
            assertThat(svg.getTextContent()).contains("2 x CPU, rxe0 to 10.0.0.1, Linux 6.12, Java 25, librpma 1.3.0");
        }
        return names;
    }

    private static List<Path> files(Path place) throws IOException {
        try (Stream<Path> files = Files.list(place)) {
            return files.sorted().collect(Collectors.toList());
        }
    }

    /** Without the definition of the document type, which would be read from the network. */
    private static Element parse(Path file) throws Exception {
        DocumentBuilderFactory factory = DocumentBuilderFactory.newInstance();
        factory.setFeature("http://apache.org/xml/features/nonvalidating/load-external-dtd", false);
        return factory.newDocumentBuilder().parse(file.toFile()).getDocumentElement();
    }

    @Test
    void severalSizesAndDepths() throws Exception {
        assertThat(names("several sizes and depths"))
                .containsExactly(
                        "latency.svg",
                        "percentiles-4KiB.svg",
                        "percentiles-64B.svg",
                        "percentiles-8B.svg",
                        "throughput.svg");
    }

    @Test
    void oneSize() throws Exception {
        assertThat(names("one size")).containsExactly("percentiles-100B.svg");
    }

    @Test
    void tooFewOperationsForPercentiles() throws Exception {
        assertThat(names("few operations")).containsExactly("latency.svg", "throughput.svg");
    }

    /** The texts of a chart. */
    private static List<String> texts(String name, String chart) throws Exception {
        NodeList elements =
                parse(directory.resolve(name).resolve(chart + ".svg")).getElementsByTagName("text");
        return IntStream.range(0, elements.getLength())
                .mapToObj(i -> elements.item(i).getTextContent())
                .toList();
    }

    @Test
    void theLabels() throws Exception {
        assertThat(texts("several sizes and depths", "latency"))
                .containsSubsequence("8 B", "64 B", "4 KiB", "1", "2", "5", "10", "20", "50")
                .contains("Latency: median, one operation under way", "size of an operation", "microseconds");
        assertThat(texts("several sizes and depths", "throughput")).containsSubsequence("64 B", "4 KiB", "0.2", "0.5");
        assertThat(texts("one size", "percentiles-100B")).containsSubsequence("p0", "p50", "p90", "p99", "1", "2", "3");
    }

    @Test
    void aFailureLeavesNoDirectory() throws Exception {
        Path charts = directory.resolve("new/charts");
        Jvm.Finished end = Jvm.ofTools().run("perf", "client", "192.0.2.1", "--charts", charts.toString());
        assertThat(end.status()).as(end.toString()).isEqualTo(1);
        assertThat(charts.getParent()).doesNotExist();
    }

    @Test
    void nothing() {
        assertThat(directory.resolve("nothing")).doesNotExist();
    }
}
