// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.bench.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rpma.bench.Language;
import io.rpma.bench.Machine;
import io.rpma.bench.Report;
import io.rpma.bench.Result;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

/** The command line of the suite, and the report after a failure. */
class DeviceSuiteTest {
    private static final Machine MACHINE =
            new Machine("2 x CPU", "Linux 6.12", "VM 25", "1.3.0", "soft-RoCE", "2026-11-21T00:00:00Z");
    private static final List<Result> RESULTS =
            List.of(Result.of("write", Map.of("bytes", "8"), Language.C, "us", List.of(50.0, 60.0)));

    private static CommandLine.ParseResult parse(String option, String names) {
        return new CommandLine(new DeviceSuite()).parseArgs("--address", "10.0.0.1", option, names);
    }

    @Test
    void namesOfOperations() {
        List<Operation> operations =
                parse("--operations", "write,rdma-write,tcp").matchedOptionValue("--operations", List.of());
        assertThat(operations).containsExactly(Operation.WRITE, Operation.RDMA_WRITE, Operation.TCP);
    }

    @Test
    void namesOfSections() {
        List<DeviceSuite.Section> sections =
                parse("--sections", "operations,connections,ids,cold").matchedOptionValue("--sections", List.of());
        assertThat(sections).containsExactly(DeviceSuite.Section.values());
    }

    @Test
    void anUnknownSection() {
        assertThatThrownBy(() -> parse("--sections", "ids,warm"))
                .isInstanceOf(ParameterException.class)
                .hasMessageContaining("no section warm");
    }

    @Test
    void aFailureKeepsTheResultsBeforeIt(@TempDir Path directory) throws IOException {
        Path file = directory.resolve("device.json");
        IOException failure = new IOException("a client has ended");
        DeviceSuite.keep(MACHINE, RESULTS, file, failure);
        assertThat(Report.read(file).results()).isEqualTo(RESULTS);
        assertThat(Report.read(file).targets()).isEmpty();
        assertThat(failure).hasNoSuppressedExceptions();
    }

    @Test
    void aFailureWithoutResultsKeepsTheEarlierReport(@TempDir Path directory) throws IOException {
        Path file = directory.resolve("device.json");
        Files.writeString(file, "earlier");
        DeviceSuite.keep(MACHINE, List.of(), file, new IOException("a client has ended"));
        assertThat(file).hasContent("earlier");
    }

    @Test
    void aReportThatCanNotBeWrittenDoesNotReplaceTheFailure() {
        IOException failure = new IOException("a client has ended");
        DeviceSuite.keep(MACHINE, RESULTS, Path.of("/dev/null/device.json"), failure);
        assertThat(failure.getSuppressed())
                .hasOnlyElementsOfType(IOException.class)
                .hasSize(1);
    }

    @Test
    void theMemoryOfThisMachine() throws IOException {
        assertThat(Machine.availableMemory()).isPositive();
    }

    @Test
    void anUnknownOperation() {
        assertThatThrownBy(() -> parse("--operations", "write,nothing"))
                .isInstanceOf(ParameterException.class)
                .hasMessageContaining("no operation nothing");
    }
}
