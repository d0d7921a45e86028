// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Allocations of huge pages that must fail. */
class RpmaMemoryHugeTest {
    private static final long PAGE = 2L << 20;

    @ParameterizedTest
    @ValueSource(longs = {0, -1, 1, 4096, 3 << 20, PAGE + 1, Long.MIN_VALUE, Long.MAX_VALUE})
    void refusesPageSizesThatThereCantBe(long pageSize) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RpmaMemory.allocateHuge(PAGE, pageSize))
                .withMessageContaining("power of two")
                .withMessageContaining(Long.toString(pageSize));
    }

    @ParameterizedTest
    @ValueSource(longs = {0, -1, Long.MIN_VALUE})
    void refusesImpossibleSizes(long size) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RpmaMemory.allocateHuge(size, PAGE))
                .withMessageContaining(Long.toString(size));
    }

    @ParameterizedTest
    @ValueSource(longs = {1L << 45, 1L << 62, Long.MAX_VALUE - PAGE, Long.MAX_VALUE - 1, Long.MAX_VALUE})
    void saysWhereHugePagesAreSetAside(long size) {
        assertThatExceptionOfType(OutOfMemoryError.class)
                .isThrownBy(() -> RpmaMemory.allocateHuge(size, PAGE))
                .withMessageContaining("Cannot allocate memory")
                .withMessageContaining("/proc/sys/vm/nr_hugepages");
    }

    @Test
    void aSizeThatNoSystemHas() {
        assertThatExceptionOfType(OutOfMemoryError.class)
                .isThrownBy(() -> RpmaMemory.allocateHuge(1, 1L << 61))
                .withMessageContaining("/sys/kernel/mm/hugepages");
    }
}
