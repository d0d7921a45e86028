// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.bench.cost;

import io.rpma.bench.Bench;
import io.rpma.bench.CPrograms;
import io.rpma.bench.Language;
import io.rpma.bench.Machine;
import io.rpma.bench.Repeats;
import io.rpma.bench.Report;
import io.rpma.bench.Result;
import io.rpma.bench.Target;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.Options;
import org.openjdk.jmh.runner.options.TimeValue;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * Measures the time that the binding adds to a call of C.
 *
 * <p>A round takes short samples of each operation: in C, in a separate JVM, and in C again. The fastest sample
 * of a round counts, because the others include other work of the machine. The table has the median of the samples too.
 */
@Command(
        name = "cost",
        description = "Measures the time that the binding adds to a call in C, with libraries that do nothing.")
public final class Cost implements Callable<Integer> {
    /** Short, so that other work of the machine does not interrupt all samples; {@code SAMPLE_NANOS} in C. */
    private static final TimeValue SAMPLE = TimeValue.milliseconds(2);

    private static final String PROFILED = "gc.alloc.rate.norm";
    private static final Map<String, String> FASTEST = Map.of("sample", "fastest");
    private static final Map<String, String> MEDIAN = Map.of("sample", "median");

    private static final double CALL_NANOS = 20;
    private static final double COMPLETION_NANOS = 4;
    private static final double BATCHED_NANOS = 5;

    /**
     * The whole time of a prepared post. Where the target was set, a post that DiSNI, another library, replays took
     * 12.6 ns.
     */
    private static final double PREPARED_NANOS = 12;

    private static final double PREPARED_BATCH_NANOS = 2.5;
    private static final double POOL_NANOS = 60;
    private static final double WAIT_NANOS = 500;
    private static final double LEAST_OBJECT = 16;

    private static final List<Operation> OPERATIONS = List.of(
            new Operation("read", CALL_NANOS),
            new Operation("write", CALL_NANOS),
            new Operation("writeWithImm", CALL_NANOS),
            new Operation("atomicWrite", CALL_NANOS),
            new Operation("flush", CALL_NANOS),
            new Operation("send", CALL_NANOS),
            new Operation("sendWithImm", CALL_NANOS),
            new Operation("recv", CALL_NANOS),
            new Operation("emptyPoll", CALL_NANOS),
            new Operation("emptyWait", WAIT_NANOS),
            new Operation("receive", WAIT_NANOS),
            new Operation("pollOf16", COMPLETION_NANOS),
            new Operation("batchOf16", BATCHED_NANOS),
            new Operation("rdmaWrite", CALL_NANOS),
            new Operation("rdmaWriteInline", CALL_NANOS),
            new Operation("rdmaWritev", CALL_NANOS),
            new Operation("rdmaWriteWithImm", CALL_NANOS),
            new Operation("rdmaRead", CALL_NANOS),
            new Operation("rdmaFetchAndAdd", CALL_NANOS),
            new Operation("rdmaSend", CALL_NANOS),
            new Operation("rdmaSendInline", CALL_NANOS),
            new Operation("rdmaRecv", CALL_NANOS),
            new Operation("rdmaBatchOf16", BATCHED_NANOS),
            new Operation("rdmaPreparedWrite", PREPARED_NANOS, true),
            new Operation("rdmaPreparedChanged", CALL_NANOS),
            new Operation("rdmaPreparedOf16", PREPARED_BATCH_NANOS),
            new Operation("rdmaEmptyPoll", CALL_NANOS),
            new Operation("rdmaEmptyWait", WAIT_NANOS),
            new Operation("rdmaPollOf16", COMPLETION_NANOS),
            new Operation("poolTakeGiveBack", POOL_NANOS),
            new Operation("poolOf4", POOL_NANOS));

    @Option(names = "--quick", description = "Measure for half a minute, with more noise.")
    private boolean quick;

    @Spec
    private CommandSpec command;

    /** The extent of the measurement. A round takes {@code samples} samples of each operation in each program. */
    private enum Effort {
        QUICK(1, 2, 40, Duration.ofSeconds(5)),
        FULL(5, 5, 300, Duration.ofMinutes(5));

        private final int rounds;
        private final int warmUps;
        private final int samples;
        /** The time for repetitions of noisy measurements. */
        private final Duration repetitions;

        Effort(int rounds, int warmUps, int samples, Duration repetitions) {
            this.rounds = rounds;
            this.warmUps = warmUps;
            this.samples = samples;
            this.repetitions = repetitions;
        }
    }

    /**
     * An operation.
     *
     * @param name the name, which is the same in C and in Java
     * @param target the maximum of its nanoseconds
     * @param whole whether the target is for the whole time in Java, and not for the additional time over C
     */
    private record Operation(String name, double target, boolean whole) {
        Operation(String name, double target) {
            this(name, target, false);
        }

        /**
         * Allocations below this number of bytes are JMH's: a few bytes for each wait, and nearly none for other calls.
         */
        double leastAllocated() {
            return target == WAIT_NANOS ? LEAST_OBJECT : 1;
        }
    }

    /** The results of the rounds for one operation in one language. */
    private record Rounds(List<Double> fastest, List<Double> medians) {
        Rounds() {
            this(new ArrayList<>(), new ArrayList<>());
        }

        void add(List<Double> samples) {
            fastest.add(Collections.min(samples));
            medians.add(Result.median(samples));
        }
    }

    /** The results of the rounds for one operation. */
    private record Measured(Operation operation, Rounds c, Rounds control, Rounds java, List<Double> allocated) {
        Measured(Operation operation) {
            this(operation, new Rounds(), new Rounds(), new Rounds(), new ArrayList<>());
        }

        static Measured of(Operation operation, Effort effort)
                throws IOException, InterruptedException, RunnerException {
            Measured measured = new Measured(operation);
            for (int round = 0; round < effort.rounds; round++) {
                measured.addRound(effort);
            }
            return measured;
        }

        private void addRound(Effort effort) throws IOException, InterruptedException, RunnerException {
            c.add(Programs.inC(operation.name, effort.samples));
            List<IterationResult> samples = inJava(operation.name, effort);
            java.add(scores(samples));
            allocated.add(samples.stream()
                    .mapToDouble(
                            sample -> sample.getSecondaryResults().get(PROFILED).getScore())
                    .min()
                    .orElseThrow());
            control.add(Programs.inC(operation.name, effort.samples));
        }

        private static List<IterationResult> inJava(String name, Effort effort) throws RunnerException {
            Options options = Programs.options(name, effort.warmUps, effort.samples)
                    .measurementTime(SAMPLE)
                    .addProfiler(GCProfiler.class)
                    .build();
            return Programs.inJava(options);
        }

        private static List<Double> scores(List<IterationResult> samples) {
            return samples.stream()
                    .map(sample -> sample.getPrimaryResult().getScore())
                    .toList();
        }

        List<Result> results() {
            List<Result> results = new ArrayList<>();
            byLanguage().forEach((language, rounds) -> results.add(nanos(FASTEST, language, rounds.fastest)));
            byLanguage().forEach((language, rounds) -> results.add(nanos(MEDIAN, language, rounds.medians)));
            results.add(Result.of(operation.name, Map.of(), Language.JAVA, "B/op", allocated));
            return results;
        }

        private Map<Language, Rounds> byLanguage() {
            return new EnumMap<>(Map.of(Language.C, c, Language.CONTROL, control, Language.JAVA, java));
        }

        private Result nanos(Map<String, String> params, Language language, List<Double> rounds) {
            return Result.of(operation.name, params, language, "ns/op", rounds);
        }

        Target timeTarget() {
            Result inC = nanos(FASTEST, Language.C, c.fastest);
            Result inJava = nanos(FASTEST, Language.JAVA, java.fastest);
            Target target = operation.whole
                    ? Target.atMost(operation.name + ": Java", operation.target, inJava.median(), "ns")
                    : Target.atMost(operation.name + ": Java - C", operation.target, inJava.minus(inC), "ns");
            return target.withControl(
                    nanos(FASTEST, Language.CONTROL, control.fastest).over(inC));
        }

        Target allocationTarget() {
            double bytes = Result.median(allocated);
            return Target.atMost(
                    operation.name + ": allocated", 0, bytes < operation.leastAllocated() ? 0 : bytes, "B");
        }
    }

    @Override
    public Integer call() throws Exception {
        Effort effort = quick ? Effort.QUICK : Effort.FULL;
        CPrograms.build(Bench.OUTPUT);
        Repeats repeats = new Repeats(effort.repetitions);
        List<Result> results = new ArrayList<>();
        List<Target> targets = new ArrayList<>();
        long started = System.nanoTime();
        for (Operation operation : OPERATIONS) {
            System.err.printf(
                    Locale.ROOT,
                    "%4d s  %s%n",
                    TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - started),
                    operation.name);
            Measured measured = repeats.quietest(
                    () -> Measured.of(operation, effort), candidate -> List.of(candidate.timeTarget()));
            results.addAll(measured.results());
            targets.add(measured.timeTarget());
            targets.add(measured.allocationTarget());
        }
        return Bench.finish(
                new Report("cost", Machine.here("that does nothing", "no device"), results, targets), command);
    }

    static List<String> operations() {
        return OPERATIONS.stream().map(Operation::name).toList();
    }
}
