// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.bench.device;

import static io.rpma.bench.Target.Verdict.MISS;
import static io.rpma.bench.Target.Verdict.NOISY;
import static io.rpma.bench.Target.Verdict.PASS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.rpma.bench.Language;
import io.rpma.bench.Result;
import io.rpma.bench.Target;
import java.util.List;
import java.util.Map;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;

/** The targets of the measurements on a device. */
class DeviceTargetsTest {
    private static final Map<String, String> ROUND_TRIP = new Point(Operation.WRITE, 8, 1, Completions.POLL).params();

    private final Measurements measurements = new Measurements();

    @Test
    void holdsRoundTripsAgainstC() {
        for (double round : new double[] {1, 5, 2}) {
            measurements.add("write", ROUND_TRIP, Language.C, times(1000, round));
            measurements.add("write", ROUND_TRIP, Language.CONTROL, times(1000, 1.01 * round));
            measurements.add("write", ROUND_TRIP, Language.JAVA, times(1000, 1.1 * round));
        }
        List<Target> targets = DeviceTargets.of(measurements.results());
        assertThat(targets)
                .extracting(Target::what)
                .containsExactly("write 8 B, poll, p50: Java / C", "write 8 B, poll, p99: Java / C");
        assertThat(targets).extracting(Target::target).containsExactly(1.05, 1.2);
        assertThat(targets).extracting(Target::verdict).containsExactly(MISS, PASS);
    }

    /** Only one of 100 times is beyond p99, which is too few for a percentile. */
    @Test
    void leavesOutPercentilesThatTooFewTimesAreBeyond() {
        for (Language language : Language.EVERYWHERE) {
            measurements.add("write", ROUND_TRIP, language, times(100, 1));
        }
        assertThat(DeviceTargets.of(measurements.results()))
                .extracting(Target::what)
                .containsExactly("write 8 B, poll, p50: Java / C");
        assertThat(measurements.results())
                .extracting(result -> result.params().get("value"))
                .contains("p10", "p90")
                .doesNotContain("p95", "p99", "p99.9");
    }

    @Test
    void holdsThroughputAgainstC() {
        Map<String, String> params = new Point(Operation.READ, 1024, 16, Completions.WAIT).params();
        measurements.add("read", params, Language.C, "ops/s", 1000);
        measurements.add("read", params, Language.CONTROL, "ops/s", 900);
        measurements.add("read", params, Language.JAVA, "ops/s", 960);
        assertThat(DeviceTargets.of(measurements.results()))
                .containsExactly(Target.atLeast("read 1024 B, wait, depth 16 ops/s: Java / C", 0.97, 0.96, "")
                        .withControl(0.9));
    }

    /** The control of a ratio of two measurements in one language is the same ratio in C again and in C. */
    @Test
    void doesNotJudgeRatiosWhoseControlIsNoisy() {
        for (Language language : Language.EVERYWHERE) {
            double factor = language == Language.CONTROL ? 1.1 : 1;
            Map<String, String> params = new Point(Operation.RDMA_WRITE, 64, 1, Completions.POLL).params();
            measurements.add("rdma-write", params, language, times(100, 1));
            measurements.add("rdma-write-inline", params, language, times(100, factor));
            measurements.add("spread write", Map.of("connections", "1"), language, times(100, factor));
            measurements.add("spread write", Map.of("connections", "10"), language, times(100, factor));
        }
        assertThat(DeviceTargets.of(measurements.results()))
                .extracting(Target::what, Target::verdict)
                .containsExactly(
                        tuple("rdma-write 64 B, poll, p50: Java / C", PASS),
                        tuple("rdma-write-inline 64 B, poll, p50: Java / C", NOISY),
                        tuple("rdma-write 64 B, p50: inline / not inline, Java (C: 1.00)", NOISY),
                        tuple(
                                "write on each of 10 connections in turn, p50: Java / C"
                                        + " (divided by one connection: 1.00, C 1.00)",
                                NOISY));
    }

    /** A part of a run has the targets of its own results. */
    @Test
    void needsNoOtherMeasurements() {
        for (Language language : Language.EVERYWHERE) {
            Map<String, String> params = new Point(Operation.RDMA_WRITE_INLINE, 64, 1, Completions.POLL).params();
            measurements.add("rdma-write-inline", params, language, times(100, 1));
            measurements.add("spread write", Map.of("connections", "10"), language, times(100, 1));
        }
        assertThat(DeviceTargets.of(measurements.results()))
                .extracting(Target::what)
                .containsExactly("rdma-write-inline 64 B, poll, p50: Java / C");
    }

    @Test
    void addsTheRoundsOfParts() {
        for (double round : new double[] {1, 2, 3}) {
            Measurements part = new Measurements();
            part.add("loop write", Map.of(), Language.C, "ops/s", round);
            measurements.addAll(part);
        }
        assertThat(measurements.results())
                .containsExactly(Result.of("loop write", Map.of(), Language.C, "ops/s", List.of(1.0, 2.0, 3.0)));
    }

    /** The ratio of bare JNI to C is part of the name, and does not change the target. */
    @Test
    void tellsHowFarBareJniIsFromCWhereThatWasMeasured() {
        Map<String, String> roundTrip = new Point(Operation.WRITE, 8, 1, Completions.WAIT).params();
        Map<String, String> throughput = new Point(Operation.WRITE, 8, 16, Completions.WAIT).params();
        for (Language language : Language.values()) {
            double factor = language == Language.JAVA ? 1.1 : language == Language.BARE ? 1.04 : 1;
            measurements.add("write", roundTrip, language, times(1000, factor));
            measurements.add("write", throughput, language, "ops/s", 1000 / factor);
        }
        for (Language language : Language.EVERYWHERE) {
            measurements.add("write", ROUND_TRIP, language, times(1000, 1));
        }
        List<Target> targets = DeviceTargets.of(measurements.results());
        assertThat(targets)
                .extracting(Target::what)
                .containsExactly(
                        "write 8 B, wait, p50: Java / C (bare JNI / C 1.04)",
                        "write 8 B, wait, p99: Java / C (bare JNI / C 1.04)",
                        "write 8 B, wait, depth 16 ops/s: Java / C (bare JNI / C 0.96)",
                        "write 8 B, poll, p50: Java / C",
                        "write 8 B, poll, p99: Java / C");
        assertThat(targets).extracting(Target::target).containsExactly(1.05, 1.2, 0.97, 1.05, 1.2);
        assertThat(targets).extracting(Target::verdict).containsExactly(MISS, PASS, MISS, PASS, PASS);
    }

    @Test
    void holdsInlineWritesAgainstOthers() {
        for (Language language : Language.EVERYWHERE) {
            Map<String, String> params = new Point(Operation.RDMA_WRITE, 64, 1, Completions.POLL).params();
            measurements.add("rdma-write", params, language, times(100, 1));
            measurements.add("rdma-write-inline", params, language, times(100, language == Language.JAVA ? 1.2 : 1.1));
        }
        List<Target> targets = DeviceTargets.of(measurements.results());
        Target last = targets.get(targets.size() - 1);
        assertThat(last.what()).isEqualTo("rdma-write 64 B, p50: inline / not inline, Java (C: 1.10)");
        assertThat(last.value()).isBetween(1.19, 1.21);
        assertThat(last.verdict()).isEqualTo(MISS);
    }

    @Test
    void holdsManyConnectionsAgainstC() {
        for (Language language : Language.EVERYWHERE) {
            measurements.add("spread write", Map.of("connections", "1"), language, times(1000, 1));
            measurements.add(
                    "spread write",
                    Map.of("connections", "1000"),
                    language,
                    times(1000, language == Language.JAVA ? 1.6 : 1.4));
        }
        List<Target> targets = DeviceTargets.of(measurements.results());
        assertThat(targets)
                .extracting(Target::what)
                .containsExactly("write on each of 1000 connections in turn, p50: Java / C"
                        + " (divided by one connection: 1.60, C 1.40)");
        assertThat(targets.get(0).value()).isBetween(1.14, 1.15);
        assertThat(targets.get(0).verdict()).isEqualTo(MISS);
    }

    @Test
    void holdsTheLoopAgainstC() {
        loop(1, 1000, 1100);
        loop(100, 2000, 700);
        assertThat(DeviceTargets.of(measurements.results()))
                .containsExactly(
                        Target.atLeast("loop over 1 connections, ops/s: Java / C", 0.97, 1.1, "")
                                .withControl(1),
                        Target.atLeast("loop over 100 connections, ops/s: Java / C", 0.97, 0.35, "")
                                .withControl(1));
    }

    @Test
    void holdsTheLoopOverIdsAgainstC() {
        loop("rdma-loop write", 1, 1000, 1000);
        loop("rdma-loop write", 1000, 2000, 1600);
        assertThat(DeviceTargets.of(measurements.results()))
                .containsExactly(
                        Target.atMost("loop over 1 ids, time of a write: Java / C", 1.05, 1, "")
                                .withControl(1),
                        Target.atMost("loop over 1000 ids, time of a write: Java / C", 1.05, 1.25, "")
                                .withControl(1));
    }

    @Test
    void holdsChainsAgainstChainsAndAgainstSingleWrites() {
        for (Language language : Language.EVERYWHERE) {
            Map<String, String> params = new Point(Operation.WRITE, 8, 16, Completions.POLL).params();
            measurements.add("write", params, language, "ops/s", language == Language.JAVA ? 970 : 1000);
            measurements.add("rdma-write-chained", params, language, "ops/s", language == Language.JAVA ? 1500 : 2000);
        }
        assertThat(DeviceTargets.of(measurements.results()))
                .containsExactly(
                        Target.atLeast("write 8 B, poll, depth 16 ops/s: Java / C", 0.97, 0.97, "")
                                .withControl(1),
                        Target.atLeast("rdma-write-chained 8 B, poll, depth 16 ops/s: Java / C", 0.97, 0.75, "")
                                .withControl(1),
                        Target.atLeast(
                                        "write 8 B, depth 16 ops/s: chained in Java / librpma in C (C chained: 2.00)",
                                        0.97,
                                        1.5,
                                        "")
                                .withControl(1));
    }

    private void loop(int connections, double c, double java) {
        loop("loop write", connections, c, java);
    }

    private void loop(String name, int connections, double c, double java) {
        Map<String, String> params = Map.of("connections", Integer.toString(connections));
        measurements.add(name, params, Language.C, "ops/s", c);
        measurements.add(name, params, Language.CONTROL, "ops/s", c);
        measurements.add(name, params, Language.JAVA, "ops/s", java);
    }

    @Test
    void holdsTheStartAgainstCAndTheStartOfTheJvm() {
        start("process", 5, 300);
        start("all", 100, 440);
        assertThat(DeviceTargets.of(measurements.results()))
                .containsExactly(Target.atMost(
                                "first write: Java (440 ms) / C (100 ms) + start of the JVM (300 ms)", 1.2, 1.1, "")
                        .withControl(1));
    }

    private void start(String phase, double c, double java) {
        measurements.add("start", Map.of("phase", phase), Language.C, "ms", c);
        measurements.add("start", Map.of("phase", phase), Language.CONTROL, "ms", c);
        measurements.add("start", Map.of("phase", phase), Language.JAVA, "ms", java);
    }

    /** Evenly spread times from 10 microseconds on, multiplied by a factor. */
    private static Histogram times(int count, double factor) {
        Histogram times = new Histogram(3);
        for (int i = 0; i < count; i++) {
            times.recordValue((long) (factor * (10_000 + 10 * i)));
        }
        return times;
    }
}
