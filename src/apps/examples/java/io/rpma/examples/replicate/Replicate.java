// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.replicate;

import io.rpma.RpmaMemory;
import io.rpma.support.EndpointOptions;
import io.rpma.support.MemoryOptions;
import io.rpma.support.Output;
import io.rpma.support.Program;
import io.rpma.support.Size;
import io.rpma.support.TargetMemory;
import io.rpma.support.TimeoutOption;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * Replicates a file into another host's persistent memory.
 *
 * <p>Start the receiver on a host with persistent memory, and the sender on any host that reaches it by RDMA:
 *
 * <pre>
 * java -cp ... io.rpma.examples.replicate.Replicate receive --address 10.0.0.1
 * java -cp ... io.rpma.examples.replicate.Replicate send --address 10.0.0.1 FILE
 * </pre>
 *
 * <p>Each side ends with status 0 if the file is replicated and found to be the same on both sides, 1 if not, and 2 if
 * its command line is wrong.
 */
@Command(
        name = "replicate",
        description = "Replicates a file into another host's persistent memory.",
        synopsisSubcommandLabel = "(receive | send | check)",
        subcommands = {Replicate.Receive.class, Replicate.Send.class, Replicate.Check.class})
public final class Replicate extends Program {
    Replicate() {}

    /**
     * Runs the command line.
     *
     * @param args the arguments
     */
    public static void main(String[] args) {
        System.exit(new Replicate().run(args));
    }

    /** The options of both sides. */
    private static final class Connection {
        @Mixin
        private final EndpointOptions endpoint = new EndpointOptions("the receiver's", "of the receiver");

        @Mixin
        private final TimeoutOption timeout = new TimeoutOption("to wait for the other side");

        void check() {
            endpoint.check();
            timeout.check();
        }
    }

    /** The receiver's command line. */
    @Command(
            name = "receive",
            description = {
                "Offers memory to one sender, and checks the file that the sender commits there.",
                "",
                MemoryOptions.ABOUT + ".",
                ""
            })
    static final class Receive implements Callable<Integer> {
        private static final long LEAST_SIZE = Layout.DATA + Layout.ALIGNMENT;

        @Mixin
        private Connection connection;

        @Option(
                names = "--memory",
                defaultValue = TargetMemory.AUTO,
                paramLabel = "PATH",
                description = "The memory; default ${DEFAULT-VALUE}.")
        private String memory;

        @Mixin
        private MemoryOptions memoryOptions;

        @Option(
                names = "--transfer-timeout",
                defaultValue = "600",
                paramLabel = "SECONDS",
                description = "Timeout for a connected sender to finish; default ${DEFAULT-VALUE}.")
        private int transferTimeout;

        @Spec
        private CommandSpec command;

        @Override
        public Integer call() throws Exception {
            connection.check();
            memoryOptions.check(memory, LEAST_SIZE);
            check(command, "--transfer-timeout", transferTimeout >= 1, "must be at least 1 second");
            new Receiver(
                            connection.endpoint.address(),
                            connection.endpoint.port(),
                            connection.timeout.seconds(),
                            transferTimeout)
                    .receive(memory, memoryOptions.size(), memoryOptions.directWrite());
            return 0;
        }
    }

    /** The command line that checks a receiver's memory. */
    @Command(
            name = "check",
            description = {
                "Checks the file in a receiver's memory, for example after a power cut. Ends with 0 if the file is"
                        + " complete, with 3 if no file is committed, and with 1 if the file is damaged.",
                ""
            })
    static final class Check implements Callable<Integer> {
        private static final int NOTHING = 3;

        @Option(
                names = "--memory",
                required = true,
                paramLabel = "PATH",
                description = "The receiver's memory: a device DAX or a file.")
        private Path memory;

        @Override
        public Integer call() throws Exception {
            Output output = Output.toStandardOutput("check");
            try (RpmaMemory mapped = RpmaMemory.mapReadOnly(memory)) {
                if (new CommittedFile(mapped, output).check(memory.toString())) {
                    return 0;
                }
                output.say("no file is committed");
                return NOTHING;
            }
        }
    }

    /** The sender's command line. */
    @Command(
            name = "send",
            description = {
                "Replicates a file into the receiver's memory, reads it back and compares. Waits until the receiver"
                        + " listens.",
                ""
            })
    static final class Send implements Callable<Integer> {
        /** The minimum has room for the SHA-256, and the maximum is soft-RoCE's longest message. */
        private static final long LEAST_CHUNK = 4 << 10;

        private static final long MOST_CHUNK = 8 << 20;
        private static final int MOST_DEPTH = 1024;
        private static final long MOST_BUFFERS = 1 << 30;

        @Mixin
        private Connection connection;

        @Option(
                names = "--chunk",
                converter = Size.class,
                defaultValue = "64k",
                paramLabel = "BYTES",
                description = "Bytes in one write, 4k to 8M; default ${DEFAULT-VALUE}.")
        private Long chunk;

        @Option(
                names = "--depth",
                defaultValue = "16",
                paramLabel = "N",
                description = "Chunks under way at a time, 1 to 1024; default ${DEFAULT-VALUE}.")
        private int depth;

        @Parameters(paramLabel = "FILE", description = "The file.")
        private Path file;

        @Spec
        private CommandSpec command;

        @Override
        public Integer call() throws Exception {
            connection.check();
            check(command, "--chunk", chunk >= LEAST_CHUNK && chunk <= MOST_CHUNK, "must be 4k to 8M");
            check(command, "--chunk", chunk % Layout.ALIGNMENT == 0, "must be a multiple of " + Layout.ALIGNMENT);
            check(command, "--depth", depth >= 1 && depth <= MOST_DEPTH, "must be 1 to " + MOST_DEPTH);
            check(
                    command,
                    "--chunk",
                    chunk * depth <= MOST_BUFFERS,
                    "times --depth must be at most 1G: this memory is locked");
            new Sender(
                            connection.endpoint.address(),
                            connection.endpoint.port(),
                            chunk.intValue(),
                            depth,
                            connection.timeout.seconds())
                    .send(file);
            return 0;
        }
    }
}
