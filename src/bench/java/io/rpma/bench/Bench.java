package io.rpma.bench;

import io.rpma.bench.device.DeviceSuite;
import io.rpma.examples.common.Program;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * Runs the benchmarks, in the checkout's directory:
 *
 * <pre>
 * java -cp 'target/classes:target/test-classes:target/lib/*' io.rpma.bench.Bench tax
 * </pre>
 *
 * <p>Ends with status 0 if all targets are met, 1 if one is missed or could not be measured, and 2 if it was called wrongly.
 */
@Command(
        name = "bench",
        description = "Measures the library beside C.",
        synopsisSubcommandLabel = "SUITE",
        subcommands = {DeviceSuite.class, Bench.Show.class})
public final class Bench extends Program {
    /** Where suites put what they make: each its report, under its name. */
    public static final Path OUTPUT = Path.of("target/bench");

    private static final int MISSED = 1;

    private Bench() {}

    /**
     * Runs the command line.
     *
     * @param args the arguments
     */
    public static void main(String[] args) {
        System.exit(new Bench().run(args));
    }

    /** Ends a suite: writes its report, shows it, and returns the exit status. */
    public static int finish(Report report, CommandSpec command) throws IOException {
        Path file = OUTPUT.resolve(report.suite() + ".json");
        report.write(file);
        CommandLine commandLine = command.commandLine();
        commandLine.getOut().print(Table.of(report));
        commandLine.getOut().println("written to " + file);
        commandLine.getOut().flush();
        return report.passes() ? 0 : MISSED;
    }

    /** Shows reports again. */
    @Command(name = "report", description = "Shows reports of earlier runs.")
    static final class Show implements Callable<Integer> {
        @Parameters(arity = "1..*", paramLabel = "FILE", description = "A report: target/bench/SUITE.json.")
        private Path[] files;

        @Spec
        private CommandSpec command;

        @Override
        public Integer call() throws Exception {
            boolean passes = true;
            for (Path file : files) {
                Report report = Report.read(file);
                command.commandLine().getOut().println(Table.of(report));
                passes &= report.passes();
            }
            return passes ? 0 : MISSED;
        }
    }
}
