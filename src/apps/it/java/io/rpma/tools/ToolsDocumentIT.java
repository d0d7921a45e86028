// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools;

import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.RpmaDevice;
import io.rpma.testing.Document;
import io.rpma.testing.Jvm;
import io.rpma.testing.TestDevice;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

/**
 * The commands of docs/tools.md on a device, with its address and a free port. Their output has the form of the output
 * in the document, which shows the values of one machine.
 */
@Tag("processes")
@Isolated("perf polls, which delays the programs of other tests")
class ToolsDocumentIT extends WithTools {
    private static final String PROMPT = "$ rpma-java ";

    /** The address in the document. */
    private static final String SHOWN = "10.0.0.1";

    /** The column in which the values of the outputs of info and doctor begin. */
    private static final int VALUES_OF_INFO = 18;

    private static final int NAMES_OF_DOCTOR = 9;
    private static final int VALUES_OF_DOCTOR = 26;

    /** Starts the command of a block. */
    private Jvm.Running run(String block, String... more) {
        String line = block.lines().findFirst().orElseThrow();
        assertThat(line).startsWith(PROMPT);
        List<String> arguments = new ArrayList<>();
        for (String word : line.substring(PROMPT.length()).split(" ")) {
            arguments.add(word.equals(SHOWN) ? address : word);
        }
        arguments.addAll(List.of(more));
        return start(arguments.toArray(String[]::new));
    }

    /** The output that a block shows. */
    private static List<String> shown(String block) {
        return block.lines().skip(1).collect(Collectors.toList());
    }

    /** Returns lines in which only words remain. */
    private List<String> forms(List<String> lines) {
        String name = RpmaDevice.local(address).name();
        return lines.stream()
                .map(line -> line.replace(address, SHOWN)
                        .replace("port " + port, "port 7204")
                        .replace("through " + name, "through rxe0")
                        .replaceAll("\\d+(\\.\\d+)?", "N")
                        .replaceAll("[KMG]iB/s", "MiB/s"))
                .collect(Collectors.toList());
    }

    private static List<String> columns(List<String> lines, int from, int to) {
        return lines.stream()
                .filter(line -> line.length() > from)
                .map(line -> line.substring(from, Math.min(to, line.length())).strip())
                .filter(column -> !column.isEmpty())
                .collect(Collectors.toList());
    }

    @Test
    void info() throws Exception {
        String block = Document.TOOLS.block("info");
        List<String> expected = columns(shown(block), 0, VALUES_OF_INFO);
        expected.replaceAll(
                label -> label.equals("rxe0") ? RpmaDevice.local(address).name() : label);
        assertThat(expected).contains("librpma", "limits").hasSizeGreaterThan(10);
        assertThat(columns(assertEnds(run(block), 0).out().lines().collect(Collectors.toList()), 0, VALUES_OF_INFO))
                .containsSubsequence(expected);
    }

    /** No device reaches the address of the document, as in the document. */
    @Test
    void doctor() throws Exception {
        String block = Document.TOOLS.block("doctor");
        String silent = TestDevice.silentAddress();
        List<String> end = assertEnds(start("doctor", silent), 1).out().lines().collect(Collectors.toList());
        assertThat(block).startsWith(PROMPT + "doctor 10.0.0.77\n");
        String name = RpmaDevice.local(address).name();
        List<String> expected = columns(findings(shown(block)), NAMES_OF_DOCTOR, VALUES_OF_DOCTOR);
        expected.replaceAll(finding -> finding.replace("rxe0", name).replace("10.0.0.77", silent));
        // The number of this file depends on the machine.
        expected.removeIf(finding -> finding.startsWith("uverbs"));
        assertThat(expected).contains("locked memory", "native access").hasSizeGreaterThan(10);
        assertThat(columns(findings(end), NAMES_OF_DOCTOR, VALUES_OF_DOCTOR)).containsSubsequence(expected);
        assertThat(end).contains(shown(block).get(shown(block).size() - 1));
    }

    private static List<String> findings(List<String> lines) {
        return lines.stream()
                .filter(line -> line.matches("(ok|none|warning|missing) +\\S.*"))
                .collect(Collectors.toList());
    }

    @Test
    void ping() throws Exception {
        String serverBlock = Document.TOOLS.block("ping-server");
        String clientBlock = Document.TOOLS.block("ping-client");
        Jvm.Running server = run(serverBlock, "--port", port);
        server.awaitLine("listening at ");
        Jvm.Finished client = assertEnds(run(clientBlock, "--port", port), 0);
        assertThat(forms(client.out().lines().collect(Collectors.toList()))).isEqualTo(forms(shown(clientBlock)));
        server.awaitLine("client 1: it has ended");
        assertThat(forms(server.lines())).isEqualTo(forms(shown(serverBlock)));
    }

    @Test
    void pingFaults() throws Exception {
        List<String> lines = Document.TOOLS.block("ping-faults").lines().collect(Collectors.toList());
        assertThat(lines).hasSize(4);
        for (int i = 0; i < lines.size(); i += 2) {
            assertThat(lines.get(i)).startsWith(PROMPT);
            List<String> arguments = List.of(lines.get(i)
                    .substring(PROMPT.length())
                    .replace("10.0.0.77", TestDevice.silentAddress())
                    .split(" "));
            assertThat(assertEnds(start(arguments.toArray(String[]::new)), 1).err())
                    .isEqualTo(lines.get(i + 1).replace("10.0.0.77", TestDevice.silentAddress()) + "\n");
        }
    }

    @Test
    void perf() throws Exception {
        String serverBlock = Document.TOOLS.block("perf-server");
        String clientBlock = Document.TOOLS.block("perf-client");
        Jvm.Running server = run(serverBlock, "--port", port);
        server.awaitLine("listening at ");
        List<String> rows =
                assertEnds(run(clientBlock, "--port", port), 0).out().lines().collect(Collectors.toList());
        assertThat(rows.get(0)).isEqualTo(shown(clientBlock).get(0));
        int times = rows.get(0).indexOf(" p50 us") - 2;
        assertThat(columns(rows, 0, times)).isEqualTo(columns(shown(clientBlock), 0, times));
        List<String> served = server.lines();
        assertThat(forms(served).get(0)).isEqualTo(forms(shown(serverBlock)).get(0));
        assertThat(served.get(1)).isEqualTo(shown(serverBlock).get(1));
    }
}
