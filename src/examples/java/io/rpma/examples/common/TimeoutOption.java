package io.rpma.examples.common;

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
     * @param wait the action that the option limits, as in "try to reach the server"
     */
    public TimeoutOption(String wait) {
        timeout = OptionSpec.builder("--timeout")
                .type(int.class)
                .defaultValue("60")
                .paramLabel("SECONDS")
                .description("How long to " + wait + "; default ${DEFAULT-VALUE}.")
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
        Program.check(command, "--timeout", seconds() >= 1, "is at least 1 second");
    }
}
