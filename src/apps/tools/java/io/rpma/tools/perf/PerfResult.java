// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools.perf;

import org.HdrHistogram.Histogram;

/**
 * The result of one measurement.
 *
 * @param size the bytes of an operation
 * @param depth the most operations under way on each connection
 * @param threads the number of threads, each with a connection of its own
 * @param list the operations of one post
 * @param events whether both sides waited for events instead of polling
 * @param seconds from the first post to the last completion
 * @param times the times of all operations in nanoseconds
 */
record PerfResult(
        PerfOperation operation,
        int size,
        int depth,
        int threads,
        int list,
        boolean events,
        double seconds,
        Histogram times) {
    /** A percentile is reported if at least this number of operations took longer. */
    private static final int LEAST_BEYOND = 10;

    /** More than the error of the arithmetic, and less than one operation. */
    private static final double ROUNDING = 1e-6;

    long operations() {
        return times.getTotalCount();
    }

    double operationsPerSecond() {
        return operations() / seconds;
    }

    double bytesPerSecond() {
        return operationsPerSecond() * size;
    }

    /** Returns a percentile in microseconds; null if there are too few operations for it. */
    Double percentile(double percentile) {
        return operations() * (100 - percentile) / 100 >= LEAST_BEYOND - ROUNDING
                ? micros(times.getValueAtPercentile(percentile))
                : null;
    }

    /** Returns the median in microseconds, also of a few operations. */
    double median() {
        return micros(times.getValueAtPercentile(50));
    }

    double least() {
        return micros(times.getMinValue());
    }

    double mean() {
        // the histogram takes the middle of a range for each time, which can be below the least one
        return micros(Math.max(times.getMinValue(), times.getMean()));
    }

    double most() {
        return micros(times.getMaxValue());
    }

    private static double micros(double nanos) {
        return nanos / 1e3;
    }
}
