package io.rpma.tools;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.w3c.dom.Element;

/** The charts of {@code perf}. */
@Tag("examples")
@Tag("unsanitized")
@Timeout(90)
class PerfChartsTest {
    private static final PerfReport.Machine MACHINE =
            new PerfReport.Machine("2 x CPU", "6.12", "25", "1.3.0", "56.1", "rxe0", "10.0.0.1");

    @TempDir
    private Path directory;

    private static PerfResult result(PerfOperation operation, int size, int depth, int operations) {
        Histogram times = new Histogram(3);
        for (int i = 1; i <= operations; i++) {
            times.recordValue(size * 10L + i);
        }
        return new PerfResult(operation, size, depth, 1, 0.5, times);
    }

    private List<String> names(PerfResult... results) throws Exception {
        List<Path> files = PerfCharts.draw(MACHINE, List.of(results), directory.resolve("charts"));
        List<String> names = new ArrayList<>();
        for (Path file : files) {
            names.add(file.getFileName().toString());
            Element svg = parse(file);
            assertThat(svg.getTagName()).isEqualTo("svg");
            assertThat(svg.getAttribute("width")).isEqualTo("900");
            assertThat(svg.getTextContent()).contains("2 x CPU, rxe0 to 10.0.0.1, Linux 6.12, Java 25, librpma 1.3.0");
        }
        return names;
    }

    /** Without the definition of the document type, which would be read from the network. */
    private static Element parse(Path file) throws Exception {
        DocumentBuilderFactory factory = DocumentBuilderFactory.newInstance();
        factory.setFeature("http://apache.org/xml/features/nonvalidating/load-external-dtd", false);
        return factory.newDocumentBuilder().parse(file.toFile()).getDocumentElement();
    }

    @Test
    void severalSizesAndDepths() throws Exception {
        assertThat(names(
                        result(PerfOperation.WRITE, 64, 1, 2000),
                        result(PerfOperation.WRITE, 64, 16, 2000),
                        result(PerfOperation.WRITE, 4096, 1, 2000),
                        result(PerfOperation.WRITE, 4096, 16, 2000),
                        result(PerfOperation.ATOMIC_WRITE, 8, 1, 2000)))
                .containsExactly(
                        "latency.svg",
                        "percentiles-4KiB.svg",
                        "percentiles-64B.svg",
                        "percentiles-8B.svg",
                        "throughput.svg");
    }

    @Test
    void oneSize() throws Exception {
        assertThat(names(result(PerfOperation.READ, 100, 4, 2000))).containsExactly("percentiles-100B.svg");
    }

    @Test
    void tooFewOperationsForPercentiles() throws Exception {
        assertThat(names(result(PerfOperation.READ, 64, 1, 5), result(PerfOperation.READ, 128, 1, 5)))
                .containsExactly("latency.svg", "throughput.svg");
    }

    @Test
    void nothing() throws IOException {
        assertThat(PerfCharts.draw(MACHINE, List.of(), directory)).isEmpty();
        assertThat(directory).isEmptyDirectory();
    }
}
