// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import org.junit.jupiter.api.Test;

/** The memory of prepared batches. */
class PreparedRecordsTest {
    private static final int FIELDS = 3;

    private static BatchRecords recorded(int count) {
        BatchRecords records = new BatchRecords(count, FIELDS, 1);
        for (int i = 0; i < count; i++) {
            records.array()[records.next()] = 10 + i;
            records.add(records.next() + FIELDS);
        }
        return records;
    }

    @Test
    void theHeaderIsBehindTheMemoryInFrontAndOnACacheLine() {
        for (int count = 1; count <= 9; count++) {
            PreparedRecords records = recorded(count).prepare(152);
            assertThat(records.address() % 64).isZero();
            records.setHeader(7, -1);
            assertThat(records.count()).isEqualTo(count);
            for (int i = 0; i < count; i++) {
                assertThat(records.get(i)).containsExactly(10 + i, 0, 0);
            }
        }
    }

    /** The number of operations that the documentation of RdmaBatch.prepare() names. */
    @Test
    void theMaximumNumberOfRecords() {
        assertThat(BatchRecords.most(11, 8, 152)).isEqualTo(8_947_847);
    }

    /** The check comes before the allocation. */
    @Test
    void refusesRecordsThatExceedOneAllocation() {
        BatchRecords records = recorded(2);
        assertThatIllegalStateException()
                .isThrownBy(() -> records.prepare(1 << 30))
                .withMessage("a prepared batch has at most 1 operations, not 2");
        assertThat(records.count()).isEqualTo(2);
    }
}
