// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.bench.ratis;

import static java.util.concurrent.TimeUnit.SECONDS;

import com.sun.management.OperatingSystemMXBean;
import io.rpma.bench.Bench;
import io.rpma.support.Chart;
import io.rpma.support.Cpu;
import io.rpma.support.EndpointOptions;
import io.rpma.support.Json;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.Stream;
import org.apache.ratis.client.RaftClient;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Measures the commit of commands by three servers, over RDMA and over Ratis's own transports, in turns. */
@Command(
        name = "ratis",
        description = "Measures Apache Ratis over RDMA and over its own transports on the device of --address.")
public final class RatisSuite implements Callable<Integer> {
    private static final Logger RATIS = Logger.getLogger("org.apache.ratis");
    private static final OperatingSystemMXBean PROCESS =
            ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
    private static final int[] SIZES = {64, 4 << 10, 64 << 10};

    /** The commands under way in the measurement of throughput. */
    private static final int DEPTH = 32;

    @Mixin
    private final EndpointOptions endpoint = new EndpointOptions("this host's", "of the first server");

    @Option(names = "--seconds", defaultValue = "5", paramLabel = "S", description = "Seconds for each measurement.")
    private int seconds;

    @Option(names = "--rounds", defaultValue = "3", paramLabel = "N", description = "Rounds; the table has medians.")
    private int rounds;

    RatisSuite() {}

    /** The result of a measurement: microseconds, commands in a second, microseconds of processor time for a command. */
    private record Figures(
            Transport transport, boolean onDisk, int size, double p50, double p99, double rate, double cpu) {}

    /** The content of the file. */
    private record Report(List<Figures> medians) {}

    @Override
    public Integer call() throws Exception {
        endpoint.check();
        RATIS.setLevel(Level.SEVERE);
        List<Figures> all = new ArrayList<>();
        int port = endpoint.port();
        for (int round = 0; round < rounds; round++) {
            for (boolean onDisk : new boolean[] {false, true}) {
                for (Transport transport : Transport.values()) {
                    Path storage = Files.createTempDirectory("ratis");
                    try (Cluster cluster = new Cluster(transport, endpoint.address(), port, onDisk, storage)) {
                        for (int size : SIZES) {
                            all.add(measure(cluster.client(), transport, onDisk, size));
                        }
                    } finally {
                        delete(storage);
                    }
                    port += 3;
                }
            }
        }
        List<Figures> medians = medians(all);
        medians.forEach(RatisSuite::print);
        Files.createDirectories(Bench.OUTPUT);
        Files.writeString(Bench.OUTPUT.resolve("ratis.json"), Json.of(new Report(medians)));
        draw(medians);
        return 0;
    }

    private static void draw(List<Figures> medians) throws IOException {
        Chart chart =
                Chart.bySize("Commit of a command by three servers", "size of the command", "microseconds, median");
        for (Figures f : medians) {
            String name = f.transport + (f.onDisk ? ", log on disk" : ", log in memory");
            chart.add(new Chart.Curve(name, f.transport.ordinal(), f.onDisk), f.size, f.p50);
        }
        chart.write(Bench.OUTPUT.resolve("ratis.svg"), Cpu.description());
    }

    private Figures measure(RaftClient client, Transport transport, boolean onDisk, int size)
            throws IOException, InterruptedException {
        Message command = Message.valueOf(ByteString.copyFrom(new byte[size]));
        latencies(client, command, SECONDS.toNanos(1));
        long[] sorted = latencies(client, command, SECONDS.toNanos(seconds));
        long processor = PROCESS.getProcessCpuTime();
        long begun = System.nanoTime();
        long count = pipelined(client, command, SECONDS.toNanos(seconds));
        double nanos = System.nanoTime() - begun;
        Figures figures = new Figures(
                transport,
                onDisk,
                size,
                sorted[sorted.length / 2] / 1e3,
                sorted[(int) (sorted.length * 0.99)] / 1e3,
                count * 1e9 / nanos,
                (PROCESS.getProcessCpuTime() - processor) / 1e3 / count);
        print(figures);
        return figures;
    }

    private static long[] latencies(RaftClient client, Message command, long nanos) throws IOException {
        List<Long> times = new ArrayList<>();
        long begun = System.nanoTime();
        long last = begun;
        while (last - begun < nanos) {
            check(client.io().send(command));
            long now = System.nanoTime();
            times.add(now - last);
            last = now;
        }
        long[] sorted = times.stream().mapToLong(Long::longValue).toArray();
        Arrays.sort(sorted);
        return sorted;
    }

    private static long pipelined(RaftClient client, Message command, long nanos) throws IOException {
        Deque<CompletableFuture<RaftClientReply>> replies = new ArrayDeque<>();
        long begun = System.nanoTime();
        long count = 0;
        while (System.nanoTime() - begun < nanos) {
            replies.add(client.async().send(command));
            if (replies.size() == DEPTH) {
                check(replies.remove().join());
                count++;
            }
        }
        for (CompletableFuture<RaftClientReply> reply : replies) {
            check(reply.join());
            count++;
        }
        return count;
    }

    private static void check(RaftClientReply reply) throws IOException {
        if (!reply.isSuccess()) {
            throw new IOException("not acknowledged: " + reply);
        }
    }

    private static List<Figures> medians(List<Figures> all) {
        List<Figures> medians = new ArrayList<>();
        for (boolean onDisk : new boolean[] {false, true}) {
            for (int size : SIZES) {
                for (Transport transport : Transport.values()) {
                    List<Figures> same = all.stream()
                            .filter(f -> f.transport == transport && f.onDisk == onDisk && f.size == size)
                            .sorted(Comparator.comparingDouble(Figures::p50))
                            .toList();
                    medians.add(same.get(same.size() / 2));
                }
            }
        }
        return medians;
    }

    private static void print(Figures f) {
        System.out.println(String.format(
                Locale.ROOT,
                "%-5s  %-6s  %6d bytes  p50 %8.0f us  p99 %8.0f us  %8.0f/s  %7.0f us of processor time",
                f.transport,
                f.onDisk ? "disk" : "memory",
                f.size,
                f.p50,
                f.p99,
                f.rate,
                f.cpu));
    }

    private static void delete(Path directory) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }
}
