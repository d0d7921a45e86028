package io.rpma.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.ToDoubleFunction;
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
    private static final int WIDTH = 560;
    private static final int HEIGHT = 300;
    private static final int ROWS = 3;
    private static final int COLUMNS = 2;
    private static final double THOUSAND = 1000;
    private static final double KIB_OF_MIB = 1024;
    private static final double SECONDS_OF_MINUTE = 60;
    /** The room above the largest value, so that a constant is not drawn on the frame. */
    private static final double ROOM = 1.2;

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
        BitmapEncoder.saveBitmap(charts, ROWS, COLUMNS, picture.toString(), BitmapEncoder.BitmapFormat.PNG);
        Sample last = points.get(points.size() - 1);
        command.commandLine()
                .getOut()
                .printf("%.0f connections, %.0f operations: %s%n", last.connections, last.operations, machine);
        command.commandLine().getOut().flush();
        return 0;
    }

    private static XYChart chart(String title, String unit, List<Sample> points, ToDoubleFunction<Sample> value) {
        double[] x = points.stream()
                .mapToDouble(point -> point.connections / THOUSAND)
                .toArray();
        double[] y = points.stream().mapToDouble(value).toArray();
        XYChart chart = new XYChartBuilder()
                .width(WIDTH)
                .height(HEIGHT)
                .title(title)
                .xAxisTitle("thousand connections, each with 100 operations")
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
