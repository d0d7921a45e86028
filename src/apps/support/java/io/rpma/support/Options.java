// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.support;

import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Model.CommandSpec;

/** The options that several commands have. */
public final class Options {
    /** The largest port. */
    public static final int MOST_PORT = 65535;

    private static final int MOST_SECONDS = 3600;

    private Options() {}

    /**
     * Refuses a port that does not exist.
     *
     * @param most the largest port of the command
     */
    public static void checkPort(CommandSpec command, int port, int most) {
        Program.check(command, "--port", port >= 1 && port <= most, "must be 1 to " + most);
    }

    /** Refuses a time that is not positive, or longer than an hour. */
    public static void checkSeconds(CommandSpec command, String option, double seconds) {
        Program.check(
                command,
                option,
                seconds > 0 && seconds <= MOST_SECONDS,
                "must be more than 0, and at most " + MOST_SECONDS + " seconds");
    }

    /** Returns a number of seconds in nanoseconds. */
    public static long nanos(double seconds) {
        return (long) (seconds * TimeUnit.SECONDS.toNanos(1));
    }
}
