package io.rpma.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToDoubleFunction;
import java.util.stream.DoubleStream;
import org.knowm.xchart.BitmapEncoder;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.style.Styler.LegendPosition;

/** Draws what a report has of percentiles, and of numbers of connections. */
final class Pictures {
    private static final int WIDTH = 900;
    private static final int HEIGHT = 600;
    private static final String VALUE = "value";
    private static final String CONNECTIONS = "connections";
    private static final double HUNDRED = 100;
    private static final double TEN = 10;

    private static final Map<Language, String> NAMES =
            Map.of(Language.C, "C", Language.CONTROL, "C again", Language.JAVA, "Java");

    /** The curves of one picture, by their names: y by x. */
    private static final class Curves {
        private final Map<String, TreeMap<Double, Double>> curves = new LinkedHashMap<>();

        private void add(String curve, double x, double y) {
            curves.computeIfAbsent(curve, added -> new TreeMap<>()).put(x, y);
        }

        /** The power of ten at or below all coordinates. */
        private double lowest(ToDoubleFunction<Map.Entry<Double, Double>> coordinate) {
            return Math.pow(
                    TEN, Math.floor(Math.log10(coordinates(coordinate).min().orElseThrow())));
        }

        /** The power of ten above all coordinates. */
        private double highest(ToDoubleFunction<Map.Entry<Double, Double>> coordinate) {
            double highest = Math.log10(coordinates(coordinate).max().orElseThrow());
            return Math.pow(TEN, Math.floor(highest) + 1);
        }

        private DoubleStream coordinates(ToDoubleFunction<Map.Entry<Double, Double>> coordinate) {
            return curves.values().stream()
                    .flatMap(points -> points.entrySet().stream())
                    .mapToDouble(coordinate);
        }
    }

    private Pictures() {}

    /**
     * Draws a report into PNG files.
     *
     * @return the files: one for the percentiles of each operation, polled and waited for, and one of the scale
     */
    static List<Path> draw(Report report, Path directory) throws IOException {
        Map<String, Curves> latencies = new LinkedHashMap<>();
        Curves scale = new Curves();
        for (Result result : report.results()) {
            Map<String, String> params = result.params();
            String language = NAMES.get(result.language());
            if (params.containsKey(CONNECTIONS) && "p50".equals(params.get(VALUE))) {
                scale.add(language, Double.parseDouble(params.get(CONNECTIONS)), result.median() / 1e3);
            } else if (params.containsKey(VALUE) && params.containsKey("bytes")) {
                latencies
                        .computeIfAbsent(result.name() + "-" + params.get("completions"), added -> new Curves())
                        .add(
                                language + ", " + params.get("bytes") + " B",
                                rarity(params.get(VALUE)),
                                result.median() / 1e3);
            }
        }
        Files.createDirectories(directory);
        List<Path> pictures = new ArrayList<>();
        for (Map.Entry<String, Curves> latency : latencies.entrySet()) {
            pictures.add(draw(
                    latency.getValue(),
                    latency.getKey() + ": round trip",
                    "one of so many takes longer (10: p90, 100: p99)",
                    directory.resolve("latency-" + latency.getKey() + ".png")));
        }
        if (!scale.curves.isEmpty()) {
            pictures.add(
                    draw(scale, "write of 8 bytes, p50", "connections, used in turn", directory.resolve("scale.png")));
        }
        return pictures;
    }

    /** Of how many operations one takes longer than a percentile: 100 for {@code p99}. */
    private static double rarity(String percentile) {
        return HUNDRED / (HUNDRED - Double.parseDouble(percentile.substring(1)));
    }

    private static Path draw(Curves curves, String title, String xTitle, Path file) throws IOException {
        XYChart chart = new XYChartBuilder()
                .width(WIDTH)
                .height(HEIGHT)
                .title(title)
                .xAxisTitle(xTitle)
                .yAxisTitle("microseconds")
                .build();
        chart.getStyler().setLegendPosition(LegendPosition.OutsideE);
        chart.getStyler().setXAxisLogarithmic(true);
        chart.getStyler().setYAxisLogarithmic(true);
        // A logarithmic axis is labelled at the powers of ten, of which there must be two.
        chart.getStyler().setXAxisMin(curves.lowest(Map.Entry::getKey)).setXAxisMax(curves.highest(Map.Entry::getKey));
        chart.getStyler()
                .setYAxisMin(curves.lowest(Map.Entry::getValue))
                .setYAxisMax(curves.highest(Map.Entry::getValue));
        curves.curves.forEach((name, points) ->
                chart.addSeries(name, new ArrayList<>(points.keySet()), new ArrayList<>(points.values())));
        BitmapEncoder.saveBitmap(chart, file.toString(), BitmapEncoder.BitmapFormat.PNG);
        return file;
    }
}
