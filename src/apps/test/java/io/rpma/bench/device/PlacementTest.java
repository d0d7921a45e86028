// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.bench.device;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/** The processors of the measured programs. */
class PlacementTest {
    private static final List<String> COMMAND = List.of("program", "argument");

    @Test
    void bindsEachToItsProcessor() {
        Placement placement = new Placement(0, 1);
        assertThat(placement.client(COMMAND)).containsExactly("taskset", "--cpu-list", "0", "program", "argument");
        assertThat(placement.target(COMMAND)).containsExactly("taskset", "--cpu-list", "1", "program", "argument");
    }

    @Test
    void leavesThemToTheKernel() {
        assertThat(Placement.ANY.client(COMMAND)).isEqualTo(COMMAND);
        assertThat(Placement.ANY.target(COMMAND)).isEqualTo(COMMAND);
    }
}
