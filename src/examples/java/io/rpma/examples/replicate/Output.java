package io.rpma.examples.replicate;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The output of one side. Each line begins with the name of the side, so that both sides can share a terminal. */
final class Output {
    private static final Path STANDARD_OUTPUT = Path.of("/proc/self/fd/1");

    private final String side;
    private final boolean terminal = isTerminal();

    Output(String side) {
        this.side = side;
    }

    /** Prints a line. */
    void say(String line) {
        System.out.println(String.format("%-9s %s", side + ":", line));
    }

    /** Prints a named value. */
    void say(String name, String value) {
        System.out.println(line(name, value));
    }

    private String line(String name, String value) {
        return String.format("%-9s %-12s %s", side + ":", name, value);
    }

    /** Begins the progress of an operation that takes a while. */
    Progress progress(String what, long total) {
        return new Progress(line(what, ""), total, terminal);
    }

    /** Asks Linux, because since JDK 22 {@code System.console()} does not report whether there is a terminal. */
    private static boolean isTerminal() {
        try {
            String target = Files.readSymbolicLink(STANDARD_OUTPUT).toString();
            return target.startsWith("/dev/pts/") || target.startsWith("/dev/tty") || target.equals("/dev/console");
        } catch (IOException e) {
            return false;
        }
    }
}
