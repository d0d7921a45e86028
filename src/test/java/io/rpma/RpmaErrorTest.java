// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.testing.CHeader;
import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class RpmaErrorTest {
    @ParameterizedTest
    @CsvSource(textBlock = """
                    UNKNOWN,         -100000, Unknown error
                    NOSUPP,          -100001, Not supported
                    PROVIDER,        -100002, Provider error occurred
                    NOMEM,           -100003, Out of memory
                    INVAL,           -100004, Invalid argument
                    NO_COMPLETION,   -100005, No next completion available
                    NO_EVENT,        -100006, No next event available
                    AGAIN,           -100007, 'Temporary error, try again'
                    SHARED_CHANNEL,  -100008, Completion channel is shared
                    NOT_SHARED_CHNL, -100009, Completion channel is not shared
                    """)
    void codeAndText(RpmaError error, int code, String text) {
        assertThat(error.code()).isEqualTo(code);
        assertThat(RpmaError.of(code)).isSameAs(error);
        assertThat(error.message()).isEqualTo(text);
    }

    @Test
    void hasNoOtherConstants() {
        assertThat(RpmaError.values()).hasSize(10);
    }

    @ParameterizedTest
    @EnumSource
    void codesAreThoseOfTheHeader(RpmaError error) throws IOException {
        assertThat(error.code()).isEqualTo(new CHeader("librpma.h").macro("RPMA_E_" + error));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, -1, -99_999, -100_010, 100_002, Integer.MIN_VALUE, Integer.MAX_VALUE})
    void otherCodesAreUnknown(int code) {
        assertThat(RpmaError.of(code)).isSameAs(RpmaError.UNKNOWN);
    }
}
