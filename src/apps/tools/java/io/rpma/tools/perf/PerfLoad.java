// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools.perf;

import static java.util.concurrent.TimeUnit.MILLISECONDS;

import java.io.IOException;
import org.HdrHistogram.Histogram;

/**
 * A sequence of operations on one connection.
 *
 * @param depth the most operations under way
 * @param list the number of operations of one post; at most {@code depth}
 * @param count the number of operations; 0 if the time limits them
 * @param nanos the time of the sequence, if {@code count} is 0
 * @param timeout the longest time without a completion, in nanoseconds
 */
record PerfLoad(int depth, int list, long count, long nanos, long timeout) {
    private static final int DIGITS = 3;
    private static final long CHECK = MILLISECONDS.toNanos(100);

    /**
     * The times of operations, each from the post to the moment at which its completion is taken.
     *
     * @param begin the time of the first post
     * @param end the time of the last completion
     */
    record Times(Histogram histogram, long begin, long end) {}

    /** Returns a shorter load for the start of the JVM's code. */
    PerfLoad warmUp() {
        int part = 5;
        return new PerfLoad(depth, list, count == 0 ? 0 : Math.max(1, count / part), nanos / part, timeout);
    }

    /** Runs the sequence. */
    Times run(PerfEnd end) throws IOException, InterruptedException {
        Histogram histogram = new Histogram(DIGITS);
        long[] postedAt = new long[depth];
        long posted = 0;
        long done = 0;
        long begin = System.nanoTime();
        long now = begin;
        long last = begin;
        long checked = begin;
        while (true) {
            while (isWanted(posted, now - begin)
                    && posted - done + next(posted) <= depth
                    && end.hasRoom(next(posted))) {
                int next = next(posted);
                now = System.nanoTime();
                for (int i = 0; i < next; i++) {
                    postedAt[(int) ((posted + i) % depth)] = now;
                }
                end.post(next);
                posted += next;
            }
            if (posted == done && !isWanted(posted, now - begin)) {
                return new Times(histogram, begin, last);
            }
            int taken = end.take();
            now = System.nanoTime();
            for (int i = 0; i < taken; i++) {
                histogram.recordValue(now - postedAt[(int) (done % depth)]);
                done++;
            }
            if (taken > 0) {
                last = now;
            }
            if (now - checked > CHECK) {
                checked = now;
                check(end, now - last);
            }
        }
    }

    private boolean isWanted(long posted, long elapsed) {
        return count > 0 ? posted < count : posted == 0 || elapsed < nanos;
    }

    private int next(long posted) {
        return count > 0 ? (int) Math.min(list, count - posted) : list;
    }

    private void check(PerfEnd end, long silence) throws IOException, InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        end.checkConnected();
        if (silence > timeout) {
            throw end.silent(timeout);
        }
    }
}
