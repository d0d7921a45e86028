// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.support;

import java.awt.Color;
import java.awt.Font;
import java.awt.Graphics2D;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.DoubleFunction;
import java.util.stream.DoubleStream;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.XYSeries;
import org.knowm.xchart.style.AxesChartStyler;
import org.knowm.xchart.style.Styler.LegendPosition;
import org.knowm.xchart.style.lines.SeriesLines;

/**
 * A chart with two logarithmic axes, above a line that names the machine. The chart has the logarithms on linear axes,
 * because XChart's logarithmic axes have labels only at powers of ten, and end there.
 */
public final class Chart {
    /** The width of the chart. */
    public static final int WIDTH = 900;

    /** The height of the chart, with the line below. */
    public static final int HEIGHT = 590;

    /** The size of the line's font. */
    public static final int FOOT_SIZE = 12;

    private static final int FOOT = 30;
    private static final int MARGIN = 12;
    private static final int PLOT_WIDTH = 650;
    private static final int PLOT_HEIGHT = 440;
    private static final int LEAST_SPACING_X = 74;
    private static final int LEAST_SPACING_Y = 30;

    /** The colours are distinguishable also for people who do not see all colours. */
    private static final Color[] COLOURS = {
        new Color(0x0072b2),
        new Color(0xe69f00),
        new Color(0xcc79a7),
        new Color(0x000000),
        new Color(0x009e73),
        new Color(0x56b4e9),
        new Color(0xd55e00)
    };

    /** The curves. A curve maps logarithms to logarithms to the base 2. */
    private final Map<Curve, TreeMap<Double, Double>> curves = new LinkedHashMap<>();

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

    /**
     * Makes a chart without curves.
     *
     * @param xLabel returns the label of a whole number on the horizontal axis, which is a logarithm
     */
    public Chart(String title, String xTitle, String yTitle, DoubleFunction<String> xLabel) {
        this.title = title;
        this.xTitle = xTitle;
        this.yTitle = yTitle;
        this.xLabel = xLabel;
    }

    /** Makes a chart by size. The horizontal axis has logarithms of bytes to the base 2. */
    public static Chart bySize(String title, String xTitle, String yTitle) {
        return new Chart(title, xTitle, yTitle, log -> ByteSize.text(1L << (int) log));
    }

    /** Returns the logarithm to the base 2. */
    public static double log2(double value) {
        return Math.log(value) / Math.log(2);
    }

    /**
     * Adds a point to a curve.
     *
     * @param x a logarithm
     * @param y a positive number
     */
    public void add(Curve curve, double x, double y) {
        curves.computeIfAbsent(curve, added -> new TreeMap<>()).put(x, log2(y));
    }

    /** Returns whether there are no points. */
    public boolean isEmpty() {
        return curves.isEmpty();
    }

    /** Paints the chart, and a line with this text below it. */
    public void paint(Graphics2D graphics, String foot) {
        int height = HEIGHT - FOOT;
        chart(height).paint(graphics, WIDTH, height);
        graphics.setColor(Color.WHITE);
        graphics.fillRect(0, height, WIDTH, FOOT);
        graphics.setColor(Color.DARK_GRAY);
        graphics.setFont(new Font(Font.SANS_SERIF, Font.PLAIN, FOOT_SIZE));
        graphics.drawString(foot, MARGIN, height + MARGIN);
    }

    private XYChart chart(int height) {
        XYChart chart = new XYChartBuilder()
                .width(WIDTH)
                .height(height)
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
        curves.forEach((curve, points) -> {
            Color colour = COLOURS[curve.colour % COLOURS.length];
            XYSeries series =
                    chart.addSeries(curve.name, new ArrayList<>(points.keySet()), new ArrayList<>(points.values()));
            series.setLineColor(colour);
            series.setLineStyle(curve.dashed ? SeriesLines.DASH_DASH : SeriesLines.SOLID);
            series.setMarkerColor(colour);
        });
        return chart;
    }

    private DoubleStream xs() {
        return curves.values().stream()
                .flatMap(points -> points.keySet().stream())
                .mapToDouble(Double::doubleValue);
    }

    private DoubleStream ys() {
        return curves.values().stream()
                .flatMap(points -> points.values().stream())
                .mapToDouble(Double::doubleValue);
    }

    private static String power(int exponent) {
        return exponent >= 0 ? String.format(Locale.ROOT, "%,d", 1L << exponent) : "1/" + (1L << -exponent);
    }
}
