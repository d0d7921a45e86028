// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.support;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/** The output of one side. Each line begins with the name of the side, so that both sides can share a terminal. */
public final class Output {
    private final String side;
    private final PrintStream out;
    private final boolean terminal;

    private Output(String side, PrintStream out, int descriptor) {
        this.side = side;
        this.out = out;
        terminal = isTerminal(descriptor);
    }

    /** Makes the output of a side, which goes to the standard output. */
    public static Output toStandardOutput(String side) {
        return new Output(side, System.out, 1);
    }

    /** Makes the output of a side whose standard output has data. It goes to the standard error output. */
    public static Output toStandardError(String side) {
        return new Output(side, System.err, 2);
    }

    /** Prints a line. */
    public void say(String line) {
        out.println(String.format(Locale.ROOT, "%-9s %s", side + ":", line));
    }

    /** Prints a named value. */
    public void say(String name, String value) {
        out.println(line(name, value));
    }

    private String line(String name, String value) {
        return String.format(Locale.ROOT, "%-9s %-12s %s", side + ":", name, value);
    }

    /**
     * Begins the progress of an operation that takes a while.
     *
     * @param total the number of bytes, or {@link Progress#UNKNOWN}
     */
    public Progress progress(String what, long total) {
        return progress(what, total, 0);
    }

    /**
     * Begins the progress of an operation that continues an earlier one.
     *
     * @param total the number of bytes, or {@link Progress#UNKNOWN}
     * @param begin the number of bytes that are already done, which do not count for the rate
     */
    public Progress progress(String what, long total, long begin) {
        return new Progress(line(what, ""), total, begin, out, terminal);
    }

    /**
     * Returns whether a descriptor is a terminal. Asks Linux, because since JDK 22 {@code System.console()} does not
     * report whether there is one.
     *
     * @param descriptor 1 for the standard output, 2 for the standard error output
     */
    public static boolean isTerminal(int descriptor) {
        try {
            String target = Files.readSymbolicLink(Path.of("/proc/self/fd/" + descriptor))
                    .toString();
            return target.startsWith("/dev/pts/") || target.startsWith("/dev/tty") || target.equals("/dev/console");
        } catch (IOException e) {
            return false;
        }
    }
}
