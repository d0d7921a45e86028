// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.support;

import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Spec;

/** The options for the address and the port that one side listens on. */
public final class EndpointOptions {
    /** The port that the programs use by default. */
    public static final int DEFAULT_PORT = 7204;

    private static final int MOST_PORT = 65535;

    private final OptionSpec address;
    private final OptionSpec port;

    @Spec(Spec.Target.MIXEE)
    private CommandSpec command;

    /**
     * Creates the options of a command. The help texts differ between the programs.
     *
     * @param device the owner of the address: "the server's"
     * @param use the use of the port: "of the server"
     */
    public EndpointOptions(String device, String use) {
        address = OptionSpec.builder("--address")
                .type(String.class)
                .required(true)
                .paramLabel("ADDRESS")
                .description("Address of " + device + " RDMA device.")
                .build();
        port = OptionSpec.builder("--port")
                .type(int.class)
                .defaultValue("" + DEFAULT_PORT)
                .paramLabel("PORT")
                .description("Port " + use + "; default ${DEFAULT-VALUE}.")
                .build();
    }

    @Spec
    void addTo(CommandSpec mixin) {
        mixin.addOption(address).addOption(port);
    }

    /** Returns the address. */
    public String address() {
        return address.getValue();
    }

    /** Returns the port. */
    public int port() {
        return port.getValue();
    }

    /** Refuses an empty address and an invalid port. */
    public void check() {
        Program.check(command, "--address", !address().isEmpty(), "must not be empty");
        Program.check(command, "--port", port() >= 1 && port() <= MOST_PORT, "must be 1 to " + MOST_PORT);
    }
}
