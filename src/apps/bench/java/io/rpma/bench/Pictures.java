// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.bench;

import io.rpma.support.ByteSize;
import io.rpma.support.Chart;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Draws the percentiles of a report, and the values that depend on a number of connections or bytes. */
final class Pictures {
    private static final String VALUE = "value";
    private static final String MEDIAN = "p50";
    private static final String CONNECTIONS = "connections";
    private static final String BYTES = "bytes";
    private static final String DEPTH = "depth";
    private static final String MICROSECONDS = "microseconds";

    private static final String TCP = "tcp";

    /** The operations in the pictures by size: their names in reports and in pictures. */
    private static final Map<String, String> BY_SIZE = Map.of("write", "RDMA write", TCP, "TCP");

    private static final int SIZES_OF_A_COLOUR = 3;

    /** The number of operations under way in the picture of the throughput. */
    private static final String MANY = "16";

    private final Machine machine;

    /** The pictures by their names. */
    private final Map<String, Chart> pictures = new LinkedHashMap<>();

    private Pictures(Machine machine) {
        this.machine = machine;
    }

    /**
     * Draws a report into SVG files.
     *
     * @return the files: two for the round trip and the throughput by size, one for the percentiles of each operation
     *     and way to take completions, one for each value that depends on the number of connections, and one for the
     *     registration of memory
     */
    static List<Path> draw(Report report, Path directory) throws IOException {
        Pictures pictures = new Pictures(report.machine());
        report.results().forEach(pictures::add);
        Files.createDirectories(directory);
        List<Path> files = new ArrayList<>();
        for (Map.Entry<String, Chart> picture : pictures.pictures.entrySet()) {
            Path file = directory.resolve(picture.getKey() + ".svg");
            picture.getValue().write(file, report.machine().description());
            files.add(file);
        }
        return files;
    }

    /** Adds a result to its pictures, if it has any. */
    private void add(Result result) {
        Map<String, String> params = result.params();
        double micros = result.unit().equals("us") ? result.median() : result.median() / 1e3;
        String value = params.get(VALUE);
        if (isBySize(result)) {
            addBySize(result, micros);
        }
        if (result.name().equals("loop write") && result.unit().equals("ops/s")) {
            byConnections("loop", "Write of 8 bytes on connections that one event loop serves", "time of a write")
                    .add(curve("", result, false), connections(result), 1e6 / result.median());
        } else if (result.name().equals("spread write") && MEDIAN.equals(value)) {
            byConnections("scale", "Write of 8 bytes on each of many connections in turn", "median")
                    .add(curve("", result, false), connections(result), micros);
        } else if (result.name().equals("connection")) {
            byConnections("connect", "Opening a connection", "mean")
                    .add(curve("", result, false), connections(result), micros);
        } else if (params.containsKey(BYTES) && value != null) {
            addPercentile(result, value, micros);
        } else if (result.unit().equals("us") && params.keySet().equals(Set.of(BYTES))) {
            bySize("registration", "Registration and deregistration of memory", "size of the memory", MICROSECONDS)
                    .add(curve(result.name() + ", ", result, result.name().equals("deregister")), size(result), micros);
        }
    }

    /** Returns whether a result is in a picture by size. Each operation has one way to take completions there. */
    private static boolean isBySize(Result result) {
        return BY_SIZE.containsKey(result.name())
                && result.language() != Language.CONTROL
                && result.params()
                        .getOrDefault("completions", "")
                        .equals(result.name().equals(TCP) ? "block" : "poll");
    }

    private void addBySize(Result result, double micros) {
        Chart.Curve curve =
                curve(BY_SIZE.get(result.name()) + ", ", result, result.name().equals(TCP));
        if (MEDIAN.equals(result.params().get(VALUE))) {
            bySize("latency", "Round trip by size", "size of a write or message", "microseconds, median")
                    .add(curve, size(result), micros);
        } else if (MANY.equals(result.params().get(DEPTH))) {
            double bytes = Double.parseDouble(result.params().get(BYTES));
            bySize(
                            "throughput",
                            "Throughput by size, " + MANY + " under way",
                            "size of a write or message",
                            "MiB per second")
                    .add(curve, size(result), result.median() * bytes / (1 << 20));
        }
    }

    /** Adds a point of Java or C. The other programs would be curves with the same look. */
    private void addPercentile(Result result, String percentile, double micros) {
        if (result.language() != Language.JAVA && result.language() != Language.C) {
            return;
        }
        long bytes = Long.parseLong(result.params().get(BYTES));
        String name = result.name() + "-" + result.params().get("completions");
        pictures.computeIfAbsent(
                        "latency-" + name,
                        file -> Chart.ofPercentiles(onDevice("Percentiles of the round trip: " + name), MICROSECONDS))
                .add(
                        new Chart.Curve(
                                result.language().title() + ", " + ByteSize.text(bytes),
                                Long.numberOfTrailingZeros(bytes) / SIZES_OF_A_COLOUR,
                                result.language() != Language.JAVA),
                        Chart.rarity(Double.parseDouble(percentile.substring(1))),
                        micros);
    }

    private Chart byConnections(String name, String title, String value) {
        return pictures.computeIfAbsent(
                name,
                added -> new Chart(
                        onDevice(title), "connections", "microseconds, " + value, x -> Long.toString((long) x)));
    }

    private Chart bySize(String name, String title, String xTitle, String yTitle) {
        return pictures.computeIfAbsent(name, added -> Chart.bySize(onDevice(title), xTitle, yTitle));
    }

    private String onDevice(String title) {
        return title + " (" + machine.device() + ")";
    }

    /** Returns the curve of a result. Its colour is the colour of the language. */
    private static Chart.Curve curve(String prefix, Result result, boolean dashed) {
        return new Chart.Curve(
                prefix + result.language().title(), result.language().ordinal(), dashed);
    }

    private static double connections(Result result) {
        return Double.parseDouble(result.params().get(CONNECTIONS));
    }

    private static double size(Result result) {
        return Double.parseDouble(result.params().get(BYTES));
    }
}
