// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.replicatedlog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rpma.RpmaMemory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.function.Consumer;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;

class LogLayoutTest {
    private static final int SIZE = 8192;

    @Test
    void theBytesOfAnEmptyLog() {
        byte[] expected = new byte[SIZE];
        byte[] numbers = HexFormat.of().parseHex("52504d414c4f470001000000000000000010000000000000");
        System.arraycopy(numbers, 0, expected, 0, numbers.length);
        try (RpmaMemory memory = RpmaMemory.allocate(SIZE)) {
            assertThat(LocalLog.isIn(memory)).isFalse();
            LocalLog.format(memory);
            assertThat(LocalLog.isIn(memory)).isTrue();
            byte[] formatted = new byte[SIZE];
            memory.buffer().get(formatted);
            assertThat(formatted).isEqualTo(expected).isEqualTo(TestLog.of(SIZE));
        }
    }

    @Test
    void theBytesOfALog() {
        byte[] memory = TestLog.of(SIZE, "first", "eight by");
        assertThat(Arrays.copyOfRange(memory, 64, 72)).isEqualTo(HexFormat.of().parseHex("3000000000000000"));
        // An independent implementation has computed these checksums.
        assertThat(HexFormat.of().formatHex(memory, 4096, 4096 + 48))
                .isEqualTo("05000000" + "a8bcb460" + "0100000000000000" + "6669727374000000" + "08000000" + "b4a59607"
                        + "0200000000000000" + "6569676874206279");
    }

    @Test
    void theChecksumGoesOverSequenceLengthAndPayload() {
        ByteBuffer record = ByteBuffer.allocate(24);
        LogLayout.putRecord(record, 0x0102030405060708L, "abc".getBytes(StandardCharsets.US_ASCII));
        CRC32C crc = new CRC32C();
        crc.update(HexFormat.of().parseHex("0807060504030201" + "03000000" + "616263"));
        assertThat(LogLayout.storedChecksum(record)).isEqualTo((int) crc.getValue());
    }

    @Test
    void lengths() {
        assertThat(LogLayout.recordLength(0)).isEqualTo(16);
        assertThat(LogLayout.recordLength(1)).isEqualTo(24);
        assertThat(LogLayout.recordLength(8)).isEqualTo(24);
        assertThat(LogLayout.recordLength(9)).isEqualTo(32);
        assertThat(LogLayout.capacity(4095)).isNegative();
        assertThat(LogLayout.capacity(4096)).isZero();
        assertThat(LogLayout.capacity(4111)).isEqualTo(8);
    }

    private static void assertRefused(Consumer<ByteBuffer> damage, String message) {
        byte[] memory = TestLog.of(SIZE, "record");
        ByteBuffer header = ByteBuffer.wrap(memory).order(ByteOrder.LITTLE_ENDIAN);
        damage.accept(header);
        assertThatThrownBy(() -> LogLayout.header(ByteBuffer.wrap(memory), SIZE))
                .isInstanceOf(LogException.class)
                .hasMessageContaining(message);
    }

    @Test
    void headersThatAreNone() {
        assertRefused(header -> header.put(0, (byte) 'S'), "no log");
        assertRefused(header -> header.putLong(0, 0), "no log");
        assertRefused(header -> header.putInt(8, 2), "version 2");
        assertRefused(header -> header.putLong(16, -8), "a capacity of -8");
        assertRefused(header -> header.putLong(16, SIZE), "cut off");
        assertRefused(header -> header.putLong(16, 4092), "a capacity of 4092");
        assertRefused(header -> header.putLong(64, -8), "the tail is -8");
        assertRefused(header -> header.putLong(64, 4104), "the tail is 4104");
        assertRefused(header -> header.putLong(64, 12), "the tail is 12");
    }
}
