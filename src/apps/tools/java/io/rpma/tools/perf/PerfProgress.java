// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools.perf;

import io.rpma.support.Output;
import java.io.PrintStream;

/** A bar in the last line of a terminal. Without a terminal it prints nothing. */
final class PerfProgress {
    private static final String CLEARED_LINE = "\r\u001b[K";
    private static final int WIDTH = 20;

    private final PrintStream out;
    private final boolean terminal;
    private final int total;

    PerfProgress(PrintStream out, boolean terminal, int total) {
        this.out = out;
        this.terminal = terminal;
        this.total = total;
    }

    /** Makes a bar in the standard error output, so that it is no part of redirected results. */
    static PerfProgress toStandardError(int total) {
        return new PerfProgress(System.err, Output.isTerminal(2), total);
    }

    /** Shows the bar. */
    void show(int done, String what) {
        if (terminal) {
            int filled = WIDTH * done / total;
            out.print(CLEARED_LINE + "[" + "#".repeat(filled) + "-".repeat(WIDTH - filled) + "] " + (done + 1) + " of "
                    + total + ": " + what);
            out.flush();
        }
    }

    /** Removes the bar, before another line is printed. */
    void clear() {
        if (terminal) {
            out.print(CLEARED_LINE);
            out.flush();
        }
    }
}
