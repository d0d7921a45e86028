// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools.perf;

import io.rpma.support.Page;
import io.rpma.support.Program;
import java.io.IOException;
import java.io.PrintStream;
import java.util.List;

/** The table of the results. Its head is printed with the first line, so that a failure before has none. */
final class PerfTable {
    private final PrintStream out;
    private final List<String> notes;
    private boolean begun;

    /**
     * Makes an empty table.
     *
     * @param notes the lines after the head
     */
    PerfTable(PrintStream out, List<String> notes) {
        this.out = out;
        this.notes = notes;
    }

    /** Prints a line. */
    void add(String line) throws IOException {
        if (!begun) {
            begun = true;
            Program.print(out, Page.paint("bold", PerfReport.head()));
            for (String note : notes) {
                Program.print(out, note);
            }
        }
        Program.print(out, line);
    }
}
