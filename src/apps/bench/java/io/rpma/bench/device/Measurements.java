// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.bench.device;

import io.rpma.bench.Language;
import io.rpma.bench.Result;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.HdrHistogram.Histogram;

/** Collects the measured values, round by round. */
final class Measurements {
    /** The reported percentiles of a distribution. */
    static final List<Double> PERCENTILES = List.of(10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.9);

    /** A percentile is reported if at least this number of values is beyond it. */
    private static final int LEAST_BEYOND = 10;

    private record Key(String name, Map<String, String> params, Language language, String unit) {}

    private final Map<Key, List<Double>> measured = new LinkedHashMap<>();

    /** Adds the number of the next round. */
    void add(String name, Map<String, String> params, Language language, String unit, double number) {
        measured.computeIfAbsent(new Key(name, Map.copyOf(params), language, unit), key -> new ArrayList<>())
                .add(number);
    }

    /** Adds the percentiles of the next round, in nanoseconds. The parameter {@code value} names the percentile. */
    void add(String name, Map<String, String> params, Language language, Histogram times) {
        for (double percentile : PERCENTILES) {
            if (times.getTotalCount() * (100 - percentile) / 100 >= LEAST_BEYOND) {
                Map<String, String> withValue = new LinkedHashMap<>(params);
                withValue.put("value", title(percentile));
                add(name, withValue, language, "ns/op", times.getValueAtPercentile(percentile));
            }
        }
    }

    /** Adds the rounds of other measurements after the rounds of these. */
    void addAll(Measurements others) {
        others.measured.forEach((key, rounds) ->
                measured.computeIfAbsent(key, added -> new ArrayList<>()).addAll(rounds));
    }

    /** Returns the name of a percentile, for example {@code p99.9}. */
    static String title(double percentile) {
        return percentile == Math.rint(percentile) ? "p" + (int) percentile : "p" + percentile;
    }

    /** Returns the results, in the order in which their first numbers were added. */
    List<Result> results() {
        List<Result> results = new ArrayList<>();
        measured.forEach(
                (key, rounds) -> results.add(Result.of(key.name(), key.params(), key.language(), key.unit(), rounds)));
        return results;
    }
}
