package io.rpma.examples.common;

import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Spec;

/** The option for how long a program waits for another host. */
public final class TimeoutOption {
    private final OptionSpec timeout;

    @Spec(Spec.Target.MIXEE)
    private CommandSpec command;

    /**
     * For a command.
     *
     * @param wait that it limits, for the help
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

    /** The time in seconds. */
    public int seconds() {
        return timeout.getValue();
    }

    /** Refuses a time of less than a second. */
    public void check() {
        Program.check(command, "--timeout", seconds() >= 1, "is at least 1 second");
    }
}
