// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.support;

import java.io.PrintStream;
import picocli.CommandLine.Help.Ansi;

/** Prints rows that are at most 80 columns wide. Colours are for a terminal only. */
public final class Page {
    private static final int WIDTH = 80;

    /** A change of the colour on a terminal. */
    private static final String ESCAPE = "\u001b\\[[\\d;]*m";

    private final PrintStream out;

    public Page(PrintStream out) {
        this.out = out;
    }

    /** Returns a text in a colour or style of picocli, or as it is if the output is no terminal. */
    public static String paint(String style, String text) {
        return Ansi.AUTO.string("@|" + style + " " + text + "|@");
    }

    /** Prints an empty line and a heading. */
    public void heading(String text) {
        out.println();
        out.println(paint("bold", text));
    }

    /** Prints a row. A long text continues in further lines, below its beginning. */
    public void row(String head, String text) {
        int indent = columns(head);
        StringBuilder row = new StringBuilder(head);
        int column = indent;
        for (String word : text.split(" ")) {
            int length = columns(word);
            if (column > indent && column + 1 + length > WIDTH) {
                row.append("\n").append(" ".repeat(indent));
                column = indent;
            }
            if (column > indent) {
                row.append(" ");
                column++;
            }
            row.append(word);
            column += length;
        }
        out.println(row);
    }

    private static int columns(String text) {
        return text.replaceAll(ESCAPE, "").length();
    }

    /** Prints a command in one line, so that a user can copy it. */
    public void command(int indent, String command) {
        out.println(" ".repeat(indent) + paint("bold", command));
    }
}
