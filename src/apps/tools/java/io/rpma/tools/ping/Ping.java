// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools.ping;

import io.rpma.support.EndpointOptions;
import io.rpma.support.Interruption;
import io.rpma.support.Options;
import io.rpma.support.Program;
import io.rpma.support.Size;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Measures round trips of messages to another host, which runs the same command with {@code --listen}. */
@Command(
        name = "ping",
        description = {
            "Measure the round trips of messages to another host, until Ctrl-C or --count. The other host runs this"
                    + " command with --listen and the address of its RDMA device.",
            ""
        },
        exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {"0:the other host has answered", "1:it has not", "2:wrong command line"},
        footer = {
            "",
            "A time includes the wake-up of a thread on both sides, because both sides wait",
            "for events instead of polling."
        })
public final class Ping implements Callable<Integer> {
    /** The largest message. */
    static final int MOST = 1 << 20;

    private static final List<String> OF_CLIENT = List.of("--count", "--interval", "--timeout", "--size", "--quiet");

    @Parameters(
            paramLabel = "ADDRESS",
            description = "The address or name of the other host; with --listen the address of an RDMA device of this"
                    + " machine.")
    private String address;

    @Option(
            names = {"-l", "--listen"},
            description = "Answer the messages of other hosts, until Ctrl-C.")
    private boolean listen;

    @Option(
            names = {"-p", "--port"},
            paramLabel = "PORT",
            defaultValue = "" + EndpointOptions.DEFAULT_PORT,
            description = "Port of the host that listens; default ${DEFAULT-VALUE}.")
    private int port;

    @Option(
            names = {"-c", "--count"},
            paramLabel = "N",
            defaultValue = "0",
            description = "End after N messages; default 0: until Ctrl-C.")
    private int count;

    @Option(
            names = {"-i", "--interval"},
            paramLabel = "SECONDS",
            defaultValue = "1",
            description = "Time between the starts of two messages; default ${DEFAULT-VALUE}.")
    private double interval;

    @Option(
            names = {"-W", "--timeout"},
            paramLabel = "SECONDS",
            defaultValue = "5",
            description = "Maximum time to wait for an answer; default ${DEFAULT-VALUE}.")
    private double timeout;

    @Option(
            names = {"-s", "--size"},
            paramLabel = "BYTES",
            converter = Size.class,
            defaultValue = "64",
            description = "Size of a message, 8 to 1M; default ${DEFAULT-VALUE}.")
    private Long size;

    @Option(
            names = {"-q", "--quiet"},
            description = "Print only the summary.")
    private boolean quiet;

    @Spec
    private CommandSpec command;

    @Override
    public Integer call() throws IOException {
        Program.check(command, "ADDRESS", !address.isEmpty(), "must not be empty");
        Options.checkPort(command, port, Options.MOST_PORT);
        Program.check(command, "--count", count >= 0, "must not be negative");
        Program.check(command, "--interval", interval >= 0 && interval <= 3600, "must be 0 to 3600 seconds");
        Options.checkSeconds(command, "--timeout", timeout);
        Program.check(command, "--size", size >= Long.BYTES && size <= MOST, "must be 8 to 1M");
        return listen ? listen() : send();
    }

    private int listen() throws IOException {
        for (String option : OF_CLIENT) {
            boolean given = command.commandLine().getParseResult().hasMatchedOption(option);
            Program.check(command, option, !given, "is not for --listen");
        }
        PingServer server = new PingServer(address, port);
        return Interruption.endsNormally(() -> {
            server.serve();
            return 0;
        });
    }

    private int send() throws IOException {
        PingClient client = new PingClient(address, port, size.intValue(), Options.nanos(timeout), quiet);
        return Interruption.endsNormally(() -> client.ping(count, Options.nanos(interval)) ? 0 : 1);
    }
}
