// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.stream;

import io.rpma.support.EndpointOptions;
import io.rpma.support.Program;
import io.rpma.support.Size;
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
 * Copies bytes to another host through a stream over RDMA.
 *
 * <pre>
 * java -cp ... io.rpma.examples.stream.Stream server --address 10.0.0.1 COPY
 * java -cp ... io.rpma.examples.stream.Stream client --address 10.0.0.1 FILE
 * </pre>
 *
 * <p>The server ends with status 0 if it has written and acknowledged all bytes, and the client if it has got this
 * acknowledgment. Otherwise, a side ends with status 1, or with 2 if its command line is wrong.
 */
@Command(
        name = "stream",
        description = "Copies bytes to another host through a stream over RDMA.",
        synopsisSubcommandLabel = "(server | client)",
        subcommands = {Stream.Receive.class, Stream.Send.class})
public final class Stream extends Program {
    Stream() {}

    /**
     * Runs the command line.
     *
     * @param args the arguments
     */
    public static void main(String[] args) {
        System.exit(new Stream().run(args));
    }

    /** The options of both sides. */
    private static final class Connection {
        private static final long MOST_BLOCK = 1 << 30;

        @Mixin
        private final EndpointOptions endpoint = new EndpointOptions("the server's", "of the server");

        @Mixin
        private final TimeoutOption timeout = new TimeoutOption("to wait for the other side, and to detect its loss");

        @Option(
                names = "--block",
                converter = Size.class,
                defaultValue = "64k",
                paramLabel = "BYTES",
                description = "Maximum number of bytes that are read or written at once, 1 to 1G, and at most a quarter"
                        + " of the server's ring; default ${DEFAULT-VALUE}.")
        private Long block;

        @Option(
                names = "--tcp",
                description = "Use TCP instead of RDMA, for a comparison. The server then takes the death of the"
                        + " client for the end of the bytes. Give the option to both sides.")
        private boolean tcp;

        @Spec(Spec.Target.MIXEE)
        private CommandSpec command;

        void check() {
            endpoint.check();
            timeout.check();
            Program.check(command, "--block", block >= 1 && block <= MOST_BLOCK, "must be 1 to 1G");
        }
    }

    /** The server's command line. */
    @Command(
            name = "server",
            description = {"Receives the bytes of one client. Ends when the client has sent all bytes.", ""})
    static final class Receive implements Callable<Integer> {
        private static final long LEAST_RING = 4 << 10;
        private static final long MOST_RING = 1 << 30;

        @Mixin
        private Connection connection;

        @Option(
                names = "--ring",
                converter = Size.class,
                defaultValue = "4M",
                paramLabel = "BYTES",
                description = "Size of the ring on each side, 4k to 1G; default ${DEFAULT-VALUE}.")
        private Long ring;

        @Parameters(
                arity = "0..1",
                paramLabel = "FILE",
                description = "The file to write; the standard output if absent.")
        private Path file;

        @Spec
        private CommandSpec command;

        @Override
        public Integer call() throws Exception {
            connection.check();
            check(command, "--ring", ring >= LEAST_RING && ring <= MOST_RING, "must be 4k to 1G");
            Server server = new Server(
                    connection.endpoint.address(),
                    connection.endpoint.port(),
                    connection.block.intValue(),
                    connection.timeout.seconds(),
                    file);
            if (connection.tcp) {
                server.receiveThroughTcp();
            } else {
                server.receive(ring.intValue());
            }
            return 0;
        }
    }

    /** The client's command line. */
    @Command(
            name = "client",
            description = {"Sends bytes to the server. Waits until the server listens.", ""})
    static final class Send implements Callable<Integer> {
        @Mixin
        private Connection connection;

        @Parameters(
                arity = "0..1",
                paramLabel = "FILE",
                description = "The file to read; the standard input if absent.")
        private Path file;

        @Override
        public Integer call() throws Exception {
            connection.check();
            Client client = new Client(
                    connection.endpoint.address(),
                    connection.endpoint.port(),
                    connection.block.intValue(),
                    connection.timeout.seconds());
            if (connection.tcp) {
                client.sendThroughTcp(file);
            } else {
                client.send(file);
            }
            return 0;
        }
    }
}
