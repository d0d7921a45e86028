// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.stream;

import static java.util.concurrent.TimeUnit.SECONDS;

import io.rpma.channel.ChannelOptions;
import io.rpma.support.EndpointOptions;
import io.rpma.support.Program;
import io.rpma.support.TimeoutOption;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/**
 * Copies bytes to another host over RDMA.
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
        description = "Copies bytes to another host over RDMA.",
        synopsisSubcommandLabel = "(server | client)",
        subcommands = {Server.class, Client.class})
public final class Stream extends Program {
    /** The maximum size of a block. */
    static final int MOST_BLOCK = 16 << 20;

    /** Holds a block of the default size, its position and the header. The server reads larger blocks. */
    private static final int BUFFER = (64 << 10) + 16;

    Stream() {}

    /**
     * Runs the command line.
     *
     * @param args the arguments
     */
    public static void main(String[] args) {
        System.exit(new Stream().run(args));
    }

    /** What both sides have. */
    abstract static class Side implements Callable<Integer> {
        @Mixin
        final EndpointOptions endpoint = new EndpointOptions("the server's", "of the server");

        @Mixin
        final TimeoutOption timeout = new TimeoutOption("to wait for the other side, and to detect its loss");

        @Parameters(
                arity = "0..1",
                paramLabel = "FILE",
                description = "The file; the standard input or output if absent.")
        Path file;

        final ChannelOptions checkedOptions() {
            endpoint.check();
            timeout.check();
            return new ChannelOptions()
                    .setBufferSize(BUFFER)
                    .setUnanswered(16, 2 * MOST_BLOCK)
                    .setSilence(timeout.seconds(), SECONDS);
        }
    }
}
