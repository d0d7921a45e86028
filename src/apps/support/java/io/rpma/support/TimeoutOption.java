// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.support;

import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Spec;

/** The option that limits how long a program waits for another host. */
public final class TimeoutOption {
    private final OptionSpec timeout;

    @Spec(Spec.Target.MIXEE)
    private CommandSpec command;

    /**
     * Creates the option of a command. The help texts differ between the programs.
     *
     * @param span the limited time, as in "to wait for the server"
     */
    public TimeoutOption(String span) {
        timeout = OptionSpec.builder("--timeout")
                .type(int.class)
                .defaultValue("60")
                .paramLabel("SECONDS")
                .description("Maximum time " + span + "; default ${DEFAULT-VALUE}.")
                .build();
    }

    @Spec
    void addTo(CommandSpec mixin) {
        mixin.addOption(timeout);
    }

    /** Returns the timeout in seconds. */
    public int seconds() {
        return timeout.getValue();
    }

    /** Refuses a timeout of less than a second. */
    public void check() {
        Program.check(command, "--timeout", seconds() >= 1, "must be at least 1 second");
    }
}
