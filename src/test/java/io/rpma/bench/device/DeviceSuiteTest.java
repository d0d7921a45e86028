// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.bench.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

/** The command line of the suite. */
@Tag("benchmarks")
class DeviceSuiteTest {
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
    void anUnknownOperation() {
        assertThatThrownBy(() -> parse("--operations", "write,nothing"))
                .isInstanceOf(ParameterException.class)
                .hasMessageContaining("no operation nothing");
    }
}
