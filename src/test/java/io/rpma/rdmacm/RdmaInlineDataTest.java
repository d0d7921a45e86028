// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.rdmacm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RdmaInlineDataTest {
    private final RdmaInlineData data = RdmaInlineData.create(16);

    @ParameterizedTest
    @ValueSource(ints = {0, -1, Integer.MIN_VALUE})
    void hasAtLeastOneByte(int capacity) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RdmaInlineData.create(capacity))
                .withMessage("capacity must be at least 1, not " + capacity);
    }

    @Test
    void isFilledInByItsBuffers() {
        assertThat(data.capacity()).isEqualTo(16);
        ByteBuffer buffer = data.buffer();
        assertThat(buffer.order()).isSameAs(ByteOrder.BIG_ENDIAN);
        assertThat(buffer.remaining()).isEqualTo(16);
        buffer.putLong(42);
        assertThat(data.buffer().getLong()).isEqualTo(42);
        assertThat(data).hasToString("RdmaInlineData[16 bytes]");
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 17, Integer.MIN_VALUE, Integer.MAX_VALUE})
    void hasNoMoreThanItsCapacity(int length) {
        assertThatExceptionOfType(IndexOutOfBoundsException.class)
                .isThrownBy(() -> RdmaInlineData.use(data, length, 64))
                .withMessage(length + " of 16 bytes");
    }

    @Test
    void isPostedAsFarAsTheQueuePairTakes() {
        assertThat(RdmaInlineData.use(data, 8, 8))
                .isEqualTo(RdmaInlineData.use(data, 0, 0))
                .isPositive();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RdmaInlineData.use(data, 9, 8))
                .withMessage("9 bytes can't be posted inline: the queue pair takes 8");
    }
}
