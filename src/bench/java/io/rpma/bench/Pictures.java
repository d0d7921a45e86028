// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.ToDoubleFunction;
import java.util.stream.DoubleStream;
import org.knowm.xchart.BitmapEncoder;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.style.Styler.LegendPosition;

/** Draws the percentiles of a report, and the values that depend on a number of connections or bytes. */
final class Pictures {
    private static final int WIDTH = 900;
    private static final int HEIGHT = 600;
    private static final String VALUE = "value";
    private static final String CONNECTIONS = "connections";
    private static final String BYTES = "bytes";
    private static final double HUNDRED = 100;
    private static final double TEN = 10;

    /** The curves of one picture by their names. A curve maps x to y. */
    private static final class Curves {
        private final String title;
        private final String xTitle;
        private final Map<String, TreeMap<Double, Double>> curves = new LinkedHashMap<>();

        private Curves(String title, String xTitle) {
            this.title = title;
            this.xTitle = xTitle;
        }

        private void add(String curve, double x, double y) {
            curves.computeIfAbsent(curve, added -> new TreeMap<>()).put(x, y);
        }

        /** Returns the power of ten at or below all coordinates. */
        private double lowest(ToDoubleFunction<Map.Entry<Double, Double>> coordinate) {
            return Math.pow(
                    TEN, Math.floor(Math.log10(coordinates(coordinate).min().orElseThrow())));
        }

        /** Returns the power of ten above all coordinates. */
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
     * @return the files: one for the percentiles of each operation and way to take completions, one for each value that depends
     *     on the number of connections, and one for the registration of memory
     */
    static List<Path> draw(Report report, Path directory) throws IOException {
        Map<String, Curves> pictures = new LinkedHashMap<>();
        report.results().forEach(result -> add(result, pictures));
        Files.createDirectories(directory);
        List<Path> files = new ArrayList<>();
        for (Map.Entry<String, Curves> picture : pictures.entrySet()) {
            files.add(draw(picture.getValue(), directory.resolve(picture.getKey() + ".png")));
        }
        return files;
    }

    /** Adds a result to its picture, if it has one. The map has the pictures by their names. */
    private static void add(Result result, Map<String, Curves> pictures) {
        Map<String, String> params = result.params();
        String language = result.language().title();
        double micros = result.unit().equals("us") ? result.median() : result.median() / 1e3;
        String value = params.get(VALUE);
        if (result.name().equals("loop write") && result.unit().equals("ops/s")) {
            pictures.computeIfAbsent(
                            "loop",
                            name -> new Curves(
                                    "write of 8 bytes, one under way on each connection",
                                    "connections, served by one event loop"))
                    .add(language, Double.parseDouble(params.get(CONNECTIONS)), 1e6 / result.median());
        } else if (result.name().equals("spread write") && "p50".equals(value)) {
            pictures.computeIfAbsent("scale", name -> new Curves("write of 8 bytes, p50", "connections, used in turn"))
                    .add(language, Double.parseDouble(params.get(CONNECTIONS)), micros);
        } else if (result.name().equals("connection")) {
            pictures.computeIfAbsent(
                            "connect", name -> new Curves("a new connection", "connections that are open then"))
                    .add(language, Double.parseDouble(params.get(CONNECTIONS)), micros);
        } else if (params.containsKey(BYTES) && value != null) {
            String name = result.name() + "-" + params.get("completions");
            pictures.computeIfAbsent(
                            "latency-" + name,
                            file -> new Curves(
                                    name + ": round trip", "one of so many takes longer (10: p90, 100: p99)"))
                    .add(language + ", " + params.get(BYTES) + " B", rarity(value), micros);
        } else if (result.unit().equals("us") && params.keySet().equals(Set.of(BYTES))) {
            pictures.computeIfAbsent("registration", name -> new Curves("memory", "bytes"))
                    .add(result.name() + ", " + language, Double.parseDouble(params.get(BYTES)), micros);
        }
    }

    /** Returns the number n for which one of n operations takes longer than the percentile: 100 for {@code p99}. */
    private static double rarity(String percentile) {
        return HUNDRED / (HUNDRED - Double.parseDouble(percentile.substring(1)));
    }

    private static Path draw(Curves curves, Path file) throws IOException {
        XYChart chart = new XYChartBuilder()
                .width(WIDTH)
                .height(HEIGHT)
                .title(curves.title)
                .xAxisTitle(curves.xTitle)
                .yAxisTitle("microseconds")
                .build();
        chart.getStyler().setLegendPosition(LegendPosition.OutsideE);
        chart.getStyler().setXAxisLogarithmic(true);
        chart.getStyler().setYAxisLogarithmic(true);
        // A logarithmic axis has labels only at powers of ten, and needs at least two labels.
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
