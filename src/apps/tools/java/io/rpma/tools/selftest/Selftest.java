// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools.selftest;

import io.rpma.RpmaDevice;
import io.rpma.RpmaPeer;
import io.rpma.support.Connector;
import io.rpma.support.Device;
import io.rpma.support.EndpointOptions;
import io.rpma.support.Interruption;
import io.rpma.support.Json;
import io.rpma.support.Listener;
import io.rpma.support.Options;
import io.rpma.support.Page;
import io.rpma.support.Product;
import io.rpma.support.Program;
import io.rpma.support.Versions;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Tries each operation of both packages, and compares the bytes. */
@Command(
        name = "selftest",
        description = {
            "Try each operation of librpma and of librdmacm on a device, and compare the bytes. Without --peer, the"
                    + " device is connected with itself. With --peer, the other host runs this command with --listen and"
                    + " the address of its device.",
            ""
        },
        exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {
            "0:no operation has failed",
            "1:one has, or the other host can't be reached",
            "2:wrong command line"
        },
        footer = {
            "",
            "The results are 'ok', 'unsupported' (a device refuses an operation that not all",
            "devices have) and 'failed'. The command uses three ports, from --port on."
        })
public final class Selftest implements Callable<Integer> {
    /** The widest name of an operation. */
    private static final int OPERATIONS = 25;

    private static final int RESULTS = 13;

    @Parameters(
            arity = "0..1",
            paramLabel = "ADDRESS",
            description = "The address of an RDMA device of this machine; default: the first device that has one.")
    private String address;

    @Option(
            names = {"-l", "--listen"},
            description = "Serve the tests of other hosts, until Ctrl-C.")
    private boolean listen;

    @Option(
            names = "--peer",
            paramLabel = "HOST",
            description = "The address or name of the host that runs this command with --listen.")
    private String peer;

    @Option(
            names = {"-p", "--port"},
            paramLabel = "PORT",
            defaultValue = "" + EndpointOptions.DEFAULT_PORT,
            description = "First port of the side that listens; default ${DEFAULT-VALUE}.")
    private int port;

    @Option(
            names = {"-W", "--timeout"},
            paramLabel = "SECONDS",
            defaultValue = "10",
            description = "Maximum time to wait for an operation; default ${DEFAULT-VALUE}.")
    private double timeout;

    @Option(names = "--json", description = "Print JSON, whose names remain the same in later versions.")
    private boolean json;

    @Spec
    private CommandSpec command;

    private final Page page = new Page(System.out);

    /** The library of the last printed result, or null. */
    private String library;

    /**
     * The result, as in JSON.
     *
     * @param peer the other host; null if the device was connected with itself
     */
    record Report(Versions versions, Device device, String peer, List<Check> checks) {}

    @Override
    public Integer call() throws IOException {
        Program.check(command, "ADDRESS", address == null || !address.isEmpty(), "must not be empty");
        Program.check(command, "--peer", peer == null || !peer.isEmpty(), "must not be empty");
        Program.check(command, "--peer", peer == null || address == null, "finds the device: omit ADDRESS");
        Program.check(command, "--listen", !listen || address != null, "needs ADDRESS");
        Program.check(command, "--json", !json || !listen, "is not for --listen");
        Options.checkPort(command, port, Options.MOST_PORT - Server.PORTS + 1);
        Options.checkSeconds(command, "--timeout", timeout);
        return Interruption.endsNormally(() -> {
            if (listen) {
                listen();
                return 0;
            }
            return peer == null ? testOneself() : test(new Connector(peer, port, "selftest --listen ADDRESS"));
        });
    }

    private void listen() throws IOException, InterruptedException {
        RpmaDevice device = Listener.device(address);
        try (Server server = Server.listen(device, address, port, note -> Listener.say("%s", note))) {
            Listener.say("listening at %s port %d through %s, until Ctrl-C", address, port, device.name());
            server.await();
        }
    }

    private int testOneself() throws IOException, InterruptedException {
        String own = address == null ? firstAddress() : address;
        Server server = Server.listen(
                Listener.device(own), own, port, note -> System.err.println("the listening side: " + note));
        try {
            return test(new Connector(own, port, "selftest --listen ADDRESS"));
        } finally {
            server.close();
        }
    }

    private static String firstAddress() throws IOException {
        return Device.list().stream()
                .flatMap(device -> device.addresses().stream())
                .findFirst()
                .orElseThrow(() -> new IOException("no RDMA device of this machine has an address: '" + Product.NAME
                        + " doctor' shows what is missing"));
    }

    private int test(Connector connector) throws IOException, InterruptedException {
        RpmaDevice device = connector.device();
        Report report = new Report(
                Versions.find(),
                Device.list().stream()
                        .filter(listed -> listed.name().equals(device.name()))
                        .findFirst()
                        .orElseThrow(),
                peer,
                List.of());
        if (!json) {
            print(report, connector);
        }
        Checks checks = new Checks(check -> {
            if (!json) {
                print(check);
            }
        });
        long nanos = Options.nanos(timeout);
        try (RpmaPeer protection = RpmaPeer.create(device)) {
            new LibrpmaChecks(protection, connector, nanos, checks).run();
        }
        new LibrdmacmChecks(connector.atNextPort(), nanos, checks).run();
        if (json) {
            System.out.println(Json.of(new Report(report.versions, report.device, peer, checks.done())));
        } else {
            page.heading(String.format(
                    Locale.ROOT,
                    "%d ok, %d unsupported, %d failed",
                    checks.count(Check.Result.OK),
                    checks.count(Check.Result.UNSUPPORTED),
                    checks.count(Check.Result.FAILED)));
        }
        return checks.count(Check.Result.FAILED) == 0 ? 0 : 1;
    }

    private void print(Report report, Connector connector) {
        report.versions.rows().forEach(this::row);
        row(
                "device",
                report.device.name() + ", driver " + Versions.known(report.device.driver()) + ", to "
                        + (peer == null ? "itself at " + connector : connector));
    }

    private void row(String name, String text) {
        page.row(String.format(Locale.ROOT, "%-11s", name), text);
    }

    private void print(Check check) {
        if (!check.library().equals(library)) {
            library = check.library();
            page.heading(library);
        }
        String result = check.result().toString().toLowerCase(Locale.ROOT);
        String head = String.format(Locale.ROOT, "%-" + (OPERATIONS + 2) + "s", check.operation());
        String painted = Page.paint(check.result().colour, result);
        String gap = check.reason().isEmpty() ? "" : " ".repeat(RESULTS - result.length());
        page.row(head + painted + gap, check.reason());
    }
}
