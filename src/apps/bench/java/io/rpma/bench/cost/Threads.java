// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.bench.cost;

import io.rpma.bench.Bench;
import io.rpma.bench.CPrograms;
import io.rpma.bench.Language;
import io.rpma.bench.Machine;
import io.rpma.bench.Report;
import io.rpma.bench.Result;
import io.rpma.bench.Target;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.Options;
import org.openjdk.jmh.runner.options.TimeValue;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * Measures how several threads that use the library at once slow each other down, beside threads in C.
 *
 * <p>The threads of a sample run the same operation. The number of a sample is the mean time of one operation in one
 * thread.
 */
@Command(
        name = "threads",
        description = "Measures calls of several threads at once, with libraries that do nothing: posts, polls, open, "
                + "close and registration. More threads than processors share the processors. Without --quick, also "
                + "measures the close of many objects, alone and beside a thread that posts.")
public final class Threads implements Callable<Integer> {
    private static final List<Integer> NUMBERS_OF_THREADS = List.of(1, 2, 4);

    private static final int SAMPLE_MILLIS = 2;

    /** Long enough for several time slices of each thread, when threads share processors. */
    private static final int SHARED_SAMPLE_MILLIS = 20;

    private static final double NANOS_PER_MICROSECOND = 1000;

    private static final double CALL_NANOS = 20;

    /** The time of a close at once divided by the time of closes one by one, beside a thread that posts. */
    private static final double AT_ONCE_RATIO = 0.1;

    /** Enough to end the JVM's compilation: a close interrupts the compiler's thread, and then takes longer. */
    private static final int WARM_UPS = 10;

    private static final List<Operation> OPERATIONS = List.of(
            new Operation("write", Sample.FASTEST),
            new Operation("writeShared", Sample.FASTEST),
            new Operation("emptyPoll", Sample.FASTEST),
            new Operation("emptyPollShared", Sample.FASTEST),
            new Operation("openAndClose", Sample.MEDIAN),
            new Operation("registerAndClose", Sample.MEDIAN),
            new Operation("registerAndCloseShared", Sample.MEDIAN),
            new Operation("connectAndClose", Sample.MEDIAN),
            new Operation("connectAndCloseShared", Sample.MEDIAN));

    /**
     * The objects of {@link CloseBenchmark}. One thread closes them: one by one or at once, alone or beside a
     * {@link Poster}.
     */
    private static final List<String> CLOSES = List.of("closeRegions", "closeCfgs", "closeConns");

    private static final String AT_ONCE = "AtOnce";

    private static final String BESIDE_WRITE = "BesideWrite";

    @Option(names = "--quick", description = "Measure for about a minute, with more noise.")
    private boolean quick;

    @Spec
    private CommandSpec command;

    /** The sample of a round that counts. */
    private enum Sample {
        /** Of calls that take no lock: slower samples include other work of the machine. */
        FASTEST(Collections::min),
        /** Of calls that take locks: in the fastest sample, other threads had no processor, and so did not contend. */
        MEDIAN(Result::median);

        private final ToDoubleFunction<List<Double>> choice;

        Sample(ToDoubleFunction<List<Double>> choice) {
            this.choice = choice;
        }

        double of(List<Double> samples) {
            return choice.applyAsDouble(samples);
        }
    }

    /** An operation: its name, which is the same in C and in Java, and the sample that counts. */
    private record Operation(String name, Sample sample) {
        boolean isCloseOfMany() {
            return CLOSES.stream().anyMatch(name::startsWith);
        }
    }

    /** The extent of the measurement. A round takes {@code samples} samples of each measurement in each program. */
    private enum Effort {
        QUICK(1, 30),
        FULL(3, 50);

        private final int rounds;
        private final int samples;

        Effort(int rounds, int samples) {
            this.rounds = rounds;
            this.samples = samples;
        }
    }

    /**
     * The rounds of an operation with a number of threads: for each round, the nanoseconds of the sample that counts.
     */
    private record Measured(Operation operation, int threads, Map<Language, List<Double>> rounds) {
        Measured(Operation operation, int threads) {
            this(operation, threads, new EnumMap<>(Language.class));
        }

        void addRound(Effort effort) throws IOException, InterruptedException, RunnerException {
            add(Language.C, runC(effort));
            add(Language.JAVA, runJava(effort));
            add(Language.CONTROL, runC(effort));
        }

        private void add(Language language, List<Double> samples) {
            rounds.computeIfAbsent(language, key -> new ArrayList<>()).add(operation.sample.of(samples));
        }

        private boolean sharesProcessors() {
            return threads > Runtime.getRuntime().availableProcessors();
        }

        /** A close of many objects, one by one beside a thread that posts, takes longer than the short sample. */
        private int sampleMillis() {
            return sharesProcessors() || operation.isCloseOfMany() ? SHARED_SAMPLE_MILLIS : SAMPLE_MILLIS;
        }

        private List<Double> runC(Effort effort) throws IOException, InterruptedException {
            if (operation.isCloseOfMany()) {
                return Programs.inC(operation.name, effort.samples);
            }
            return Programs.inC(
                    operation.name, effort.samples, Integer.toString(threads), Integer.toString(sampleMillis()));
        }

        /** JMH adds up the throughputs of the threads, in operations per nanosecond. */
        private List<Double> runJava(Effort effort) throws RunnerException {
            Options options = Programs.options(operation.name, WARM_UPS, effort.samples)
                    .mode(Mode.Throughput)
                    .threads(threads)
                    .measurementTime(TimeValue.milliseconds(sampleMillis()))
                    .build();
            return Programs.inJava(options).stream()
                    .map(sample -> threads / sample.getPrimaryResult().getScore())
                    .toList();
        }

        Stream<Result> results() {
            return Language.EVERYWHERE.stream().flatMap(language -> Stream.of(nanos(language), throughput(language)));
        }

        private Result nanos(Language language) {
            return result(language, "ns/op", rounds.get(language));
        }

        /** The throughput of all threads. */
        private Result throughput(Language language) {
            List<Double> numbers = rounds.get(language).stream()
                    .map(nanos -> NANOS_PER_MICROSECOND * threads / nanos)
                    .toList();
            return result(language, "Mops/s", numbers);
        }

        private Result result(Language language, String unit, List<Double> numbers) {
            Map<String, String> params = Map.of(
                    "sample",
                    operation.sample.name().toLowerCase(Locale.ROOT),
                    Result.THREADS,
                    Integer.toString(threads));
            return Result.of(operation.name, params, language, unit, numbers);
        }

        boolean hasTarget() {
            return operation.sample == Sample.FASTEST && !sharesProcessors();
        }

        Target target() {
            double more = nanos(Language.JAVA).minus(nanos(Language.C));
            return Target.atMost(operation.name + " threads=" + threads + ": Java - C", CALL_NANOS, more, "ns");
        }
    }

    @Override
    public Integer call() throws IOException, InterruptedException, RunnerException {
        Effort effort = quick ? Effort.QUICK : Effort.FULL;
        CPrograms.build(Bench.OUTPUT);
        List<Measured> all = new ArrayList<>();
        for (Operation operation : OPERATIONS) {
            NUMBERS_OF_THREADS.forEach(threads -> all.add(new Measured(operation, threads)));
        }
        if (!quick) {
            closes().forEach(name -> all.add(new Measured(new Operation(name, Sample.MEDIAN), 1)));
        }
        for (int round = 1; round <= effort.rounds; round++) {
            System.err.println("round " + round + " of " + effort.rounds);
            for (Measured measured : all) {
                measured.addRound(effort);
            }
        }
        List<Result> results = all.stream().flatMap(Measured::results).toList();
        List<Target> targets = new ArrayList<>();
        all.stream().filter(Measured::hasTarget).map(Measured::target).forEach(targets::add);
        if (!quick) {
            CLOSES.forEach(name -> targets.add(targetAtOnce(name, all)));
        }
        return Bench.finish(
                new Report("threads", Machine.here("that does nothing", "no device"), results, targets), command);
    }

    private static Target targetAtOnce(String name, List<Measured> all) {
        Result oneByOne = javaResult(name + BESIDE_WRITE, all);
        Result atOnce = javaResult(name + AT_ONCE + BESIDE_WRITE, all);
        return Target.atMost(atOnce.name() + " / " + oneByOne.name(), AT_ONCE_RATIO, atOnce.over(oneByOne), "");
    }

    private static Result javaResult(String name, List<Measured> all) {
        return all.stream()
                .filter(measured -> measured.operation.name.equals(name))
                .map(measured -> measured.nanos(Language.JAVA))
                .findFirst()
                .orElseThrow();
    }

    /** Returns the operations that one thread carries out, without the option {@code --quick}. */
    static List<String> closes() {
        return CLOSES.stream()
                .flatMap(name -> Stream.of(name, name + BESIDE_WRITE, name + AT_ONCE, name + AT_ONCE + BESIDE_WRITE))
                .toList();
    }

    /** Returns the operations that several threads carry out. */
    static List<String> operations() {
        return OPERATIONS.stream().map(Operation::name).toList();
    }
}
