// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.support;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;

/** Checks of the command lines of the examples. */
public final class CommandLines {
    private CommandLines() {}

    /**
     * Asserts that a program refuses its arguments with a message of one line, and ends with status 2.
     *
     * @param arguments separated by blanks, or null for none
     * @param message a part of the message
     */
    public static void assertMisused(Program program, String arguments, String message) {
        StringWriter errors = new StringWriter();
        int status = program.commandLine()
                .setErr(new PrintWriter(errors))
                .execute(arguments == null ? new String[0] : arguments.split(" "));
        assertThat(errors.toString()).contains(message).contains("--help").hasLineCount(1);
        assertThat(status).isEqualTo(2);
    }
}
