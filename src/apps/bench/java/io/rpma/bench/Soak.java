// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.bench;

import java.awt.Color;
import java.awt.Font;
import java.awt.Graphics2D;
import java.awt.RenderingHints;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.function.ToDoubleFunction;
import javax.imageio.ImageIO;
import org.knowm.xchart.BitmapEncoder;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.style.markers.SeriesMarkers;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Draws the samples of {@code SoakProgram}: one chart for each resource, by the number of connections. */
@Command(name = "soak", description = "Draws the resources of a long run of SoakProgram.")
final class Soak implements Callable<Integer> {
    static final int WIDTH = 560;
    static final int HEIGHT = 300;
    static final int ROWS = 3;
    static final int COLUMNS = 2;
    private static final double THOUSAND = 1000;
    private static final double KIB_OF_MIB = 1024;
    private static final double SECONDS_OF_MINUTE = 60;
    /** The room above the largest value, so that a constant is not drawn on the frame. */
    private static final double ROOM = 1.2;

    private static final double ALMOST_ONE = 0.99;

    private static final int CAPTION_FONT = 14;

    /** The height of the line above the charts, which names the machine. */
    static final int CAPTION_HEIGHT = 30;

    @Parameters(index = "0", paramLabel = "SAMPLES", description = "The samples: soak.csv.")
    private Path samples;

    @Parameters(index = "1", paramLabel = "PICTURE", description = "The PNG file to write.")
    private Path picture;

    @Spec
    private CommandSpec command;

    /** The columns of the samples, in their order. */
    private record Sample(
            double seconds,
            double connections,
            double operations,
            double resident,
            double direct,
            double descriptors,
            double objects,
            double threads) {

        static Sample of(String line) {
            String[] fields = line.split(",");
            int next = 0;
            return new Sample(
                    Double.parseDouble(fields[next++]),
                    Double.parseDouble(fields[next++]),
                    Double.parseDouble(fields[next++]),
                    Double.parseDouble(fields[next++]),
                    Double.parseDouble(fields[next++]),
                    Double.parseDouble(fields[next++]),
                    Double.parseDouble(fields[next++]),
                    Double.parseDouble(fields[next]));
        }
    }

    @Override
    public Integer call() throws IOException {
        List<String> lines = Files.readAllLines(samples);
        String machine = lines.get(0).substring(1).strip();
        List<Sample> points = lines.stream().skip(2).map(Sample::of).toList();
        List<XYChart> charts = new ArrayList<>();
        charts.add(chart("resident memory", "MiB", points, point -> point.resident / KIB_OF_MIB));
        charts.add(chart("direct memory", "KiB", points, Sample::direct));
        charts.add(chart("descriptors", "number", points, Sample::descriptors));
        charts.add(chart("native objects", "number", points, Sample::objects));
        charts.add(chart("threads", "number", points, Sample::threads));
        charts.add(chart("time of the run", "minutes", points, point -> point.seconds / SECONDS_OF_MINUTE));
        save(charts, machine);
        Sample last = points.get(points.size() - 1);
        command.commandLine()
                .getOut()
                .printf(
                        Locale.ROOT,
                        "%.0f connections, %.0f operations: %s%n",
                        last.connections,
                        last.operations,
                        machine);
        command.commandLine().getOut().flush();
        return 0;
    }

    /** Draws the charts below the description of the machine. */
    private void save(List<XYChart> charts, String machine) throws IOException {
        BufferedImage image =
                new BufferedImage(COLUMNS * WIDTH, CAPTION_HEIGHT + ROWS * HEIGHT, BufferedImage.TYPE_INT_RGB);
        Graphics2D graphics = image.createGraphics();
        graphics.setColor(Color.WHITE);
        graphics.fillRect(0, 0, image.getWidth(), CAPTION_HEIGHT);
        graphics.setColor(Color.BLACK);
        graphics.setRenderingHint(RenderingHints.KEY_TEXT_ANTIALIASING, RenderingHints.VALUE_TEXT_ANTIALIAS_ON);
        graphics.setFont(new Font(Font.SANS_SERIF, Font.PLAIN, CAPTION_FONT));
        graphics.drawString(machine, CAPTION_FONT, (CAPTION_HEIGHT + CAPTION_FONT) / 2);
        for (int i = 0; i < charts.size(); i++) {
            int x = i % COLUMNS * WIDTH;
            int y = CAPTION_HEIGHT + i / COLUMNS * HEIGHT;
            graphics.drawImage(BitmapEncoder.getBufferedImage(charts.get(i)), x, y, null);
        }
        graphics.dispose();
        ImageIO.write(image, "png", picture.toFile());
    }

    private static XYChart chart(String title, String unit, List<Sample> points, ToDoubleFunction<Sample> value) {
        double[] x = points.stream()
                .mapToDouble(point -> point.connections / THOUSAND)
                .toArray();
        // If all values have the same distance, XChart puts the labels of the axis at values instead of round numbers.
        x[0] *= ALMOST_ONE;
        double[] y = points.stream().mapToDouble(value).toArray();
        Sample last = points.get(points.size() - 1);
        XYChart chart = new XYChartBuilder()
                .width(WIDTH)
                .height(HEIGHT)
                .title(title)
                .xAxisTitle(String.format(
                        Locale.ROOT,
                        "thousand connections, each with %.0f operations",
                        last.operations / last.connections))
                .yAxisTitle(unit)
                .build();
        chart.getStyler().setLegendVisible(false);
        double most = points.stream().mapToDouble(value).max().orElseThrow();
        chart.getStyler().setXAxisMin(0.0).setXAxisMax(x[x.length - 1]);
        chart.getStyler().setYAxisMin(0.0).setYAxisMax(most * ROOM);
        chart.addSeries(title, x, y).setMarker(SeriesMarkers.NONE);
        return chart;
    }
}
