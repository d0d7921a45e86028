// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools.doctor;

import io.rpma.support.Page;
import io.rpma.support.Program;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Prints the result of each check, and the command that mends what is missing. */
@Command(
        name = "doctor",
        description = {
            "Check whether this machine is ready for RDMA. For each missing part, show the command that mends it.",
            ""
        },
        exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {"0:all required parts are there", "1:a required part is missing", "2:wrong command line"},
        footer = {
            "",
            "The states are 'ok', 'none' (a feature that only some programs need),",
            "'warning' (some programs will fail) and 'missing' (no program can use RDMA,",
            "or no device has or reaches ADDRESS)."
        })
public final class Doctor implements Callable<Integer> {
    /** The widths of the columns. */
    private static final int STATES = 9;

    private static final int LEAST_SUBJECTS = 17;

    @Parameters(
            arity = "0..1",
            paramLabel = "ADDRESS",
            description = "Also check the device that has this address, or that reaches it.")
    private String address;

    @Spec
    private CommandSpec command;

    @Override
    public Integer call() throws IOException, InterruptedException {
        Program.check(command, "ADDRESS", address == null || !address.isEmpty(), "must not be empty");
        List<Finding> findings = new ArrayList<>(HostChecks.ofThisMachine().all());
        findings.addAll(DeviceChecks.all(address));
        return print(findings, new Page(System.out));
    }

    /** Prints the findings and returns the exit status. */
    static int print(List<Finding> findings, Page page) {
        int subjects = findings.stream()
                .mapToInt(finding -> finding.subject().length() + 2)
                .reduce(LEAST_SUBJECTS, Math::max);
        findings.forEach(finding -> print(finding, subjects, page));
        long missing = findings.stream()
                .filter(finding -> finding.state() == Finding.State.MISSING)
                .count();
        page.heading(
                missing == 0
                        ? "This machine is ready for RDMA."
                        : missing + (missing == 1 ? " required part is" : " required parts are") + " missing.");
        return missing == 0 ? 0 : 1;
    }

    private static void print(Finding finding, int subjects, Page page) {
        String state = finding.state().toString().toLowerCase(Locale.ROOT);
        String head = Page.paint(finding.state().colour, state) + " ".repeat(STATES - state.length());
        page.row(head + String.format(Locale.ROOT, "%-" + subjects + "s", finding.subject()), finding.detail());
        if (!finding.remedy().isEmpty()) {
            page.command(STATES + subjects, finding.remedy());
        }
    }
}
