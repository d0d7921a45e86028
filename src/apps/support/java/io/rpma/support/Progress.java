// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.support;

import java.io.PrintStream;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/**
 * The progress of an operation: on a terminal one line that is rewritten, otherwise a line from time to time. A short
 * operation prints nothing.
 */
public final class Progress implements AutoCloseable {
    /** The total of an operation whose end is not known. */
    public static final long UNKNOWN = -1;

    private static final String TO_LINE_START = "\r";
    private static final String CLEAR_REST = "\u001b[K";
    private static final long TERMINAL_INTERVAL = TimeUnit.MILLISECONDS.toNanos(100);
    private static final long SHORTEST_INTERVAL = TimeUnit.SECONDS.toNanos(1);
    private static final long LONGEST_INTERVAL = TimeUnit.SECONDS.toNanos(5);

    /** The number of equal steps of an operation. A line is due after each step. */
    private static final int STEPS = 5;

    private final String what;
    private final long total;
    private final long begin;
    private final PrintStream out;
    private final boolean terminal;
    private final long start = System.nanoTime();
    private long lastPrinted = start;
    private long bytesPrinted;
    private long bytes;

    Progress(String what, long total, long begin, PrintStream out, boolean terminal) {
        this.what = what;
        this.total = total;
        this.begin = begin;
        bytes = begin;
        bytesPrinted = begin;
        this.out = out;
        this.terminal = terminal;
    }

    /** Sets the number of bytes that are done. Prints only from time to time, so it can be called for each chunk. */
    public void update(long done) {
        bytes = done;
        long now = System.nanoTime();
        if (isWorthPrinting(now - lastPrinted)) {
            lastPrinted = now;
            bytesPrinted = done;
            print();
        }
    }

    private boolean isWorthPrinting(long interval) {
        if (terminal) {
            return interval >= TERMINAL_INTERVAL;
        }
        return interval >= LONGEST_INTERVAL
                || (total != UNKNOWN && interval >= SHORTEST_INTERVAL && bytes - bytesPrinted >= total / STEPS);
    }

    /** Prints the last state, unless it is already printed. */
    @Override
    public void close() {
        if (terminal ? lastPrinted != start : isWorthALastLine()) {
            print();
            if (terminal) {
                out.println();
            }
        }
    }

    private boolean isWorthALastLine() {
        return bytes != bytesPrinted && System.nanoTime() - start >= SHORTEST_INTERVAL;
    }

    private void print() {
        double seconds = Math.max(1, System.nanoTime() - start) / 1e9;
        String line = String.format(
                Locale.ROOT, "%s%s, %s/s", what, state(), Size.format(Math.rint((bytes - begin) / seconds)));
        if (terminal) {
            out.print(TO_LINE_START + line + CLEAR_REST);
            out.flush();
        } else {
            out.println(line);
        }
    }

    private String state() {
        if (total == UNKNOWN) {
            return Size.format(bytes);
        }
        long percent = total == 0 ? 100 : (long) (100.0 * bytes / total);
        return String.format(Locale.ROOT, "%3d%% of %s", percent, Size.format(total));
    }
}
