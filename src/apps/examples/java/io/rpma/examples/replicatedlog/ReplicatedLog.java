// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.replicatedlog;

import io.rpma.RpmaMemory;
import io.rpma.support.EndpointOptions;
import io.rpma.support.MemoryOptions;
import io.rpma.support.Program;
import io.rpma.support.Size;
import io.rpma.support.TimeoutOption;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * A log in the persistent memory of two hosts, which survives the loss of one host.
 *
 * <p>Start a replica on each of two hosts with persistent memory, and an appender on any host that reaches them by
 * RDMA:
 *
 * <pre>
 * java -cp ... io.rpma.examples.replicatedlog.ReplicatedLog replica --address 10.0.0.1 --memory /dev/dax0.0
 * java -cp ... io.rpma.examples.replicatedlog.ReplicatedLog replica --address 10.0.0.2 --memory /dev/dax0.0
 * java -cp ... io.rpma.examples.replicatedlog.ReplicatedLog append --replica 10.0.0.1 --replica 10.0.0.2 --stdin
 * </pre>
 *
 * <p>There must be only one appender of a log at a time.
 *
 * <p>A replica ends with status 0 at a signal. An appender ends with status 0 if all records are acknowledged, and
 * {@code show} if all records are valid. Each command ends with 1 if it fails, and with 2 if its command line is wrong.
 */
@Command(
        name = "replicatedlog",
        description = "A log in the persistent memory of two hosts.",
        synopsisSubcommandLabel = "(replica | append | show)",
        subcommands = {ReplicatedLog.Replica.class, ReplicatedLog.Append.class, ReplicatedLog.Show.class})
public final class ReplicatedLog extends Program {
    ReplicatedLog() {}

    /**
     * Runs the command line.
     *
     * @param args the arguments
     */
    public static void main(String[] args) {
        System.exit(new ReplicatedLog().run(args));
    }

    /** The replica's command line. */
    @Command(
            name = "replica",
            description = {
                "Keeps a log in memory, and offers the memory to one appender at a time. A signal ends the replica.",
                "",
                MemoryOptions.ABOUT
                        + "; the last two are lost when the replica ends. Memory without a log is formatted, which destroys its contents.",
                ""
            })
    static final class Replica implements Callable<Integer> {
        private static final long LEAST_SIZE = LogLayout.RECORDS + LogLayout.RECORD_HEADER_LENGTH;

        @Mixin
        private final EndpointOptions endpoint = new EndpointOptions("this host's", "to listen on");

        @Option(names = "--memory", required = true, paramLabel = "PATH", description = "The memory, or 'auto'.")
        private String memory;

        @Mixin
        private MemoryOptions memoryOptions;

        @Option(
                names = "--format",
                description = "Discard the contents of the memory, even if it has a log. The next appender copies the"
                        + " log of the other replica.")
        private boolean format;

        @Option(names = "--show", description = "Print the records too.")
        private boolean show;

        @Override
        public Integer call() throws Exception {
            endpoint.check();
            memoryOptions.check(memory, LEAST_SIZE);
            new ReplicaServer(endpoint.address(), endpoint.port())
                    .serve(memory, memoryOptions.size(), memoryOptions.directWrite(), format, show);
            return 0;
        }
    }

    /** The appender's command line. */
    @Command(
            name = "append",
            description = {
                "Appends records to the logs of two replicas. Waits until the replicas listen, at the start and after"
                        + " each loss of a replica.",
                "",
                "Prints 'acknowledged SEQUENCE WRITER NUMBER' after a record is flushed on both replicas. There must"
                        + " be only one appender at a time.",
                ""
            })
    static final class Append implements Callable<Integer> {
        private static final int MOST_WRITERS = 1000;

        @Option(
                names = "--replica",
                required = true,
                converter = HostAddress.Converter.class,
                paramLabel = "ADDRESS[:PORT]",
                description = "Address of a replica, given twice; default port 7204.")
        private List<HostAddress> replicas;

        @Option(names = "--writers", paramLabel = "N", description = "Threads that append; default 1.")
        private Integer writers;

        @Option(names = "--records", paramLabel = "M", description = "Records of each writer; default 100.")
        private Integer records;

        @Option(
                names = "--size",
                converter = Size.class,
                paramLabel = "BYTES",
                description = "Length of a record, 32 to 64k; default 100.")
        private Long size;

        @Option(names = "--stdin", description = "Append the lines of the standard input instead.")
        private boolean stdin;

        @Mixin
        private final TimeoutOption timeout = new TimeoutOption("from a failure to the next acknowledgement");

        @Spec
        private CommandSpec command;

        @Override
        public Integer call() throws Exception {
            check(command, "--replica", replicas.size() == 2, "must be given twice, for two replicas");
            check(command, "--replica", !replicas.get(0).equals(replicas.get(1)), "must name two different replicas");
            check(
                    command,
                    "--stdin",
                    !stdin || (writers == null && records == null && size == null),
                    "can't be combined with --writers, --records or --size");
            check(
                    command,
                    "--writers",
                    writers == null || (writers >= 1 && writers <= MOST_WRITERS),
                    "must be 1 to " + MOST_WRITERS);
            check(command, "--records", records == null || records >= 1, "must be at least 1");
            check(
                    command,
                    "--size",
                    size == null || (size >= Writers.LEAST_SIZE && size <= LogLayout.MOST_PAYLOAD),
                    "must be " + Writers.LEAST_SIZE + " to " + LogLayout.MOST_PAYLOAD);
            timeout.check();
            new Appender(replicas, timeout.seconds()).append(startWriters());
            return 0;
        }

        private Writers startWriters() {
            return stdin
                    ? Writers.reading(System.in)
                    : Writers.generating(
                            orElse(writers, 1), orElse(records, 100), size == null ? 100 : size.intValue());
        }

        private static int orElse(Integer value, int byDefault) {
            return value == null ? byDefault : value;
        }
    }

    /** The command line that prints a log. It needs no device. */
    @Command(
            name = "show",
            description = {"Prints the records of a log: SEQUENCE, length, text.", ""})
    static final class Show implements Callable<Integer> {
        @Option(
                names = "--memory",
                required = true,
                paramLabel = "PATH",
                description = "A replica's memory: a device DAX or a file.")
        private Path memory;

        @Override
        public Integer call() throws Exception {
            try (RpmaMemory mapped = RpmaMemory.mapReadOnly(memory)) {
                LocalLog.open(mapped).read(new RecordPrinter());
            }
            return 0;
        }
    }
}
