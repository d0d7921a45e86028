// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.librpma;

import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.RpmaFlushType;
import java.util.EnumSet;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Example 07 flushes to persistence only if the flush is native and the server offers persistent memory. */
class AtomicWriteFlushTest {
    @ParameterizedTest
    @CsvSource({
        "true, true, PERSISTENT",
        "true, false, VISIBILITY",
        "false, true, VISIBILITY",
        "false, false, VISIBILITY",
    })
    void theStrongestFlush(boolean isNative, boolean persistentMemory, RpmaFlushType expected) {
        Set<RpmaFlushType> offered =
                persistentMemory ? EnumSet.allOf(RpmaFlushType.class) : EnumSet.of(RpmaFlushType.VISIBILITY);
        assertThat(Example07AtomicWriteClient.strongest(isNative, offered)).isEqualTo(expected);
    }
}
