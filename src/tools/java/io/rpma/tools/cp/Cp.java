// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools.cp;

import io.rpma.examples.common.EndpointOptions;
import io.rpma.examples.common.Program;
import io.rpma.tools.common.Connector;
import io.rpma.tools.common.Interruption;
import io.rpma.tools.common.Options;
import io.rpma.tools.common.Product;
import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Copies a file to another host, which runs the same command with {@code --listen}. */
@Command(
        name = "cp",
        customSynopsis = {
            "@|bold " + Product.NAME + " cp|@ [@|yellow -p|@=PORT] [@|yellow -W|@=SECONDS] FILE HOST:[PATH]",
            "   or: @|bold " + Product.NAME + " cp|@ @|yellow --listen|@=ADDRESS [@|yellow -p|@=PORT] DIRECTORY"
        },
        description = {
            "Copy a file to another host. The other host runs this command with --listen, the address of its RDMA"
                    + " device, and the directory of the copies. An interrupted copy continues where it was. A copy gets"
                    + " its name when its SHA-256 is checked and its bytes are on the disk.",
            ""
        },
        exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {"0:the file is copied, or the listening side was ended", "1:it is not", "2:wrong command line"},
        footer = {
            "",
            "PATH is relative to the directory of the other host. Without PATH, or if PATH",
            "ends with a slash, the copy has the name of the file. The listening side has no",
            "authentication: each client that reaches its port can replace the files in its",
            "directory. Run it in a trusted network only."
        })
public final class Cp implements Callable<Integer> {
    /** The IPv6 address in brackets, or the name or address; and the path. */
    private static final Pattern TARGET = Pattern.compile("(?:\\[([^\\[\\]]+)\\]|([^:\\[\\]]+)):(.*)", Pattern.DOTALL);

    @Option(
            names = {"-l", "--listen"},
            paramLabel = "ADDRESS",
            description = "Receive the files of other hosts, until Ctrl-C, at this address of an RDMA device.")
    private String listen;

    @Parameters(
            index = "0",
            paramLabel = "FILE",
            description = "The file to copy; with --listen the directory of the copies.")
    private Path file;

    @Parameters(index = "1", arity = "0..1", paramLabel = "HOST:[PATH]", description = "The copy.")
    private String target;

    @Option(
            names = {"-p", "--port"},
            paramLabel = "PORT",
            defaultValue = "" + EndpointOptions.DEFAULT_PORT,
            description = "Port of the host that listens; default ${DEFAULT-VALUE}.")
    private int port;

    @Option(
            names = {"-W", "--timeout"},
            paramLabel = "SECONDS",
            defaultValue = "60",
            description = "Maximum time without progress, while the other host is lost or silent; default"
                    + " ${DEFAULT-VALUE}.")
    private int timeout;

    @Spec
    private CommandSpec command;

    @Override
    public Integer call() throws IOException {
        Options.checkPort(command, port, Options.MOST_PORT);
        Program.check(command, "--timeout", timeout >= 1, "must be at least 1 second");
        return listen == null ? send() : listen();
    }

    private int listen() throws IOException {
        Program.check(command, "--listen", !listen.isEmpty(), "must not be empty");
        Program.check(command, "--listen", target == null, "takes one directory");
        boolean given = command.commandLine().getParseResult().hasMatchedOption("--timeout");
        Program.check(command, "--timeout", !given, "is not for --listen");
        if (!Files.isDirectory(file)) {
            throw new IOException(file + " is no directory");
        }
        CpDirectory directory = new CpDirectory(file);
        return Interruption.endsNormally(() -> {
            new CpService(listen, port, directory).serve();
            return 0;
        });
    }

    private int send() throws IOException {
        Program.check(command, "HOST:[PATH]", target != null, "is missing");
        Matcher parts = TARGET.matcher(target);
        Program.check(command, "HOST:[PATH]", parts.matches(), "must have a colon: " + target);
        String host = parts.group(1) == null ? parts.group(2) : parts.group(1);
        Path name = file.getFileName();
        Program.check(command, "FILE", name != null, "must be a file");
        String path = parts.group(3).isEmpty() || parts.group(3).endsWith("/") ? parts.group(3) + name : parts.group(3);
        Connector connector = new Connector(host, port, "cp --listen ADDRESS DIRECTORY");
        CpSender sender = new CpSender(connector, file, path, timeout, CpSender.PATIENCE, CpSender.SILENCE);
        return Interruption.endsNormally(() -> {
            try {
                sender.send();
                return 0;
            } catch (InterruptedException | ClosedByInterruptException e) {
                System.err.println(command.qualifiedName() + ": interrupted; the next copy of the same file continues");
                return 1;
            }
        });
    }
}
