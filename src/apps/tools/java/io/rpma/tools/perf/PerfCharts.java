// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools.perf;

import io.rpma.support.ByteSize;
import io.rpma.support.Chart;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Draws the results of {@code perf}. */
final class PerfCharts {
    /** A distribution has a point at each of these percentiles, if there are enough operations. */
    private static final double[] PERCENTILES = {
        0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 93, 95, 97, 98, 99, 99.3, 99.5, 99.7, 99.8, 99.9, 99.95, 99.99
    };

    private PerfCharts() {}

    /**
     * Draws charts into SVG files: the latency and the throughput by size, if there are several sizes, and the
     * percentiles of each size.
     *
     * @param directory gets the files; it is made if it does not exist and there are charts
     */
    static void draw(PerfReport.Machine machine, List<PerfResult> results, Path directory) throws IOException {
        Map<String, Chart> charts = charts(results);
        charts.values().removeIf(Chart::isEmpty);
        if (!charts.isEmpty()) {
            Files.createDirectories(directory);
        }
        for (Map.Entry<String, Chart> chart : charts.entrySet()) {
            chart.getValue()
                    .write(
                            directory.resolve(chart.getKey() + ".svg"),
                            machine.cpu() + ", " + machine.device() + " to " + machine.server() + ", Linux "
                                    + machine.kernel() + ", Java " + machine.java() + ", librpma "
                                    + machine.librpma());
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
                        .add(curve(operation), result.size(), result.median());
            }
            if (sizes && result.depth() == most) {
                charts.computeIfAbsent(
                                "throughput",
                                name -> bySize("Throughput, " + underWay(most, threads), "MiB per second"))
                        .add(curve(operation), result.size(), result.bytesPerSecond() / (1 << 20));
            }
            if (result.depth() == least) {
                String size = ByteSize.text(result.size());
                addPercentiles(
                        charts.computeIfAbsent(
                                "percentiles-" + size.replace(" ", ""),
                                name -> Chart.ofPercentiles(
                                        "Latency of " + size + ", " + underWay(least, threads), "microseconds")),
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

    private static Chart.Curve curve(PerfOperation operation) {
        return new Chart.Curve(operation.toString(), operation.ordinal(), operation.isRdmacm());
    }

    private static void addPercentiles(Chart chart, PerfResult result) {
        for (double percentile : PERCENTILES) {
            Double micros = result.percentile(percentile);
            if (micros != null) {
                chart.add(curve(result.operation()), Chart.rarity(percentile), micros);
            }
        }
    }
}
