// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.bench.cost;

import io.rpma.bench.Bench;
import io.rpma.bench.CPrograms;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.Options;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/**
 * The measured programs: {@code cost.c}, and JMH in a separate JVM. An operation of the library has the same name in
 * both.
 */
final class Programs {
    private static final TimeValue WARM_UP = TimeValue.milliseconds(100);

    private Programs() {}

    /**
     * Runs an operation in C, and returns the nanoseconds of each sample.
     *
     * @param more the further arguments of the program
     */
    static List<Double> inC(String operation, int samples, String... more) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>();
        command.add(Bench.OUTPUT.resolve("cost").toString());
        command.add(operation);
        command.add(Integer.toString(samples));
        command.addAll(List.of(more));
        return CPrograms.run(command.toArray(String[]::new))
                .lines()
                .map(Double::valueOf)
                .toList();
    }

    /** Returns the options of JMH that all runs of {@link #inJava} have. */
    static ChainedOptionsBuilder options(String operation, int warmUps, int samples) {
        Path library = Bench.OUTPUT.resolve("librpma.so.0").toAbsolutePath();
        return new OptionsBuilder()
                .include("^" + Programs.class.getPackageName() + "\\.\\w+\\." + operation + "$")
                .forks(1)
                .warmupIterations(warmUps)
                .warmupTime(WARM_UP)
                .measurementIterations(samples)
                .jvmArgs("-D" + NoopTarget.LIBRARY_PROPERTY + "=" + library, "--enable-native-access=ALL-UNNAMED")
                .shouldFailOnError(true)
                .verbosity(VerboseMode.SILENT);
    }

    /** Runs an operation in Java, and returns its samples. */
    static List<IterationResult> inJava(Options options) throws RunnerException {
        Collection<RunResult> results = new Runner(options).run();
        if (results.size() != 1) {
            throw new RunnerException(results.size() + " benchmarks are called " + options.getIncludes());
        }
        return List.copyOf(results.iterator()
                .next()
                .getBenchmarkResults()
                .iterator()
                .next()
                .getIterationResults());
    }
}
