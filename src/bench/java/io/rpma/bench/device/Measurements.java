package io.rpma.bench.device;

import io.rpma.bench.Language;
import io.rpma.bench.Result;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.HdrHistogram.Histogram;

/** Collects what is measured, round by round. */
final class Measurements {
    /** What is told of a distribution. */
    static final List<Double> PERCENTILES = List.of(10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.9);

    /** How many values have to be beyond a percentile for it to tell something. */
    private static final int LEAST_BEYOND = 10;

    private record Key(String name, Map<String, String> params, Language language, String unit) {}

    private final Map<Key, List<Double>> measured = new LinkedHashMap<>();

    /** Adds the number of another round. */
    void add(String name, Map<String, String> params, Language language, String unit, double number) {
        measured.computeIfAbsent(new Key(name, Map.copyOf(params), language, unit), key -> new ArrayList<>())
                .add(number);
    }

    /** Adds the percentiles of another round, in nanoseconds; {@code value} tells which of them it is. */
    void add(String name, Map<String, String> params, Language language, Histogram times) {
        for (double percentile : PERCENTILES) {
            if (times.getTotalCount() * (100 - percentile) / 100 >= LEAST_BEYOND) {
                Map<String, String> withValue = new LinkedHashMap<>(params);
                withValue.put("value", title(percentile));
                add(name, withValue, language, "ns/op", times.getValueAtPercentile(percentile));
            }
        }
    }

    /** The name of a percentile: {@code p99.9}. */
    static String title(double percentile) {
        return percentile == Math.rint(percentile) ? "p" + (int) percentile : "p" + percentile;
    }

    /** The results, in the order in which their first numbers came. */
    List<Result> results() {
        List<Result> results = new ArrayList<>();
        measured.forEach(
                (key, rounds) -> results.add(Result.of(key.name(), key.params(), key.language(), key.unit(), rounds)));
        return results;
    }
}
