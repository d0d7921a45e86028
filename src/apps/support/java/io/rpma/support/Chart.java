// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.support;

import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.function.DoubleFunction;
import java.util.stream.Collectors;
import java.util.stream.DoubleStream;

/**
 * A chart with two logarithmic axes, above a line that names the machine. It is written as SVG, whose viewer has the
 * fonts: a JVM needs libraries of the system to measure text, which servers and small images lack.
 */
public final class Chart {
    private static final int WIDTH = 900;
    private static final int HEIGHT = 590;

    // the frame of the curves
    private static final int LEFT = 95;
    private static final int RIGHT = 720;
    private static final int TOP = 40;
    private static final int BOTTOM = 500;

    /** The distance of the first and the last point from the frame. */
    private static final int MARGIN = 15;

    private static final int LEGEND = 740;
    private static final int LINE_HEIGHT = 20;

    /** The width of a character, which is only estimated. */
    private static final int CHARACTER = 7;

    /** The ratio of the largest to the least value up to which the vertical axis has labels of these digits. */
    private static final NavigableMap<Double, int[]> DIGITS = new TreeMap<>(Map.of(
            10.0, new int[] {1, 2, 3, 4, 5, 6, 7, 8, 9}, 1000.0, new int[] {1, 2, 5}, Double.MAX_VALUE, new int[] {1}));

    /** The colours are distinguishable also for people who do not see all colours. */
    private static final String[] COLOURS = {"#0072b2", "#e69f00", "#cc79a7", "#000000", "#009e73", "#56b4e9", "#d55e00"
    };

    private static final Map<Double, String> PERCENTILES = DoubleStream.of(0, 50, 90, 99, 99.9, 99.99)
            .boxed()
            .collect(Collectors.toMap(
                    Chart::rarity, percentile -> "p" + percentile.toString().replaceFirst("\\.0$", "")));

    private final Map<Curve, NavigableMap<Double, Double>> curves = new LinkedHashMap<>();

    private final String title;
    private final String xTitle;
    private final String yTitle;
    private final DoubleFunction<String> xLabel;

    /**
     * A curve.
     *
     * @param name the name in the legend
     * @param colour the number of the colour; there are seven colours
     * @param dashed whether the line is dashed
     */
    public record Curve(String name, int colour, boolean dashed) {}

    /** An axis, from a value at a coordinate to another value at another coordinate. */
    private record Axis(double least, double begin, double most, double end) {
        double at(double value) {
            return begin + (end - begin) * Math.log(value / least) / Math.log(most / least);
        }
    }

    /**
     * Makes a chart without curves.
     *
     * @param xLabel returns the label of a point on the horizontal axis; empty for none
     */
    public Chart(String title, String xTitle, String yTitle, DoubleFunction<String> xLabel) {
        this.title = title;
        this.xTitle = xTitle;
        this.yTitle = yTitle;
        this.xLabel = xLabel;
    }

    /** Makes a chart by size. The horizontal axis has bytes. */
    public static Chart bySize(String title, String xTitle, String yTitle) {
        return new Chart(title, xTitle, yTitle, bytes -> ByteSize.text((long) bytes));
    }

    /** Makes a chart of percentiles. The horizontal axis has their {@link #rarity}. */
    public static Chart ofPercentiles(String title, String yTitle) {
        return new Chart(title, "percentile", yTitle, rarity -> PERCENTILES.getOrDefault(rarity, ""));
    }

    /** Returns the number n for which one of n operations takes longer than the percentile: 100 for 99. */
    public static double rarity(double percentile) {
        return 100 / (100 - percentile);
    }

    /** Adds a point, which are two positive numbers, to a curve. */
    public void add(Curve curve, double x, double y) {
        curves.computeIfAbsent(curve, added -> new TreeMap<>()).put(x, y);
    }

    /** Returns whether there are no points. */
    public boolean isEmpty() {
        return curves.isEmpty();
    }

    /** Writes the chart, and a line with the text {@code foot} below it, into an SVG file. */
    public void write(Path file, String foot) throws IOException {
        Files.writeString(file, svg(foot));
    }

    private String svg(String foot) {
        // the points of all curves
        NavigableMap<Double, Double> points = new TreeMap<>();
        curves.values().forEach(points::putAll);
        double left = points.firstKey();
        Axis x = new Axis(left, LEFT + MARGIN, Math.max(2 * left, points.lastKey()), RIGHT - MARGIN);
        NavigableMap<Double, String> ticks = ticks();
        Axis y = new Axis(ticks.firstKey(), BOTTOM, ticks.lastKey(), TOP);

        StringBuilder svg = new StringBuilder(format(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%1$d\" height=\"%2$d\" viewBox=\"0 0 %1$d %2$d\""
                        + " font-family=\"DejaVu Sans, Verdana, Arial, sans-serif\" font-size=\"12\">\n"
                        + "<rect width=\"%1$d\" height=\"%2$d\" fill=\"white\"/>\n",
                WIDTH, HEIGHT));
        double end = Double.NEGATIVE_INFINITY;
        for (double value : points.keySet()) {
            String label = xLabel.apply(value);
            double half = CHARACTER * label.length() / 2.0;
            if (!label.isEmpty() && x.at(value) - half >= end) {
                end = x.at(value) + half;
                svg.append(line(x.at(value), TOP, x.at(value), BOTTOM, "stroke=\"#dddddd\""));
                svg.append(text(x.at(value), BOTTOM + LINE_HEIGHT, "text-anchor=\"middle\"", label));
            }
        }
        ticks.forEach((value, label) -> {
            svg.append(line(LEFT, y.at(value), RIGHT, y.at(value), "stroke=\"#dddddd\""));
            svg.append(text(LEFT - CHARACTER, y.at(value) + 4, "text-anchor=\"end\"", label));
        });
        svg.append(format(
                "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"#888888\"/>\n",
                LEFT, TOP, RIGHT - LEFT, BOTTOM - TOP));
        String middle = "text-anchor=\"middle\" font-weight=\"bold\"";
        svg.append(text((LEFT + RIGHT) / 2, TOP - LINE_HEIGHT / 2, middle + " font-size=\"14\"", title));
        svg.append(text((LEFT + RIGHT) / 2, BOTTOM + 2 * LINE_HEIGHT, middle, xTitle));
        svg.append(text(-(TOP + BOTTOM) / 2, LINE_HEIGHT, middle + " transform=\"rotate(-90)\"", yTitle));
        svg.append(text(CHARACTER, HEIGHT - CHARACTER, "fill=\"#444444\"", foot));
        double legend = TOP + LINE_HEIGHT / 2.0;
        for (Map.Entry<Curve, NavigableMap<Double, Double>> curve : curves.entrySet()) {
            svg.append(curve(curve.getKey(), curve.getValue(), x, y));
            svg.append(line(LEGEND, legend, LEGEND + LINE_HEIGHT, legend, stroke(curve.getKey())));
            svg.append(marker(LEGEND + LINE_HEIGHT / 2, legend, curve.getKey()));
            svg.append(text(LEGEND + LINE_HEIGHT + CHARACTER, legend + 4, "", curve.getKey().name));
            legend += LINE_HEIGHT;
        }
        return svg.append("</svg>\n").toString();
    }

    /** Returns the labels of the vertical axis by their values, which enclose the points. */
    private NavigableMap<Double, String> ticks() {
        double least = ys().min().orElseThrow();
        double most = ys().max().orElseThrow();
        NavigableMap<Double, String> ticks = new TreeMap<>();
        for (int power = (int) Math.floor(Math.log10(least)); power <= Math.log10(most) + 1; power++) {
            for (int digit : DIGITS.ceilingEntry(most / least).getValue()) {
                BigDecimal value = new BigDecimal(digit).scaleByPowerOfTen(power);
                ticks.put(value.doubleValue(), power < 0 ? value.toPlainString() : format("%,.0f", value));
            }
        }
        double bottom = ticks.floorKey(least);
        double top = Math.max(ticks.higherKey(bottom), ticks.ceilingKey(most));
        return ticks.subMap(bottom, true, top, true);
    }

    private DoubleStream ys() {
        return curves.values().stream()
                .flatMap(points -> points.values().stream())
                .mapToDouble(Double::doubleValue);
    }

    private static String curve(Curve curve, Map<Double, Double> points, Axis x, Axis y) {
        StringBuilder line = new StringBuilder("<polyline fill=\"none\" " + stroke(curve) + " points=\"");
        StringBuilder markers = new StringBuilder();
        points.forEach((key, value) -> {
            line.append(format("%.1f,%.1f ", x.at(key), y.at(value)));
            markers.append(marker(x.at(key), y.at(value), curve));
        });
        return line + "\"/>\n" + markers;
    }

    private static String colour(Curve curve) {
        return COLOURS[curve.colour % COLOURS.length];
    }

    private static String stroke(Curve curve) {
        return "stroke-width=\"2\" stroke=\"" + colour(curve) + (curve.dashed ? "\" stroke-dasharray=\"4\"" : "\"");
    }

    private static String marker(double x, double y, Curve curve) {
        return format(
                "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\" fill=\"%s\" stroke=\"%s\"/>\n",
                x, y, curve.dashed ? "none" : colour(curve), colour(curve));
    }

    private static String line(double x1, double y1, double x2, double y2, String stroke) {
        return format("<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" %s/>\n", x1, y1, x2, y2, stroke);
    }

    private static String text(double x, double y, String style, String text) {
        String escaped = text.replace("&", "&amp;").replace("<", "&lt;");
        return format("<text x=\"%.1f\" y=\"%.1f\" %s>%s</text>\n", x, y, style, escaped);
    }

    private static String format(String format, Object... values) {
        return String.format(Locale.ROOT, format, values);
    }
}
