// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.support;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PersistenceTest {
    @ParameterizedTest
    @CsvSource({
        // persistent, flushable, native, direct write
        "false, false, false, false, NONE",
        "false, true, true, true, NONE",
        "false, false, false, true, NONE",
        "true, true, true, false, NATIVE_FLUSH",
        "true, true, true, true, NATIVE_FLUSH",
        "true, true, false, true, DIRECT_WRITE",
        "true, true, false, false, SERVER",
        "true, false, true, true, SERVER",
        "true, false, false, true, SERVER"
    })
    void onlyWhatHolds(
            boolean persistent, boolean flushable, boolean nativeFlush, boolean directWrite, Persistence expected) {
        assertThat(Persistence.choose(persistent, flushable, nativeFlush, directWrite))
                .isEqualTo(expected);
    }

    @Test
    void aFlushAloneMakesNothingPersistentElsewhere() {
        assertThat(Persistence.values())
                .filteredOn(Persistence::isByFlush)
                .containsExactly(Persistence.NATIVE_FLUSH, Persistence.DIRECT_WRITE);
    }
}
