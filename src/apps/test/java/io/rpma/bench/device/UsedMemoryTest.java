// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.bench.device;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** The memory of this process. */
class UsedMemoryTest {
    private static final int KIB = 1 << 10;

    @Test
    void isMoreThanTheHeap() {
        UsedMemory now = UsedMemory.now();
        assertThat(now.heap()).isPositive();
        assertThat(now.resident()).isGreaterThan(now.heap() / KIB);
    }

    @Test
    void isTheGrowthThatIsAnswered() {
        assertThat(new UsedMemory(30, 500).since(new UsedMemory(10, 600))).isEqualTo("20 -100");
    }
}
