// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools;

import io.rpma.examples.common.Program;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Option;

/** The command line of the tools, which are the subcommands. */
@Command(
        name = Tools.NAME,
        description = "Tools for programs that use RDMA with rpma-java.",
        synopsisSubcommandLabel = "COMMAND",
        subcommands = {Info.class, Doctor.class, Ping.class, Perf.class, Cp.class, Rxe.class},
        versionProvider = Tools.Version.class,
        exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {"0:success", "1:failure", "2:wrong command line"},
        footer = {"", "'" + Tools.NAME + "' stands for 'java -jar rpma-java-VERSION-tools.jar'."})
public final class Tools extends Program {
    /** The name of the program in its messages. */
    static final String NAME = "rpma-java";

    @Option(
            names = {"-V", "--version"},
            versionHelp = true,
            description = "Show the version and exit.")
    private boolean version;

    Tools() {}

    /**
     * Runs a command.
     *
     * @param args the arguments
     */
    public static void main(String[] args) {
        System.exit(new Tools().run(args));
    }

    /** Returns the version of the jar, or null for classes that are in no jar. */
    static String version() {
        return Tools.class.getPackage().getImplementationVersion();
    }

    /** The version for {@code --version}. */
    static final class Version implements IVersionProvider {
        @Override
        public String[] getVersion() {
            return new String[] {NAME + " " + (version() == null ? "of a checkout" : version())};
        }
    }
}
