package io.rpma.bench.tax;

import io.rpma.bench.Bench;
import io.rpma.bench.CPrograms;
import io.rpma.bench.Language;
import io.rpma.bench.Machine;
import io.rpma.bench.Report;
import io.rpma.bench.Result;
import io.rpma.bench.Target;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.BenchmarkResult;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.Options;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Measures what the binding adds to a call of C. */
@Command(name = "tax", description = "Measures what a call costs more than in C, with a librpma that does nothing.")
public final class Tax implements Callable<Integer> {
    private static final String TIME_UNIT = "ns/op";
    private static final String ALLOCATED = "gc.alloc.rate.norm";
    private static final String ALLOCATED_UNIT = "B/op";

    /** How long and how often is measured. */
    private enum Effort {
        QUICK(3, 50, 3, 100),
        FULL(5, 250, 5, 200);

        private final int rounds;
        private final int cMilliseconds;
        private final int javaIterations;
        private final int iterationMilliseconds;

        Effort(int rounds, int cMilliseconds, int javaIterations, int iterationMilliseconds) {
            this.rounds = rounds;
            this.cMilliseconds = cMilliseconds;
            this.javaIterations = javaIterations;
            this.iterationMilliseconds = iterationMilliseconds;
        }
    }

    /** An operation by the name that both sides have for it, and how many nanoseconds more than C it may take. */
    private record Operation(String name, double target) {}

    private static final double CALL = 20;
    private static final double COMPLETION = 4;

    private static final List<Operation> OPERATIONS = List.of(
            new Operation("read", CALL),
            new Operation("write", CALL),
            new Operation("writeWithImm", CALL),
            new Operation("atomicWrite", CALL),
            new Operation("flush", CALL),
            new Operation("send", CALL),
            new Operation("sendWithImm", CALL),
            new Operation("recv", CALL),
            new Operation("emptyPoll", CALL),
            new Operation("pollOf16", COMPLETION));

    @Option(names = "--quick", description = "Take less than a minute, for numbers that are less sure.")
    private boolean quick;

    @Spec
    private CommandSpec command;

    /** The numbers of one operation, one for each round. */
    private static final class Rounds {
        private final List<Double> c = new ArrayList<>();
        private final List<Double> java = new ArrayList<>();
        private final List<Double> control = new ArrayList<>();
        private final List<Double> allocated = new ArrayList<>();

        private List<Result> results(String name) {
            return List.of(
                    Result.of(name, Map.of(), Language.C, TIME_UNIT, c),
                    Result.of(name, Map.of(), Language.CONTROL, TIME_UNIT, control),
                    Result.of(name, Map.of(), Language.JAVA, TIME_UNIT, java),
                    Result.of(name, Map.of(), Language.JAVA, ALLOCATED_UNIT, allocated));
        }
    }

    @Override
    public Integer call() throws IOException, InterruptedException, RunnerException {
        Effort effort = quick ? Effort.QUICK : Effort.FULL;
        CPrograms.build(Bench.OUTPUT);
        List<Rounds> measured = new ArrayList<>();
        OPERATIONS.forEach(operation -> measured.add(new Rounds()));
        for (int round = 1; round <= effort.rounds; round++) {
            System.err.println("round " + round + " of " + effort.rounds);
            for (int i = 0; i < OPERATIONS.size(); i++) {
                measure(OPERATIONS.get(i), effort, measured.get(i));
            }
        }
        return Bench.finish(report(measured), command);
    }

    private static void measure(Operation operation, Effort effort, Rounds rounds)
            throws IOException, InterruptedException, RunnerException {
        rounds.c.add(runC(operation, effort));
        BenchmarkResult java = runJava(operation, effort);
        rounds.java.add(Result.median(java.getIterationResults().stream()
                .map(iteration -> iteration.getPrimaryResult().getScore())
                .toList()));
        rounds.allocated.add(java.getSecondaryResults().get(ALLOCATED).getScore());
        rounds.control.add(runC(operation, effort));
    }

    private static double runC(Operation operation, Effort effort) throws IOException, InterruptedException {
        String program = Bench.OUTPUT.resolve("tax").toString();
        return Double.parseDouble(CPrograms.run(program, operation.name(), Integer.toString(effort.cMilliseconds))
                .strip());
    }

    private static BenchmarkResult runJava(Operation operation, Effort effort) throws RunnerException {
        TimeValue time = TimeValue.milliseconds(effort.iterationMilliseconds);
        Path library = Bench.OUTPUT.resolve("librpma.so.0").toAbsolutePath();
        Options options = new OptionsBuilder()
                .include("^" + Tax.class.getPackageName().replace(".", "\\.") + "\\.\\w+\\." + operation.name() + "$")
                .forks(1)
                .warmupIterations(effort.javaIterations)
                .warmupTime(time)
                .measurementIterations(effort.javaIterations)
                .measurementTime(time)
                .addProfiler(GCProfiler.class)
                .jvmArgs("-D" + NoopTarget.LIBRARY_PROPERTY + "=" + library, "--enable-native-access=ALL-UNNAMED")
                .shouldFailOnError(true)
                .verbosity(VerboseMode.SILENT)
                .build();
        Collection<RunResult> results = new Runner(options).run();
        if (results.size() != 1) {
            throw new RunnerException(results.size() + " benchmarks are called " + operation.name());
        }
        return results.iterator().next().getBenchmarkResults().iterator().next();
    }

    private static Report report(List<Rounds> measured) throws IOException {
        List<Result> results = new ArrayList<>();
        List<Target> targets = new ArrayList<>();
        double allocated = 0;
        for (int i = 0; i < OPERATIONS.size(); i++) {
            Operation operation = OPERATIONS.get(i);
            List<Result> four = measured.get(i).results(operation.name());
            results.addAll(four);
            targets.add(Target.atMost(
                    operation.name() + ": Java - C",
                    operation.target(),
                    four.get(2).minus(four.get(0)),
                    "ns"));
            allocated = Math.max(allocated, four.get(3).median());
        }
        // What JMH allocates in an iteration is a small part of a byte for each operation; an object has 16 bytes or
        // more.
        targets.add(Target.atMost("allocated by any operation", 0, Math.rint(allocated), "B"));
        return new Report("tax", Machine.here("none: one that does nothing"), results, targets);
    }
}
