// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.testing.CProgram;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The summary and the pictures of reports. They are made in separate JVMs, whose directory is the test's. */
class SummaryTest {
    private static final Target MET = Target.atMost("write: Java - C", 20, 6, "ns");
    private static final Target MISSED = Target.atLeast("pipelined: Java / C", 0.97, 0.5, "");
    private static final Target NOISY =
            Target.atLeast("waited: Java / C", 0.97, 0.5, "").withControl(1.5);
    private static final List<String> PICTURES = List.of(
            "latency.svg",
            "throughput.svg",
            "latency-write-poll.svg",
            "latency-read-wait.svg",
            "scale.svg",
            "connect.svg",
            "registration.svg");

    @TempDir
    private Path directory;

    @Test
    void showsTheTargetsOfAllReports() throws IOException, InterruptedException {
        CProgram.Finished summary =
                summary(write("one", List.of(), List.of(MET)), write("two", List.of(), List.of(MISSED)));
        assertThat(summary.output())
                .contains("20.00", "pass", "0.97", "MISS", "1 pass, 1 miss, 0 noisy")
                .doesNotContain("drawn");
        assertThat(summary.status()).isEqualTo(3);
    }

    @Test
    void succeedsWhereNoTargetIsMissed() throws IOException, InterruptedException {
        CProgram.Finished summary =
                summary(write("one", List.of(), List.of(MET)), write("two", List.of(), List.of(NOISY)));
        assertThat(summary.output()).contains("1 pass, 0 miss, 1 noisy");
        assertThat(summary.status()).isZero();
    }

    @Test
    void drawsPercentilesAndGrowth() throws IOException, InterruptedException {
        List<Result> results = new ArrayList<>();
        for (String percentile : List.of("p50", "p99", "p99.9")) {
            Map<String, String> polled = Map.of("bytes", "8", "completions", "poll", "value", percentile);
            Language.EVERYWHERE.forEach(language -> results.add(result("write", language, polled)));
            Map<String, String> waited = Map.of("bytes", "8", "completions", "wait", "value", percentile);
            List.of(Language.values()).forEach(language -> results.add(result("read", language, waited)));
        }
        for (Language language : Language.EVERYWHERE) {
            for (String connections : List.of("1", "10", "1000")) {
                results.add(result("spread write", language, Map.of("connections", connections, "value", "p50")));
                results.add(micros("connection", language, Map.of("connections", connections)));
                results.add(micros("register", language, Map.of("bytes", connections)));
            }
            results.add(micros("register", language, Map.of("bytes", "1000", "parts", "2")));
            results.add(result("write", language, Map.of("bytes", "8", "completions", "poll", "depth", "16")));
        }
        CProgram.Finished summary = summary(write("one", results, List.of(MET)));
        assertThat(summary.status()).as(summary.output()).isZero();
        for (String picture : PICTURES) {
            assertThat(summary.output()).contains("drawn: target/bench/" + picture);
            assertThat(directory.resolve("target/bench").resolve(picture))
                    .content()
                    .startsWith("<svg ")
                    .contains(">2 x CPU, Linux 6.12, ");
        }
        assertThat(summary.output().lines().filter(line -> line.startsWith("drawn")))
                .hasSameSizeAs(PICTURES);
    }

    @Test
    void failsOnOtherFiles() throws IOException, InterruptedException {
        Path file = directory.resolve("other.json");
        Files.writeString(file, "{}");
        CProgram.Finished summary = summary(file);
        assertThat(summary.output()).contains("is no report");
        assertThat(summary.status()).isEqualTo(1);
    }

    private CProgram.Finished summary(Path... files) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(
                "env",
                "-C",
                directory.toString(),
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                Bench.class.getName(),
                "summary"));
        for (Path file : files) {
            command.add(file.toString());
        }
        return CProgram.run(Map.of(), command.toArray(new String[0]));
    }

    private Path write(String name, List<Result> results, List<Target> targets) throws IOException {
        Path file = directory.resolve(name + ".json");
        new Report(
                        name,
                        new Machine("2 x CPU", "Linux 6.12", "VM 25", "1.3.0", "soft-RoCE", "2026-11-21T00:00:00Z"),
                        results,
                        targets)
                .write(file);
        return file;
    }

    private static Result result(String name, Language language, Map<String, String> params) {
        return Result.of(name, params, language, "ns/op", List.of(50_000.0, 60_000.0));
    }

    private static Result micros(String name, Language language, Map<String, String> params) {
        return Result.of(name, params, language, "us", List.of(50.0, 60.0));
    }
}
