// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools.perf;

import io.rpma.examples.common.Errors;
import java.awt.Color;
import java.awt.Dimension;
import java.awt.Font;
import java.awt.Graphics2D;
import java.awt.font.FontRenderContext;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.DoubleFunction;
import java.util.stream.DoubleStream;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.apache.batik.svggen.SVGGeneratorContext;
import org.apache.batik.svggen.SVGGraphics2D;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.XYSeries;
import org.knowm.xchart.style.AxesChartStyler;
import org.knowm.xchart.style.Styler.LegendPosition;
import org.knowm.xchart.style.lines.SeriesLines;

/**
 * Draws the results of {@code perf}. Both axes are logarithmic: a chart has the logarithms on linear axes, because XChart's
 * logarithmic axes have labels only at powers of ten, and end there.
 */
final class PerfCharts {
    private static final int WIDTH = 900;
    private static final int HEIGHT = 560;

    /** The line below the chart, which names the machine. */
    private static final int FOOT = 30;

    private static final int FOOT_SIZE = 12;
    private static final int MARGIN = 12;

    /** The decimals of a coordinate. */
    private static final int PRECISION = 2;

    private static final int PLOT_WIDTH = 650;
    private static final int PLOT_HEIGHT = 440;
    private static final int LEAST_SPACING_X = 74;
    private static final int LEAST_SPACING_Y = 30;

    /** A distribution has a point at each of these percentiles, if there are enough operations. */
    private static final double[] PERCENTILES = {
        0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 93, 95, 97, 98, 99, 99.3, 99.5, 99.7, 99.8, 99.9, 99.95, 99.99
    };

    private static final double HUNDRED = 100;

    /** The colours of the operations, which are distinguishable also for people who do not see all colours. */
    private static final Color[] COLOURS = {
        new Color(0x0072b2),
        new Color(0xe69f00),
        new Color(0xcc79a7),
        new Color(0x000000),
        new Color(0x009e73),
        new Color(0x56b4e9),
        new Color(0xd55e00)
    };

    /** The curves of a chart. A curve maps logarithms to logarithms. */
    private final Map<PerfOperation, TreeMap<Double, Double>> curves = new LinkedHashMap<>();

    private final String title;
    private final String xTitle;
    private final String yTitle;
    private final DoubleFunction<String> xLabel;

    private PerfCharts(String title, String xTitle, String yTitle, DoubleFunction<String> xLabel) {
        this.title = title;
        this.xTitle = xTitle;
        this.yTitle = yTitle;
        this.xLabel = xLabel;
    }

    /**
     * Draws charts into SVG files: the latency and the throughput by size, if there are several sizes, and the percentiles of
     * each size.
     *
     * @param directory gets the files; it is made if it does not exist
     * @return the files
     */
    static List<Path> draw(PerfReport.Machine machine, List<PerfResult> results, Path directory) throws IOException {
        Files.createDirectories(directory);
        List<Path> files = new ArrayList<>();
        Map<String, PerfCharts> charts = charts(results);
        charts.values().removeIf(chart -> chart.curves.isEmpty());
        for (Map.Entry<String, PerfCharts> chart : charts.entrySet()) {
            files.add(chart.getValue().write(machine, directory.resolve(chart.getKey() + ".svg")));
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
            new Font(Font.SANS_SERIF, Font.PLAIN, FOOT_SIZE)
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
    private static Map<String, PerfCharts> charts(List<PerfResult> results) {
        Map<String, PerfCharts> charts = new TreeMap<>();
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
                        .add(operation, log2(result.size()), log2(result.median()));
            }
            if (sizes && result.depth() == most) {
                charts.computeIfAbsent(
                                "throughput",
                                name -> bySize("Throughput, " + underWay(most, threads), "MiB per second"))
                        .add(operation, log2(result.size()), log2(result.bytesPerSecond() / (1 << 20)));
            }
            if (result.depth() == least) {
                String size = PerfReport.size(result.size());
                charts.computeIfAbsent(
                                "percentiles-" + size.replace(" ", ""),
                                name -> percentiles("Latency of " + size + ", " + underWay(least, threads)))
                        .addPercentiles(operation, result);
            }
        }
        return charts;
    }

    private static String underWay(int depth, int threads) {
        String operations = depth == 1 ? "one operation under way" : depth + " operations under way";
        return threads == 1 ? operations : operations + " on each of " + threads + " connections";
    }

    private static PerfCharts bySize(String title, String yTitle) {
        return new PerfCharts(title, "size of an operation", yTitle, log -> PerfReport.size(1L << (int) log));
    }

    private static PerfCharts percentiles(String title) {
        return new PerfCharts(title, "percentile", "microseconds", PerfCharts::percentile);
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

    private void add(PerfOperation curve, double x, double y) {
        curves.computeIfAbsent(curve, added -> new TreeMap<>()).put(x, y);
    }

    private void addPercentiles(PerfOperation curve, PerfResult result) {
        for (double percentile : PERCENTILES) {
            Double micros = result.percentile(percentile);
            if (micros != null) {
                add(curve, Math.log10(HUNDRED / (HUNDRED - percentile)), log2(micros));
            }
        }
    }

    private static double log2(double value) {
        return Math.log(value) / Math.log(2);
    }

    private DoubleStream xs() {
        return curves.values().stream()
                .flatMap(curve -> curve.keySet().stream())
                .mapToDouble(Double::doubleValue);
    }

    private DoubleStream ys() {
        return curves.values().stream()
                .flatMap(curve -> curve.values().stream())
                .mapToDouble(Double::doubleValue);
    }

    private Path write(PerfReport.Machine machine, Path file) throws IOException {
        SVGGeneratorContext context;
        try {
            context = SVGGeneratorContext.createDefault(
                    DocumentBuilderFactory.newInstance().newDocumentBuilder().newDocument());
        } catch (ParserConfigurationException e) {
            throw new IllegalStateException(e); // each JDK has a parser
        }
        context.setPrecision(PRECISION);
        SVGGraphics2D graphics = new SVGGraphics2D(context, false);
        graphics.setSVGCanvasSize(new Dimension(WIDTH, HEIGHT + FOOT));
        paint(machine, graphics);
        try (Writer writer = Files.newBufferedWriter(file)) {
            graphics.stream(writer, true);
        }
        return file;
    }

    private void paint(PerfReport.Machine machine, Graphics2D graphics) {
        chart().paint(graphics, WIDTH, HEIGHT);
        graphics.setColor(Color.WHITE);
        graphics.fillRect(0, HEIGHT, WIDTH, FOOT);
        graphics.setColor(Color.DARK_GRAY);
        graphics.setFont(new Font(Font.SANS_SERIF, Font.PLAIN, FOOT_SIZE));
        graphics.drawString(
                machine.cpu() + ", " + machine.device() + " to " + machine.server() + ", Linux " + machine.kernel()
                        + ", Java " + machine.java() + ", librpma " + machine.librpma(),
                MARGIN,
                HEIGHT + MARGIN);
    }

    private XYChart chart() {
        XYChart chart = new XYChartBuilder()
                .width(WIDTH)
                .height(HEIGHT)
                .title(title)
                .xAxisTitle(xTitle)
                .yAxisTitle(yTitle)
                .build();
        double left = xs().min().orElseThrow();
        double right = Math.max(left + 1, xs().max().orElseThrow());
        double bottom = Math.floor(ys().min().orElseThrow());
        double top = Math.max(bottom + 1, Math.ceil(ys().max().orElseThrow()));
        AxesChartStyler styler = chart.getStyler();
        styler.setLegendPosition(LegendPosition.OutsideE);
        styler.setChartBackgroundColor(Color.WHITE);
        styler.setXAxisMin(left).setXAxisMax(right).setYAxisMin(bottom).setYAxisMax(top);
        styler.setXAxisTickMarkSpacingHint(Math.max(LEAST_SPACING_X, (int) (PLOT_WIDTH / (right - left))));
        styler.setYAxisTickMarkSpacingHint(Math.max(LEAST_SPACING_Y, (int) (PLOT_HEIGHT / (top - bottom))));
        chart.setCustomXAxisTickLabelsFormatter(x -> x >= 0 && x == Math.rint(x) ? xLabel.apply(x) : "");
        chart.setCustomYAxisTickLabelsFormatter(y -> y == Math.rint(y) ? power(y.intValue()) : "");
        curves.forEach((operation, points) -> {
            Color colour = COLOURS[operation.ordinal() % COLOURS.length];
            XYSeries series = chart.addSeries(
                    operation.toString(), new ArrayList<>(points.keySet()), new ArrayList<>(points.values()));
            series.setLineColor(colour);
            series.setLineStyle(operation.isRdmacm() ? SeriesLines.DASH_DASH : SeriesLines.SOLID);
            series.setMarkerColor(colour);
        });
        return chart;
    }

    private static String power(int exponent) {
        return exponent >= 0 ? Long.toString(1L << exponent) : "1/" + (1L << -exponent);
    }
}
