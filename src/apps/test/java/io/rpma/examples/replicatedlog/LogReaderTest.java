// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.replicatedlog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Random;
import org.junit.jupiter.api.Test;

class LogReaderTest {
    private static final int SIZE = 8192;

    private static void setTail(byte[] memory, long tail) {
        ByteBuffer.wrap(memory).order(ByteOrder.LITTLE_ENDIAN).putLong(LogLayout.TAIL_OFFSET, tail);
    }

    @Test
    void recordsOfAllLengths() throws Exception {
        String[] payloads = new String[40];
        for (int i = 0; i < payloads.length; i++) {
            payloads[i] = "x".repeat(i);
        }
        assertThat(TestLog.read(TestLog.of(SIZE, payloads))).containsExactly(payloads);
        assertThat(TestLog.read(TestLog.of(SIZE))).isEmpty();
    }

    @Test
    void recordsAcrossChunks() throws Exception {
        Random random = new Random(5);
        String[] payloads = new String[60];
        for (int i = 0; i < payloads.length; i++) {
            payloads[i] = "y".repeat(random.nextInt(LogLayout.MOST_PAYLOAD + 1));
        }
        payloads[7] = "z".repeat(LogLayout.MOST_PAYLOAD);
        assertThat(TestLog.read(TestLog.of(4 << 20, payloads))).containsExactly(payloads);
    }

    @Test
    void everyBitOfACommittedRecordMatters() {
        byte[] log = TestLog.of(SIZE, "first", "", "the third record");
        int end = (int) LogLayout.RECORDS + 24 + 16 + 32;
        for (int i = (int) LogLayout.RECORDS; i < end; i++) {
            for (int bit = 0; bit < Byte.SIZE; bit++) {
                byte[] damaged = log.clone();
                damaged[i] ^= (byte) (1 << bit);
                int offset = i - (int) LogLayout.RECORDS;
                int record = offset < 24 ? 1 : offset < 40 ? 2 : 3;
                assertThatThrownBy(() -> TestLog.read(damaged))
                        .as("bit %d of byte %d", bit, offset)
                        .isInstanceOf(LogException.class)
                        .hasMessageStartingWith("record " + record + " at position ")
                        .hasMessageContaining(" is torn: ");
            }
        }
    }

    @Test
    void whatIsBehindTheTailDoesNotMatter() throws Exception {
        byte[] log = TestLog.of(SIZE, "first", "second");
        setTail(log, 24);
        assertThat(TestLog.read(log)).containsExactly("first");
        log[(int) LogLayout.RECORDS + 24] ^= 1;
        assertThat(TestLog.read(log)).containsExactly("first");
    }

    @Test
    void aTailWithinARecord() {
        for (int tail : new int[] {8, 16, 32, 40}) {
            byte[] log = TestLog.of(SIZE, "first", "second");
            setTail(log, tail);
            assertThatThrownBy(() -> TestLog.read(log))
                    .isInstanceOf(LogException.class)
                    .hasMessageContaining("tail");
        }
    }

    @Test
    void aWholeRecordAtTheWrongPlace() {
        byte[] log = TestLog.of(SIZE, "one", "two");
        System.arraycopy(log, 4096, log, 4096 + 24, 24);
        assertThatThrownBy(() -> TestLog.read(log))
                .isInstanceOf(LogException.class)
                .hasMessage("record 2 at position 24 is torn: it has the sequence number 1");
    }
}
