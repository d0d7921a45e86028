package io.rpma.tools;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

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
            "'warning' (some programs will fail) and 'missing' (no program can use RDMA)."
        })
final class Doctor implements Callable<Integer> {
    /** The widths of the columns. */
    private static final int STATES = 9;

    private static final int SUBJECTS = 17;

    @Parameters(
            arity = "0..1",
            paramLabel = "ADDRESS",
            description = "Also check the device that has this address, or that reaches it.")
    private String address;

    @Override
    public Integer call() throws IOException, InterruptedException {
        List<Finding> findings = new ArrayList<>(HostChecks.ofThisMachine().all());
        findings.addAll(DeviceChecks.all(address));
        return print(findings, new Page(System.out));
    }

    /** Prints the findings and returns the exit status. */
    static int print(List<Finding> findings, Page page) {
        findings.forEach(finding -> print(finding, page));
        long missing = findings.stream()
                .filter(finding -> finding.state() == Finding.State.MISSING)
                .count();
        page.heading(
                missing == 0
                        ? "This machine is ready for RDMA."
                        : missing + (missing == 1 ? " required part is" : " required parts are") + " missing.");
        return missing == 0 ? 0 : 1;
    }

    private static void print(Finding finding, Page page) {
        String state = finding.state().toString().toLowerCase(Locale.ROOT);
        String head = Page.paint(finding.state().colour, state) + " ".repeat(STATES - state.length());
        page.row(head + ("%-" + SUBJECTS + "s").formatted(finding.subject()), finding.detail());
        if (!finding.remedy().isEmpty()) {
            page.command(STATES + SUBJECTS, finding.remedy());
        }
    }
}
