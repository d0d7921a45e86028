// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples;

import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.examples.librpma.WireFormatsFuzz;
import io.rpma.examples.rdmacm.RpingFuzz;
import io.rpma.examples.replicate.CommittedFileFuzz;
import io.rpma.examples.replicatedlog.LogFuzz;
import io.rpma.examples.resume.CopyLayoutFuzz;
import io.rpma.support.OfferFuzz;
import io.rpma.testing.Jvm;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Jazzer looks for bytes that break a parser of what the other side sends. It follows the coverage, and keeps the
 * inputs that reach new code: a later run begins with them.
 */
@Tag("soak")
@EnabledOnOs(architectures = "amd64", disabledReason = "Jazzer has a library for Linux on x86-64 alone")
class FuzzTest {
    /** The time for each parser in a long run, without the start of the JVM. */
    private static final int SECONDS = Integer.getInteger("rpma.fuzz.seconds", 0);

    /** The number of inputs for each parser without that time: a busy machine takes longer, but has as many. */
    private static final int RUNS = 10_000;

    /** The inputs in a second of a long run: a hundredth of the rate of the slowest parser. */
    private static final int LEAST_RATE = 200;

    private static final long SEED = Long.getLong("rpma.random.seed", System.nanoTime());
    private static final Pattern INITIAL = Pattern.compile("INITED cov: (\\d+)");
    private static final Pattern DONE = Pattern.compile("DONE +cov: (\\d+).* corp: (\\d+)");
    private static final Pattern DONE_RUNS = Pattern.compile("Done (\\d+) runs");

    @ParameterizedTest
    @ValueSource(
            classes = {
                DescriptorFuzz.class,
                OfferFuzz.class,
                WireFormatsFuzz.class,
                CommittedFileFuzz.class,
                LogFuzz.class,
                CopyLayoutFuzz.class,
                RpingFuzz.class
            })
    void nothingBreaksTheParser(Class<?> target) throws IOException, InterruptedException {
        Path output = Path.of(System.getProperty("rpma.test.output"), "fuzz", target.getSimpleName());
        Path corpus = Files.createDirectories(output.resolve("corpus"));
        boolean first;
        try (Stream<Path> inputs = Files.list(corpus)) {
            first = inputs.findAny().isEmpty();
        }
        Jvm.Finished finished;
        // not with the options of the other JVMs: -Xcheck:jni reports Jazzer's calls
        try (Jvm.Running fuzzer = Jvm.command(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "-cp",
                System.getProperty("java.class.path"),
                "com.code_intelligence.jazzer.Jazzer",
                "--target_class=" + target.getName(),
                "--instrumentation_includes=io.rpma.**",
                "--reproducer_path=" + output,
                "-artifact_prefix=" + output + "/",
                SECONDS > 0 ? "-max_total_time=" + SECONDS : "-runs=" + RUNS,
                "-max_len=600",
                "-seed=" + (int) (SEED >>> 1 & Integer.MAX_VALUE),
                corpus.toString())) {
            finished = fuzzer.awaitEnd();
        }
        assertThat(finished.status()).as(finished.toString()).isZero();
        int initial = Integer.parseInt(find(INITIAL, finished).group(1));
        MatchResult done = find(DONE, finished);
        int runs = Integer.parseInt(find(DONE_RUNS, finished).group(1));
        System.out.println(target.getSimpleName() + ": " + runs + " inputs, coverage " + initial + " to "
                + done.group(1) + ", corpus " + done.group(2) + ", seed " + SEED);
        assertThat(runs).isGreaterThanOrEqualTo(SECONDS > 0 ? SECONDS * LEAST_RATE : RUNS);
        // The first run begins with the empty input, which each parser refuses at once. A later run begins with the
        // kept
        // inputs, which may already reach all code.
        assertThat(Integer.parseInt(done.group(1))).isGreaterThanOrEqualTo(first ? initial + 1 : initial);
    }

    private static MatchResult find(Pattern pattern, Jvm.Finished finished) {
        return pattern.matcher(finished.err())
                .results()
                .reduce((first, last) -> last)
                .orElseThrow(() -> new AssertionError("no " + pattern + " in: " + finished));
    }
}
