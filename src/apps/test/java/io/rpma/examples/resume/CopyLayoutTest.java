// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.resume;

import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.support.Sha256;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HexFormat;
import java.util.Optional;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class CopyLayoutTest {
    private static final int MEMORY_SIZE = 4096 + 1024;
    private static final byte[] DIGEST = digest();

    private static byte[] digest() {
        byte[] digest = new byte[Sha256.LENGTH];
        for (byte i = 0; i < digest.length; i++) {
            digest[i] = i;
        }
        return digest;
    }

    private static byte[] header(long size, long commitWord) {
        ByteBuffer header = ByteBuffer.allocate(CopyLayout.HEADER_LENGTH).order(ByteOrder.LITTLE_ENDIAN);
        CopyLayout.describe(header, size, DIGEST);
        return header.putLong(CopyLayout.COMMIT_OFFSET, commitWord).array();
    }

    private static Optional<CopyLayout.Copy> read(byte[] header) {
        return CopyLayout.read(ByteBuffer.wrap(header), MEMORY_SIZE);
    }

    @Test
    void theBytesOfAHeader() {
        assertThat(HexFormat.of().formatHex(header(0x0102, CopyLayout.committed(0x80))))
                .isEqualTo("52504d41434f5059" + "01000000" + "00000000" + "0201000000000000"
                        + "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f" + "0000000000000000"
                        + "8100000000000000");
    }

    @Test
    void whatAHeaderSays() {
        CopyLayout.Copy copy = read(header(1001, CopyLayout.committed(64))).orElseThrow();
        assertThat(copy.size()).isEqualTo(1001);
        assertThat(copy.digest()).isEqualTo(DIGEST);
        assertThat(copy.position()).isEqualTo(64);
        assertThat(copy.isComplete()).isFalse();
        assertThat(copy.isOf(1001, DIGEST.clone())).isTrue();
        assertThat(copy.isOf(1000, DIGEST)).isFalse();
        assertThat(copy.isOf(1001, new byte[Sha256.LENGTH])).isFalse();
        assertThat(read(header(1001, CopyLayout.committed(1001))).orElseThrow().isComplete())
                .isTrue();
        assertThat(read(header(0, CopyLayout.committed(0))).orElseThrow().isComplete())
                .isTrue();
        assertThat(read(header(1024, CopyLayout.committed(0)))).isPresent();
    }

    @Test
    void anAnnouncement() {
        ByteBuffer header = ByteBuffer.wrap(header(1001, CopyLayout.committed(64)));
        assertThat(CopyLayout.announced(header)).isEmpty();
        header.order(ByteOrder.LITTLE_ENDIAN).putLong(CopyLayout.ANNOUNCEMENT_OFFSET, CopyLayout.announcement(0));
        assertThat(CopyLayout.announced(header)).hasValue(0);
        CopyLayout.resetAnnouncement(header);
        assertThat(header.array()).isEqualTo(header(1001, CopyLayout.committed(64)));
    }

    private static void assertNone(long size, long commitWord, Consumer<byte[]> damage) {
        byte[] header = header(size, commitWord);
        damage.accept(header);
        assertThat(read(header)).isEmpty();
    }

    @Test
    void headersThatAreNone() {
        assertThat(read(new byte[CopyLayout.HEADER_LENGTH])).isEmpty();
        assertNone(1000, CopyLayout.NOTHING, header -> {});
        assertNone(1000, -1, header -> {});
        assertNone(1000, CopyLayout.committed(1001), header -> {});
        assertNone(1000, CopyLayout.committed(63), header -> {});
        assertNone(1025, CopyLayout.committed(0), header -> {});
        assertNone(-8, CopyLayout.committed(0), header -> {});
        assertNone(1000, CopyLayout.committed(0), header -> header[0]++);
        assertNone(1000, CopyLayout.committed(0), header -> header[8]++);
    }
}
