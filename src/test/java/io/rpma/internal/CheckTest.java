// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CheckTest {
    private static final long LARGE = 1L << 40;

    @ParameterizedTest
    @CsvSource({
        "0, 0, 1",
        "0, 1, 1",
        "1, 0, 1",
        "4095, 1, 4096",
        "0, 2147483647, 1099511627776",
        "1097364144129, 2147483647, 1099511627776",
        "9223372036854775806, 1, 9223372036854775807"
    })
    void rangesInside(long offset, long length, long size) {
        assertThatCode(() -> Check.range("source", offset, length, size)).doesNotThrowAnyException();
    }

    @ParameterizedTest
    @CsvSource({
        "0, 2, 1",
        "1, 1, 1",
        "2, 0, 1",
        "-1, 0, 1",
        "-1, 1, 1",
        "0, -1, 1",
        "1, -1, 1",
        "4095, 2, 4096",
        "4096, 1, 4096",
        "9223372036854775807, 1, 4096",
        "9223372036854775807, 2147483647, 9223372036854775807",
        "-9223372036854775808, 0, 9223372036854775807",
        "0, -9223372036854775808, 9223372036854775807",
        "-9223372036854775808, 2147483647, 1"
    })
    void rangesOutside(long offset, long length, long size) {
        assertThatExceptionOfType(IndexOutOfBoundsException.class)
                .isThrownBy(() -> Check.range("source", offset, length, size))
                .withMessageContaining("source region")
                .withMessageContaining(Long.toString(offset))
                .withMessageContaining(Long.toString(length));
    }

    @ParameterizedTest
    @ValueSource(longs = {1L << 31, 1L << 32, (1L << 32) + 5, Long.MAX_VALUE})
    void longerThanOneOperationCanBe(long length) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Check.range("source", 0, length, LARGE))
                .withMessageContaining("2^31");
    }

    @Test
    void address() {
        for (String address : new String[] {"::1", "x", "x".repeat(255)}) {
            assertThat(Check.address(address)).isEqualTo(address);
        }
        assertThatNullPointerException().isThrownBy(() -> Check.address(null)).withMessage("address");
        for (int length : new int[] {0, 256, 1 << 20}) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> Check.address("x".repeat(length)))
                    .withMessage("an address has 1 to 255 characters, not " + length);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 80, 65535})
    void ports(int port) {
        assertThat(Check.port(port)).isEqualTo(Integer.toString(port));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, -1, 65536, Integer.MIN_VALUE, Integer.MAX_VALUE})
    void wrongPorts(int port) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Check.port(port))
                .withMessageContaining(Integer.toString(port));
    }
}
