// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools.ping;

import java.util.Locale;
import org.HdrHistogram.Histogram;

/** The times of the round trips of a client, in nanoseconds. */
final class PingTimes {
    /** The significant digits of the median and of the standard deviation. The other values are exact. */
    private static final int DIGITS = 5;

    private final Histogram histogram = new Histogram(DIGITS);
    private long shortest = Long.MAX_VALUE;
    private long longest;
    private double sum;

    /** Adds the time of a round trip. */
    void add(long nanos) {
        histogram.recordValue(nanos);
        shortest = Math.min(shortest, nanos);
        longest = Math.max(longest, nanos);
        sum += nanos;
    }

    /** Returns the number of round trips. */
    long count() {
        return histogram.getTotalCount();
    }

    @Override
    public String toString() {
        // the histogram returns the end of a range, which can be beyond the longest time
        long median = Math.min(longest, histogram.getValueAtPercentile(50));
        return String.format(
                Locale.ROOT,
                "round trip min/avg/max/stddev %.1f/%.1f/%.1f/%.1f us, median %.1f us",
                micros(shortest),
                micros(sum / count()),
                micros(longest),
                micros(histogram.getStdDeviation()),
                micros(median));
    }

    /** Returns a time in microseconds. */
    static double micros(double nanos) {
        return nanos / 1e3;
    }
}
