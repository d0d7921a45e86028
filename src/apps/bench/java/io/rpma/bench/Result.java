// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.DoubleBinaryOperator;

/**
 * A measured value of one program.
 *
 * @param name the measured operation, for example {@code write}
 * @param params the conditions, for example {@code {"depth": "16", "value": "p99"}}
 * @param language the measured program
 * @param unit the unit of the numbers, for example {@code ns/op}, {@code ops/s} or {@code KB}
 * @param rounds the measured numbers, one for each round
 * @param median the median of the rounds
 */
public record Result(
        String name, Map<String, String> params, Language language, String unit, List<Double> rounds, double median) {

    /** The parameter with the number of threads. {@link Table} has columns for each of its values. */
    public static final String THREADS = "threads";

    /** Makes a result from the numbers of its rounds. */
    public static Result of(
            String name, Map<String, String> params, Language language, String unit, List<Double> rounds) {
        return new Result(name, Map.copyOf(params), language, unit, List.copyOf(rounds), median(rounds));
    }

    /** Returns the median of the differences between this result and another result of the same rounds. */
    public double minus(Result other) {
        return compare(other, (mine, theirs) -> mine - theirs);
    }

    /** Returns the median of the ratios between this result and another result of the same rounds. */
    public double over(Result other) {
        return compare(other, (mine, theirs) -> mine / theirs);
    }

    private double compare(Result other, DoubleBinaryOperator comparison) {
        if (rounds.size() != other.rounds.size()) {
            throw new IllegalArgumentException(
                    name + " has " + rounds.size() + " rounds, and " + other.name + " has " + other.rounds.size());
        }
        List<Double> compared = new ArrayList<>();
        for (int i = 0; i < rounds.size(); i++) {
            compared.add(comparison.applyAsDouble(rounds.get(i), other.rounds.get(i)));
        }
        return median(compared);
    }

    /** Returns the middle number in ascending order, or the mean of the two middle numbers. */
    public static double median(List<Double> numbers) {
        if (numbers.isEmpty()) {
            throw new IllegalArgumentException("no numbers have no median");
        }
        List<Double> sorted = numbers.stream().sorted().toList();
        int half = sorted.size() / 2;
        return sorted.size() % 2 == 1 ? sorted.get(half) : (sorted.get(half - 1) + sorted.get(half)) / 2;
    }
}
