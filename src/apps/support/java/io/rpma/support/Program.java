// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.support;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.logging.Level;
import java.util.logging.Logger;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.TypeConversionException;
import picocli.CommandLine.UnmatchedArgumentException;

/**
 * A command line program: the options of all programs, and the messages of failures.
 *
 * <p>A program ends with status 0 if it has succeeded, 1 if it has failed, and 2 if its command line is wrong.
 */
public abstract class Program {
    private static final int FAILED = 1;

    /**
     * The logger of librpma's messages, which is off without {@code --verbose}, because exceptions contain these
     * messages too. This is a field, because the JDK can collect an unreferenced logger with its level.
     */
    private static final Logger LIBRARY_LOG = Logger.getLogger("io.rpma");

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            scope = ScopeType.INHERIT,
            description = "Show this help and exit.")
    private boolean help;

    @Option(
            names = {"-v", "--verbose"},
            scope = ScopeType.INHERIT,
            description = "Show librpma's log messages, and the stack trace of an error.")
    private boolean verbose;

    /** Makes a program. */
    protected Program() {}

    /** Runs the command line and returns the exit status. */
    public final int run(String... args) {
        CommandLine commandLine = commandLine();
        try {
            int status = commandLine.execute(args);
            if (status == 0) {
                checkWritten(System.out);
            }
            return status;
        } catch (IOException | LinkageError | OutOfMemoryError e) {
            return failed(commandLine, e); // also if the library can't be loaded, or the memory is too large
        }
    }

    /**
     * Prints a line on which a reader relies.
     *
     * @throws IOException if the line can't be written, which a {@link PrintStream} does not report by itself
     */
    public static void print(PrintStream out, String line) throws IOException {
        out.println(line);
        checkWritten(out);
    }

    private static void checkWritten(PrintStream out) throws IOException {
        if (out.checkError()) {
            throw new IOException("the standard output can't be written");
        }
    }

    /** Returns the configured command line. */
    public final CommandLine commandLine() {
        return new CommandLine(this)
                .registerConverter(Path.class, Program::path)
                .setParameterExceptionHandler((e, arguments) -> misused(e))
                .setExecutionExceptionHandler((e, command, result) -> failed(command, e))
                .setExecutionStrategy(result -> {
                    LIBRARY_LOG.setLevel(verbose ? Level.ALL : Level.OFF);
                    return new CommandLine.RunLast().execute(result);
                });
    }

    private static Path path(String name) {
        try {
            return Path.of(name);
        } catch (InvalidPathException e) {
            throw new TypeConversionException(Errors.line(e));
        }
    }

    private static int misused(ParameterException e) {
        CommandLine commandLine = e.getCommandLine();
        CommandSpec command = commandLine.getCommandSpec();
        commandLine
                .getErr()
                .println(command.qualifiedName() + ": " + reason(e) + "; see " + command.qualifiedName() + " --help");
        return command.exitCodeOnInvalidInput();
    }

    /** Names a superfluous argument, because picocli's message has its index, which also counts the subcommands. */
    private static String reason(ParameterException e) {
        if (!(e instanceof UnmatchedArgumentException unmatched) || unmatched.isUnknownOption()) {
            return e.getMessage();
        }
        List<String> arguments = unmatched.getUnmatched();
        if (!e.getCommandLine().getSubcommands().isEmpty()) {
            return "'" + arguments.get(0) + "' is no command";
        }
        return arguments.size() == 1
                ? "the argument '" + arguments.get(0) + "' is superfluous"
                : "the arguments '" + String.join("', '", arguments) + "' are superfluous";
    }

    private int failed(CommandLine command, Throwable e) {
        command.getErr().println(command.getCommandSpec().qualifiedName() + ": " + Errors.line(e));
        if (verbose) {
            e.printStackTrace(command.getErr());
        }
        return FAILED;
    }

    /** Rejects a command line that breaks a rule. */
    public static void check(CommandSpec command, String option, boolean valid, String rule) {
        if (!valid) {
            throw new ParameterException(command.commandLine(), option + " " + rule);
        }
    }
}
