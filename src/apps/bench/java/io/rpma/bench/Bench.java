// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.bench;

import io.rpma.bench.cost.Cost;
import io.rpma.bench.cost.Threads;
import io.rpma.bench.device.DeviceSuite;
import io.rpma.bench.ratis.RatisSuite;
import io.rpma.support.Program;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * Runs the benchmarks. The working directory must be the root of the checkout:
 *
 * <pre>
 * java -cp 'target/apps/classes:target/apps/lib/*' io.rpma.bench.Bench cost
 * </pre>
 *
 * <p>Ends with status 0 if no target is missed, 3 if a target is missed, 1 if a measurement has failed, and 2 if the
 * command line is wrong. A target whose measurement is noisy is neither met nor missed.
 */
@Command(
        name = "bench",
        description = "Measures the library beside C.",
        synopsisSubcommandLabel = "SUITE",
        subcommands = {
            Cost.class,
            Threads.class,
            DeviceSuite.class,
            Bench.Show.class,
            Bench.Summary.class,
            RatisSuite.class,
            Soak.class
        })
public final class Bench extends Program {
    /** The directory of the suites' output. Each suite writes its report there, under its name. */
    public static final Path OUTPUT = Path.of("target/bench");

    private static final int MISSED = 3;

    private Bench() {}

    /**
     * Runs the command line.
     *
     * @param args the arguments
     */
    public static void main(String[] args) {
        System.exit(new Bench().run(args));
    }

    /** Ends a suite: writes and prints its report, and returns the exit status. */
    public static int finish(Report report, CommandSpec command) throws IOException {
        Path file = OUTPUT.resolve(report.suite() + ".json");
        report.write(file);
        CommandLine commandLine = command.commandLine();
        commandLine.getOut().print(Table.of(report));
        commandLine.getOut().println("written to " + file);
        commandLine.getOut().flush();
        return report.passes() ? 0 : MISSED;
    }

    /** Prints reports again. */
    @Command(name = "report", description = "Prints reports of earlier runs.")
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

    /** Combines reports into one table of targets, and draws pictures. */
    @Command(name = "summary", description = "Prints the targets of all reports, and draws pictures into target/bench.")
    static final class Summary implements Callable<Integer> {
        @Parameters(arity = "1..*", paramLabel = "FILE", description = "A report: target/bench/SUITE.json.")
        private Path[] files;

        @Spec
        private CommandSpec command;

        @Override
        public Integer call() throws Exception {
            List<Target> targets = new ArrayList<>();
            boolean passes = true;
            PrintWriter out = command.commandLine().getOut();
            for (Path file : files) {
                Report report = Report.read(file);
                targets.addAll(report.targets());
                passes &= report.passes();
                for (Path picture : Pictures.draw(report, OUTPUT)) {
                    out.println("drawn: " + picture);
                }
            }
            out.println();
            out.print(Table.ofTargets(targets));
            out.flush();
            return passes ? 0 : MISSED;
        }
    }
}
