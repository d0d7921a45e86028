// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools.perf;

import io.rpma.support.ByteSize;
import io.rpma.support.Chart;
import io.rpma.support.Errors;
import java.awt.Dimension;
import java.awt.Font;
import java.awt.font.FontRenderContext;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.apache.batik.svggen.SVGGeneratorContext;
import org.apache.batik.svggen.SVGGraphics2D;

/** Draws the results of {@code perf}. */
final class PerfCharts {
    /** The decimals of a coordinate. */
    private static final int PRECISION = 2;

    /** A distribution has a point at each of these percentiles, if there are enough operations. */
    private static final double[] PERCENTILES = {
        0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 93, 95, 97, 98, 99, 99.3, 99.5, 99.7, 99.8, 99.9, 99.95, 99.99
    };

    private static final double HUNDRED = 100;

    private PerfCharts() {}

    /**
     * Draws charts into SVG files: the latency and the throughput by size, if there are several sizes, and the
     * percentiles of each size.
     *
     * @param directory gets the files; it is made if it does not exist
     * @return the files
     */
    static List<Path> draw(PerfReport.Machine machine, List<PerfResult> results, Path directory) throws IOException {
        Files.createDirectories(directory);
        List<Path> files = new ArrayList<>();
        Map<String, Chart> charts = charts(results);
        charts.values().removeIf(Chart::isEmpty);
        for (Map.Entry<String, Chart> chart : charts.entrySet()) {
            files.add(write(chart.getValue(), machine, directory.resolve(chart.getKey() + ".svg")));
        }
        return files;
    }

    /**
     * Checks whether this JVM can draw text, before the measurements.
     *
     * @throws IOException if it can't
     */
    static void check() throws IOException {
        // also if the terminal is a window of a desktop, because a JVM without the libraries of a desktop can draw
        System.setProperty("java.awt.headless", "true");
        try {
            new Font(Font.SANS_SERIF, Font.PLAIN, Chart.FOOT_SIZE)
                    .createGlyphVector(new FontRenderContext(null, true, true), "text")
                    .getOutline();
        } catch (LinkageError | InternalError | RuntimeException e) {
            // the JDK throws each of them for a missing library, file of fontconfig or font
            throw new IOException(
                    "this JVM can't draw charts: it needs a font and fontconfig, and the libraries of the font engine"
                            + " (Debian: fontconfig, fonts-dejavu-core, libfreetype6, libharfbuzz0b): "
                            + Errors.line(e),
                    e);
        }
    }

    /** Returns the charts by their names. */
    private static Map<String, Chart> charts(List<PerfResult> results) {
        Map<String, Chart> charts = new TreeMap<>();
        int threads = results.stream().mapToInt(PerfResult::threads).min().orElse(1);
        int least = results.stream().mapToInt(PerfResult::depth).min().orElse(1);
        int most = results.stream().mapToInt(PerfResult::depth).max().orElse(1);
        boolean sizes = results.stream().mapToInt(PerfResult::size).distinct().count() > 1;
        for (PerfResult result : results) {
            PerfOperation operation = result.operation();
            if (result.threads() != threads) {
                continue;
            }
            if (sizes && result.depth() == least) {
                charts.computeIfAbsent(
                                "latency",
                                name -> bySize("Latency: median, " + underWay(least, threads), "microseconds"))
                        .add(curve(operation), Chart.log2(result.size()), result.median());
            }
            if (sizes && result.depth() == most) {
                charts.computeIfAbsent(
                                "throughput",
                                name -> bySize("Throughput, " + underWay(most, threads), "MiB per second"))
                        .add(curve(operation), Chart.log2(result.size()), result.bytesPerSecond() / (1 << 20));
            }
            if (result.depth() == least) {
                String size = ByteSize.text(result.size());
                addPercentiles(
                        charts.computeIfAbsent(
                                "percentiles-" + size.replace(" ", ""),
                                name -> percentiles("Latency of " + size + ", " + underWay(least, threads))),
                        result);
            }
        }
        return charts;
    }

    private static String underWay(int depth, int threads) {
        String operations = depth == 1 ? "one operation under way" : depth + " operations under way";
        return threads == 1 ? operations : operations + " on each of " + threads + " connections";
    }

    private static Chart bySize(String title, String yTitle) {
        return Chart.bySize(title, "size of an operation", yTitle);
    }

    private static Chart percentiles(String title) {
        return new Chart(title, "percentile", "microseconds", PerfCharts::percentile);
    }

    /** Returns p90 for 1, p99 for 2, p99.9 for 3. */
    private static String percentile(double nines) {
        int digits = (int) nines;
        return digits == 0
                ? "p0"
                : digits <= 2
                        ? "p" + "99".substring(0, digits) + "0".repeat(2 - digits)
                        : "p99." + "9".repeat(digits - 2);
    }

    private static Chart.Curve curve(PerfOperation operation) {
        return new Chart.Curve(operation.toString(), operation.ordinal(), operation.isRdmacm());
    }

    private static void addPercentiles(Chart chart, PerfResult result) {
        for (double percentile : PERCENTILES) {
            Double micros = result.percentile(percentile);
            if (micros != null) {
                chart.add(curve(result.operation()), Math.log10(HUNDRED / (HUNDRED - percentile)), micros);
            }
        }
    }

    private static Path write(Chart chart, PerfReport.Machine machine, Path file) throws IOException {
        SVGGeneratorContext context;
        try {
            context = SVGGeneratorContext.createDefault(
                    DocumentBuilderFactory.newInstance().newDocumentBuilder().newDocument());
        } catch (ParserConfigurationException e) {
            throw new IllegalStateException(e); // each JDK has a parser
        }
        context.setPrecision(PRECISION);
        SVGGraphics2D graphics = new SVGGraphics2D(context, false);
        graphics.setSVGCanvasSize(new Dimension(Chart.WIDTH, Chart.HEIGHT));
        chart.paint(
                graphics,
                machine.cpu() + ", " + machine.device() + " to " + machine.server() + ", Linux " + machine.kernel()
                        + ", Java " + machine.java() + ", librpma " + machine.librpma());
        try (Writer writer = Files.newBufferedWriter(file)) {
            graphics.stream(writer, true);
        }
        return file;
    }
}
