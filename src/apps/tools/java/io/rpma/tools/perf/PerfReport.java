// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools.perf;

import io.rpma.support.ByteSize;
import io.rpma.support.Json;
import java.util.List;
import java.util.Locale;

/** The results of {@code perf} as text. */
final class PerfReport {
    private static final String UNKNOWN = "-";

    private PerfReport() {}

    /**
     * The machine of the client.
     *
     * @param cpu the number and the model of its processors
     * @param device the name of its RDMA device
     * @param server the address of the server
     */
    record Machine(
            String cpu, String kernel, String java, String librpma, String rdmaCore, String device, String server) {}

    /** The report as in JSON. The percentiles are null if there are too few operations. */
    private record Report(Machine machine, List<Row> results) {}

    private record Row(
            String operation,
            int bytes,
            int depth,
            int threads,
            int postList,
            boolean events,
            long operations,
            double seconds,
            double leastUs,
            double meanUs,
            double p50Us,
            Double p90Us,
            Double p99Us,
            Double p999Us,
            double mostUs,
            double operationsPerSecond,
            double bytesPerSecond) {
        static Row of(PerfResult result) {
            return new Row(
                    result.operation().toString(),
                    result.size(),
                    result.depth(),
                    result.threads(),
                    result.list(),
                    result.events(),
                    result.operations(),
                    result.seconds(),
                    result.least(),
                    result.mean(),
                    result.median(),
                    result.percentile(90),
                    result.percentile(99),
                    result.percentile(99.9),
                    result.most(),
                    result.operationsPerSecond(),
                    result.bytesPerSecond());
        }

        String csv() {
            return String.format(
                    Locale.ROOT,
                    "%s,%d,%d,%d,%d,%b,%d,%.6f,%.3f,%.3f,%.3f,%s,%s,%s,%.3f,%.1f,%.1f",
                    operation,
                    bytes,
                    depth,
                    threads,
                    postList,
                    events,
                    operations,
                    seconds,
                    leastUs,
                    meanUs,
                    p50Us,
                    cell(p90Us),
                    cell(p99Us),
                    cell(p999Us),
                    mostUs,
                    operationsPerSecond,
                    bytesPerSecond);
        }

        private static String cell(Double micros) {
            return micros == null ? "" : String.format(Locale.ROOT, "%.3f", micros);
        }
    }

    /** Returns the head of the table. */
    static String head() {
        return String.format(
                Locale.ROOT,
                "%-16s %7s %5s %3s %8s %8s %8s %9s %8s",
                "operation",
                "size",
                "depth",
                "thr",
                "p50 us",
                "p99 us",
                "p99.9 us",
                "ops/s",
                "MiB/s");
    }

    /** Returns the row of a result. */
    static String row(PerfResult result) {
        return String.format(
                Locale.ROOT,
                "%-16s %7s %5d %3d %8s %8s %8s %9s %8s",
                result.operation(),
                ByteSize.text(result.size()),
                result.depth(),
                result.threads(),
                number(result.median()),
                number(result.percentile(99)),
                number(result.percentile(99.9)),
                number(result.operationsPerSecond()),
                number(result.bytesPerSecond() / (1 << 20)));
    }

    /** Returns a number with three significant digits or more; a dash for null. */
    static String number(Double value) {
        if (value == null) {
            return UNKNOWN;
        }
        String format = value < 1 ? "%.3g" : value < 10 ? "%.2f" : value < 1000 ? "%.1f" : "%.0f";
        return String.format(Locale.ROOT, format, value);
    }

    /** Returns the results as comma-separated values with a head. */
    static String csv(List<PerfResult> results) {
        StringBuilder csv = new StringBuilder(
                "operation,bytes,depth,threads,post_list,events,operations,seconds,least_us,mean_us,p50_us,"
                        + "p90_us,p99_us,p999_us,most_us,operations_per_second,bytes_per_second\n");
        results.forEach(result -> csv.append(Row.of(result).csv()).append('\n'));
        return csv.toString();
    }

    /** Returns the results as a JSON object. */
    static String json(Machine machine, List<PerfResult> results) {
        return Json.of(new Report(machine, results.stream().map(Row::of).toList())) + "\n";
    }
}
