// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools;

import io.rpma.support.Product;
import io.rpma.support.Program;
import io.rpma.tools.doctor.Doctor;
import io.rpma.tools.info.Info;
import io.rpma.tools.perf.Perf;
import io.rpma.tools.ping.Ping;
import io.rpma.tools.rxe.Rxe;
import io.rpma.tools.selftest.Selftest;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Option;

/** The command line of the tools, which are the subcommands. */
@Command(
        name = Product.NAME,
        description = "Tools for programs that use RDMA with rpma-java.",
        synopsisSubcommandLabel = "COMMAND",
        subcommands = {Info.class, Doctor.class, Selftest.class, Ping.class, Perf.class, Rxe.class},
        versionProvider = Tools.Version.class,
        exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {"0:success", "1:failure", "2:wrong command line"},
        footer = {"", "'" + Product.NAME + "' stands for 'java -jar rpma-java-VERSION-tools.jar'."})
public final class Tools extends Program {
    @Option(
            names = {"-V", "--version"},
            versionHelp = true,
            description = "Show the version and exit.")
    private boolean version;

    /**
     * Runs a command.
     *
     * @param args the arguments
     */
    public static void main(String[] args) {
        System.exit(new Tools().run(args));
    }

    /** The version for {@code --version}. */
    static final class Version implements IVersionProvider {
        @Override
        public String[] getVersion() {
            return new String[] {Product.NAME + " " + (Product.version() == null ? "of a checkout" : Product.version())
            };
        }
    }
}
