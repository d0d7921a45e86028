// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.resume;

import io.rpma.support.EndpointOptions;
import io.rpma.support.MemoryOptions;
import io.rpma.support.Program;
import io.rpma.support.TimeoutOption;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * Copies a file into another host's persistent memory. If that host is lost and comes back, the copy continues at the
 * last commit.
 *
 * <p>Start the server on a host with persistent memory, and the client on any host that reaches it by RDMA. Then kill
 * the server, and start it again:
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

    private static EndpointOptions endpointOptions() {
        return new EndpointOptions("the server's", "of the server");
    }

    /** The server's command line. */
    @Command(
            name = "server",
            description = {
                "Offers memory until it has a complete copy of a client's file. An unfinished copy of an earlier"
                        + " client can be continued.",
                "",
                MemoryOptions.ABOUT + "; the last two are lost when the server ends.",
                ""
            })
    static final class ServerCommand implements Callable<Integer> {
        private static final long LEAST_SIZE = CopyLayout.DATA + CopyLayout.ALIGNMENT;

        @Mixin
        private final EndpointOptions endpoint = endpointOptions();

        @Option(names = "--memory", required = true, paramLabel = "PATH", description = "The memory, or 'auto'.")
        private String memory;

        @Mixin
        private MemoryOptions memoryOptions;

        @Option(names = "--keep", description = "Continue to serve after a complete copy.")
        private boolean keep;

        @Override
        public Integer call() throws Exception {
            endpoint.check();
            memoryOptions.check(memory, LEAST_SIZE);
            new Server(endpoint.address(), endpoint.port())
                    .serve(memory, memoryOptions.size(), memoryOptions.directWrite(), keep);
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
        private final EndpointOptions endpoint = endpointOptions();

        @Mixin
        private final TimeoutOption timeout = new TimeoutOption("from a failure to the next commit");

        @Parameters(paramLabel = "FILE", description = "The file.")
        private Path file;

        @Override
        public Integer call() throws Exception {
            endpoint.check();
            timeout.check();
            new Client(endpoint.address(), endpoint.port(), timeout.seconds()).copy(file);
            return 0;
        }
    }
}
