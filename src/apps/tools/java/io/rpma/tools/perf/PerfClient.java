// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools.perf;

import io.rpma.RpmaDevice;
import io.rpma.RpmaException;
import io.rpma.RpmaPeer;
import io.rpma.support.Connector;
import io.rpma.support.Cpu;
import io.rpma.support.EndpointOptions;
import io.rpma.support.Errors;
import io.rpma.support.Interruption;
import io.rpma.support.Options;
import io.rpma.support.Program;
import io.rpma.support.Size;
import io.rpma.support.Versions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Measures operations on a {@code perf server}. */
@Command(
        name = "client",
        description = {"Measure operations on a server, for each size, depth and number of threads.", ""},
        exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {
            "0:all is measured, except for operations that the two sides do not support",
            "1:a failure or Ctrl-C; the results until then are printed",
            "2:wrong command line"
        },
        footer = {
            "",
            "The operations of librpma are write, read, write-imm, atomic-write (always 8",
            "bytes), flush-visible, flush-persistent (each a write and its flush) and send.",
            "Those of librdmacm are rdma-write, rdma-inline (at most 64 bytes), rdma-read,",
            "rdma-write-imm, rdma-fetch-add, rdma-cmp-swap (both always 8 bytes) and",
            "rdma-send, at the server's next port. The time of an operation is from its post",
            "until its completion is taken. The server answers write-imm and send, and the",
            "time includes the answer: it is a whole round trip, while perftest halves it. A",
            "percentile is shown if at least 10 operations took longer. 1 MiB is 1048576",
            "bytes."
        })
final class PerfClient implements Callable<Integer> {
    private static final int MOST_THREADS = 64;
    private static final long LARGEST_OF_ALL = 8 << 20;

    @Parameters(index = "0", paramLabel = "ADDRESS", description = "The address or name of the server.")
    private String address;

    @Parameters(index = "1..*", paramLabel = "OPERATION", description = "The operations to measure; default: all.")
    private List<String> operations =
            Stream.of(PerfOperation.values()).map(PerfOperation::toString).toList();

    @Option(
            names = {"-s", "--size"},
            paramLabel = "BYTES",
            split = ",",
            converter = Size.class,
            defaultValue = "64,4k,64k,1M",
            description = "Sizes of an operation, 1 to 64M; default ${DEFAULT-VALUE}.")
    private List<Long> sizes;

    @Option(
            names = {"-a", "--all"},
            description = "All sizes that are a power of 2, from 2 to 8M.")
    private boolean all;

    @Option(
            names = {"-t", "--tx-depth"},
            paramLabel = "N",
            split = ",",
            defaultValue = "1,16",
            description = "The most operations under way on a connection, 1 to 1024. 1 shows the latency, more the"
                    + " throughput; default ${DEFAULT-VALUE}.")
    private List<Integer> depths;

    @Option(
            names = {"-q", "--qp"},
            paramLabel = "N",
            split = ",",
            defaultValue = "1",
            description = "Numbers of queue pairs, each with a thread and a connection of its own, 1 to 64; default"
                    + " ${DEFAULT-VALUE}.")
    private List<Integer> threads;

    @Option(
            names = {"-l", "--post-list"},
            paramLabel = "N",
            defaultValue = "1",
            description = "Post N operations in one call, by RpmaBatch or RdmaBatch. N must divide each depth that is"
                    + " larger; a smaller depth is posted in one call; default ${DEFAULT-VALUE}.")
    private int list;

    @Option(
            names = {"-n", "--iters"},
            paramLabel = "N",
            description = "Operations of each thread and measurement, instead of --duration.")
    private Long iterations;

    @Option(
            names = {"-D", "--duration"},
            paramLabel = "SECONDS",
            defaultValue = "1",
            description = "Time of each measurement, after a fifth of it as a warm-up; default ${DEFAULT-VALUE}.")
    private double duration;

    @Option(
            names = {"-e", "--events"},
            description = "Both sides wait for completions instead of polling.")
    private boolean events;

    @Option(
            names = {"-p", "--port"},
            paramLabel = "PORT",
            defaultValue = "" + EndpointOptions.DEFAULT_PORT,
            description = "Port of the server; default ${DEFAULT-VALUE}.")
    private int port;

    @Option(
            names = {"-W", "--timeout"},
            paramLabel = "SECONDS",
            defaultValue = "10",
            description = "Maximum time to wait for a connection or a completion; default ${DEFAULT-VALUE}.")
    private double timeout;

    @Option(names = "--csv", paramLabel = "FILE", description = "Write the results as comma-separated values.")
    private Path csv;

    @Option(names = "--json", paramLabel = "FILE", description = "Write the results as JSON.")
    private Path json;

    @Option(
            names = "--charts",
            paramLabel = "DIRECTORY",
            description = "Draw the results into SVG files: the latency and the throughput by size, and percentiles.")
    private Path charts;

    @Spec
    private CommandSpec command;

    private final List<PerfResult> results = new ArrayList<>();

    /** A measurement that was asked for. */
    private record Measurement(PerfRequest request, int threads) {
        /** Returns whether this measurement needs at least as much of both sides as another one. */
        boolean includes(Measurement other) {
            return request.operation() == other.request.operation()
                    && request.size() >= other.request.size()
                    && request.depth() >= other.request.depth()
                    && threads >= other.threads;
        }

        @Override
        public String toString() {
            return request + (threads == 1 ? "" : ", " + threads + " threads");
        }
    }

    @Override
    public Integer call() throws IOException {
        check();
        List<Measurement> wanted = measurements();
        Connector connector = new Connector(address, port, "perf server ADDRESS");
        return Interruption.endsNormally(() -> {
            RpmaDevice device = connector.device();
            PerfReport.Machine machine = machine(device);
            int status;
            try (RpmaPeer peer = RpmaPeer.create(device);
                    PerfRun run = new PerfRun(peer, connector)) {
                status = measure(run, wanted);
            } catch (IOException | RuntimeException | Error e) {
                writeAfter(e, machine);
                throw e;
            }
            files().write(machine, results);
            return status;
        });
    }

    private PerfFiles files() {
        return new PerfFiles(csv, json, charts);
    }

    /**
     * Writes the results until a failure. Files that can't be written are another failure, which does not replace the
     * first.
     */
    private void writeAfter(Throwable failure, PerfReport.Machine machine) {
        try {
            files().write(machine, results);
        } catch (IOException e) {
            System.err.println(command.qualifiedName() + ": " + Errors.line(e));
            failure.addSuppressed(e);
        }
    }

    private void check() throws IOException {
        Program.check(command, "ADDRESS", !address.isEmpty(), "must not be empty");
        for (String title : operations) {
            Program.check(
                    command,
                    "OPERATION",
                    PerfOperation.of(title).isPresent(),
                    "must be one of "
                            + Stream.of(PerfOperation.values())
                                    .map(PerfOperation::toString)
                                    .collect(Collectors.joining(", "))
                            + ": " + title);
        }
        Options.checkPort(command, port, PerfRequest.MOST_PORT);
        Program.check(
                command,
                "--size",
                sizes.stream().allMatch(size -> size >= 1 && size <= PerfRequest.MOST_SIZE),
                "must be 1 to 64M");
        boolean sizeGiven = command.commandLine().getParseResult().hasMatchedOption("--size");
        Program.check(command, "--all", !all || !sizeGiven, "excludes --size");
        Program.check(
                command,
                "--tx-depth",
                depths.stream().allMatch(depth -> depth >= 1 && depth <= PerfRequest.MOST_DEPTH),
                "must be 1 to " + PerfRequest.MOST_DEPTH);
        Program.check(
                command,
                "--qp",
                threads.stream().allMatch(count -> count >= 1 && count <= MOST_THREADS),
                "must be 1 to " + MOST_THREADS);
        Program.check(
                command,
                "--post-list",
                list >= 1 && list <= PerfRequest.MOST_DEPTH,
                "must be 1 to " + PerfRequest.MOST_DEPTH);
        // otherwise fewer operations than the depth would be under way
        for (int depth : depths) {
            Program.check(
                    command,
                    "--post-list",
                    depth <= list || depth % list == 0,
                    "must divide the depth " + depth + " of --tx-depth");
        }
        Program.check(command, "--iters", iterations == null || iterations >= 1, "must be at least 1");
        boolean durationGiven = command.commandLine().getParseResult().hasMatchedOption("--duration");
        Program.check(command, "--iters", iterations == null || !durationGiven, "excludes --duration");
        Options.checkSeconds(command, "--duration", duration);
        Options.checkSeconds(command, "--timeout", timeout);
        checkDirectory("--csv", csv);
        checkDirectory("--json", json);
        Program.check(
                command,
                "--charts",
                charts == null || isDirectoryOrCanBe(charts.toAbsolutePath()),
                "must name a directory that can be written, or made: " + charts);
    }

    private static boolean isDirectoryOrCanBe(Path directory) {
        return Files.exists(directory, LinkOption.NOFOLLOW_LINKS)
                ? Files.isDirectory(directory) && Files.isWritable(directory)
                : isDirectoryOrCanBe(directory.getParent());
    }

    /** Results that can't be written must not be noticed only after all measurements. */
    private void checkDirectory(String option, Path file) {
        if (file != null) {
            Path directory = file.toAbsolutePath().getParent();
            Program.check(
                    command,
                    option,
                    !Files.isDirectory(file) && directory != null && Files.isDirectory(directory),
                    "must name a file in an existing directory: " + file + Errors.workingDirectory());
        }
    }

    private List<Measurement> measurements() {
        List<Measurement> measurements = new ArrayList<>();
        for (String title : operations) {
            PerfOperation operation = PerfOperation.of(title).orElseThrow();
            for (long size : sizes(operation)) {
                for (int depth : depths) {
                    for (int count : threads) {
                        measurements.add(new Measurement(new PerfRequest(operation, (int) size, depth, events), count));
                    }
                }
            }
        }
        Program.check(
                command,
                "--size",
                !measurements.isEmpty(),
                "must be at least 8 for a flush, and at most 64 for rdma-inline");
        return measurements;
    }

    private long[] sizes(PerfOperation operation) {
        return operation.isOfOneWord()
                ? new long[] {Long.BYTES}
                : chosen().filter(operation::fits).toArray();
    }

    private LongStream chosen() {
        return all
                ? LongStream.iterate(2, size -> size <= LARGEST_OF_ALL, size -> 2 * size)
                : sizes.stream().mapToLong(Long::longValue);
    }

    /** Returns a line for each operation that does not have all chosen sizes. */
    private List<String> unfitting() {
        return operations.stream()
                .map(title -> PerfOperation.of(title).orElseThrow())
                .filter(operation -> !operation.isOfOneWord() && !chosen().allMatch(operation::fits))
                .map(operation -> notMeasured(operation, operation.unfitting()))
                .toList();
    }

    private static String notMeasured(PerfOperation operation, String reason) {
        return String.format(Locale.ROOT, "%-16s not measured: %s", operation, reason);
    }

    private int measure(PerfRun run, List<Measurement> wanted) throws IOException, InterruptedException {
        PerfProgress progress = PerfProgress.toStandardError(wanted.size());
        PerfTable table = new PerfTable(System.out, unfitting());
        List<Measurement> omitted = new ArrayList<>();
        int status = 0;
        try {
            for (int i = 0; i < wanted.size(); i++) {
                Measurement next = wanted.get(i);
                if (omitted.stream().anyMatch(next::includes)) {
                    continue;
                }
                progress.show(i, next.toString());
                try {
                    PerfResult result = run.run(next.request, load(next.request.depth()), next.threads);
                    results.add(result);
                    progress.clear();
                    table.add(PerfReport.row(result));
                } catch (UnsupportedOperationException e) {
                    omitted.add(next);
                    progress.clear();
                    table.add(notMeasured(next.request.operation(), e.getMessage()));
                } catch (Connector.RejectedException | RpmaException | IllegalArgumentException e) {
                    // if the server has accepted another measurement, this one is what a side refuses
                    if (results.isEmpty()) {
                        throw e;
                    }
                    omitted.add(next);
                    status = 1;
                    progress.clear();
                    table.add(notMeasured(next.request.operation(), Errors.line(e)));
                }
            }
            return status;
        } catch (InterruptedException e) {
            progress.clear();
            System.err.println(command.qualifiedName() + ": interrupted after " + results.size() + " of "
                    + wanted.size() + " measurements");
            return 1;
        } finally {
            progress.clear();
        }
    }

    private PerfLoad load(int depth) {
        return new PerfLoad(
                depth,
                Math.min(list, depth),
                iterations == null ? 0 : iterations,
                Options.nanos(duration),
                Options.nanos(timeout));
    }

    private PerfReport.Machine machine(RpmaDevice device) throws IOException, InterruptedException {
        Versions versions = Versions.find();
        return new PerfReport.Machine(
                Cpu.description(),
                versions.kernel(),
                versions.java(),
                versions.librpma(),
                versions.rdmaCore(),
                device.name(),
                address);
    }
}
