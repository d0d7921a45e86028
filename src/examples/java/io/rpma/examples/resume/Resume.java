package io.rpma.examples.resume;

import io.rpma.examples.common.DirectWriteOption;
import io.rpma.examples.common.Program;
import io.rpma.examples.common.Size;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * Copies a file into another host's persistent memory. If that host is lost and comes back, the copy continues at the last
 * commit.
 *
 * <p>Start the server on a host with persistent memory, and the client on any host that reaches it by RDMA. Then kill the
 * server, and start it again:
 *
 * <pre>
 * java -cp ... io.rpma.examples.resume.Resume server --address 10.0.0.1 --memory /dev/dax0.0
 * java -cp ... io.rpma.examples.resume.Resume client --address 10.0.0.1 FILE
 * </pre>
 *
 * <p>Each side ends with status 0 if the file is copied, 1 if not, and 2 if its command line is wrong.
 */
@Command(
        name = "resume",
        description = "Copies a file into another host's persistent memory, even if that host is lost meanwhile.",
        synopsisSubcommandLabel = "(server | client)",
        subcommands = {Resume.ServerCommand.class, Resume.ClientCommand.class})
public final class Resume extends Program {
    Resume() {}

    /**
     * Runs the command line.
     *
     * @param args the arguments
     */
    public static void main(String[] args) {
        System.exit(new Resume().run(args));
    }

    /** The options of both sides. */
    private static final class Connection {
        @Option(
                names = "--address",
                required = true,
                paramLabel = "ADDRESS",
                description = "Address of the server's RDMA device.")
        private String address;

        @Option(
                names = "--port",
                defaultValue = "7204",
                paramLabel = "PORT",
                description = "Port of the server; default ${DEFAULT-VALUE}.")
        private int port;

        @Spec(Spec.Target.MIXEE)
        private CommandSpec command;

        void check() {
            Program.check(command, "--address", !address.isEmpty(), "is not empty");
            Program.check(command, "--port", port >= 1 && port <= 65535, "is 1 to 65535");
        }
    }

    /** The server's command line. */
    @Command(
            name = "server",
            description = {
                "Offers memory until it has a complete copy of a client's file. An unfinished copy of an earlier"
                        + " client can be continued.",
                "",
                "The memory is a device DAX (/dev/dax0.0) or a file. Kernels from 6.5 on refuse remote writes into an"
                        + " ordinary file, but not into a file in /dev/shm. 'auto' selects the first device DAX,"
                        + " otherwise a temporary file in /dev/shm, otherwise anonymous memory; the last two are lost"
                        + " when the server ends.",
                ""
            })
    static final class ServerCommand implements Callable<Integer> {
        private static final long LEAST_SIZE = CopyLayout.DATA + CopyLayout.ALIGNMENT;

        @Mixin
        private Connection connection;

        @Option(names = "--memory", required = true, paramLabel = "PATH", description = "The memory, or 'auto'.")
        private String memory;

        @Option(
                names = "--size",
                converter = Size.class,
                paramLabel = "BYTES",
                description = "Size of the memory (64k, 1M, 2G...); a shorter file is extended. Default: the whole"
                        + " device or file; 256M for memory that 'auto' makes.")
        private Long size;

        @Mixin
        private DirectWriteOption directWrite;

        @Option(names = "--keep", description = "Continue to serve after a complete copy.")
        private boolean keep;

        @Spec
        private CommandSpec command;

        @Override
        public Integer call() throws Exception {
            connection.check();
            check(command, "--memory", !memory.isEmpty(), "is not empty");
            check(command, "--size", size == null || size >= LEAST_SIZE, "is at least " + LEAST_SIZE + " bytes");
            new Server(connection.address, connection.port)
                    .serve(memory, size == null ? 0 : size, directWrite.isGiven(), keep);
            return 0;
        }
    }

    /** The client's command line. */
    @Command(
            name = "client",
            description = {
                "Copies a file into the server's memory. Waits until the server listens, at the start and after each"
                        + " loss of the server.",
                ""
            })
    static final class ClientCommand implements Callable<Integer> {
        @Mixin
        private Connection connection;

        @Option(
                names = "--timeout",
                defaultValue = "60",
                paramLabel = "SECONDS",
                description = "How long to retry until the next commit; default ${DEFAULT-VALUE}.")
        private int timeout;

        @Parameters(paramLabel = "FILE", description = "The file.")
        private Path file;

        @Spec
        private CommandSpec command;

        @Override
        public Integer call() throws Exception {
            connection.check();
            check(command, "--timeout", timeout >= 1, "is at least 1 second");
            new Client(connection.address, connection.port, timeout).copy(file);
            return 0;
        }
    }
}
