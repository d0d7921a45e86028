// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.rpma.testing.CHeader;
import java.io.IOException;
import java.util.EnumSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The checks of arguments that the posts of connections and of batches share. */
class PostArgumentsTest {
    @Test
    void flags() throws IOException {
        CHeader librpma = new CHeader("librpma.h");
        assertThat(RpmaConn.F_COMPLETION_ALWAYS).isEqualTo(librpma.macro("RPMA_F_COMPLETION_ALWAYS"));
        assertThat(RpmaConn.F_COMPLETION_ON_ERROR).isEqualTo(librpma.macro("RPMA_F_COMPLETION_ON_ERROR"));
        assertThatCode(() -> RpmaConn.checkFlags(RpmaConn.F_COMPLETION_ALWAYS)).doesNotThrowAnyException();
        assertThatCode(() -> RpmaConn.checkFlags(RpmaConn.F_COMPLETION_ON_ERROR))
                .doesNotThrowAnyException();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 2, 4, 5, 7, -1, Integer.MIN_VALUE, Integer.MAX_VALUE})
    void wrongFlags(int flags) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RpmaConn.checkFlags(flags))
                .withMessageContaining(Integer.toString(flags));
    }

    @ParameterizedTest
    @EnumSource
    void usage(RpmaMrUsage needed) {
        assertThatCode(() -> needed.checkIn(needed.bit())).doesNotThrowAnyException();
        assertThatCode(() -> needed.checkIn(0xff)).doesNotThrowAnyException();
        int others = RpmaMrUsage.mask(EnumSet.complementOf(EnumSet.of(needed)).toArray(new RpmaMrUsage[0]));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> needed.checkIn(others))
                .withMessageContaining(needed.role + " region is not registered for " + needed);
    }
}
