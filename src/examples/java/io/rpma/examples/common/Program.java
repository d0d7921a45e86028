package io.rpma.examples.common;

import java.io.IOException;
import java.io.PrintStream;
import java.util.logging.Level;
import java.util.logging.Logger;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ScopeType;

/**
 * A command line program: the options that all have, and what it says when something is wrong.
 *
 * <p>It ends with status 0 if it has done what it was asked for, 1 if not, and 2 if it was called wrongly.
 */
public abstract class Program {
    private static final int FAILED = 1;

    /** What librpma logs is in the messages of the exceptions too. A field, since a logger that nobody holds forgets its level. */
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
            description = "Show what librpma logs, and where an error comes from.")
    private boolean verbose;

    /** For the programs. */
    protected Program() {}

    /** Runs the command line, and returns the exit status. */
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
     * Prints a line that somebody relies on.
     *
     * @throws IOException if it can't be written, which a stream for printing does not tell by itself
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

    /** The command line, as it is run. */
    public final CommandLine commandLine() {
        return new CommandLine(this)
                .setParameterExceptionHandler((e, arguments) -> misused(e))
                .setExecutionExceptionHandler((e, command, result) -> failed(command, e))
                .setExecutionStrategy(result -> {
                    LIBRARY_LOG.setLevel(verbose ? Level.ALL : Level.OFF);
                    return new CommandLine.RunLast().execute(result);
                });
    }

    private static int misused(ParameterException e) {
        CommandLine commandLine = e.getCommandLine();
        CommandSpec command = commandLine.getCommandSpec();
        commandLine
                .getErr()
                .println(command.qualifiedName() + ": " + e.getMessage() + "; see " + command.qualifiedName()
                        + " --help");
        return command.exitCodeOnInvalidInput();
    }

    private int failed(CommandLine command, Throwable e) {
        command.getErr().println(command.getCommandSpec().qualifiedName() + ": " + Errors.line(e));
        if (verbose) {
            e.printStackTrace(command.getErr());
        }
        return FAILED;
    }

    /** Refuses a command line that breaks a rule. */
    public static void check(CommandSpec command, String option, boolean valid, String rule) {
        if (!valid) {
            throw new ParameterException(command.commandLine(), option + " " + rule);
        }
    }
}
