// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools.perf;

import io.rpma.RpmaMemory;
import io.rpma.support.EndpointOptions;
import io.rpma.support.Interruption;
import io.rpma.support.Options;
import io.rpma.support.Program;
import io.rpma.support.Size;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Offers memory to the clients of {@code perf}, and answers their messages. */
@Command(
        name = "server",
        description = {"Serve clients until Ctrl-C.", ""},
        exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {"0:it was ended", "1:it can't listen", "2:wrong command line"},
        footer = {
            "",
            "Each client that reaches the port can make this side lock memory, up to --limit,",
            "and can read and write that memory. The server has no authentication: run it",
            "in a trusted network only."
        })
final class PerfServer implements Callable<Integer> {
    @Parameters(paramLabel = "ADDRESS", description = "The address of an RDMA device of this machine.")
    private String address;

    @Option(
            names = {"-p", "--port"},
            paramLabel = "PORT",
            defaultValue = "" + EndpointOptions.DEFAULT_PORT,
            description = "Port to listen on, and the next port for librdmacm; default ${DEFAULT-VALUE}.")
    private int port;

    @Option(
            names = "--limit",
            paramLabel = "BYTES",
            converter = Size.class,
            defaultValue = "256M",
            description = "The most memory for all clients together; default ${DEFAULT-VALUE}.")
    private Long limit;

    @Option(
            names = "--memory",
            paramLabel = "PATH",
            description = "Persistent memory for flush-persistent: a device DAX (/dev/dax0.0), or a file of a DAX file"
                    + " system. Clients overwrite its first bytes.")
    private Path memory;

    @Option(
            names = "--direct-write-to-pmem",
            description =
                    "Declare that the platform keeps remote writes out of its processors' caches, so that emulated"
                            + " flushes make bytes persistent. Without effect if flushes are native.")
    private boolean directWrite;

    @Spec
    private CommandSpec command;

    @Override
    public Integer call() throws IOException {
        Program.check(command, "ADDRESS", !address.isEmpty(), "must not be empty");
        Options.checkPort(command, port, PerfRequest.MOST_PORT);
        Program.check(command, "--limit", limit >= 1024, "must be at least 1k");
        Program.check(command, "--direct-write-to-pmem", !directWrite || memory != null, "needs --memory");
        return Interruption.endsNormally(() -> {
            if (memory == null) {
                serve(null);
                return 0;
            }
            try (RpmaMemory persistent = RpmaMemory.map(memory)) {
                if (!persistent.isPersistent()) {
                    throw new IOException(memory + " is not persistent memory");
                }
                serve(persistent);
            }
            return 0;
        });
    }

    private void serve(RpmaMemory persistent) throws IOException, InterruptedException {
        new PerfService(address, port, limit, persistent, directWrite).serve();
    }
}
