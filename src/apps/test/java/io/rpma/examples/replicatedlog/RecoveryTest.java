// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.replicatedlog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rpma.support.FakeMemory;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class RecoveryTest {
    private static final int SIZE = 8192;
    private static final int MOST = 6;

    private final ByteBuffer staging = ByteBuffer.allocate(LogAppender.STAGING);
    private final Random random = new Random(3);

    private FakeMemory memory(String name, byte[] content) {
        FakeMemory memory = new FakeMemory(name, content.length, staging, random);
        memory.set(0, content);
        return memory;
    }

    private Recovery.Recovered recover(FakeMemory a, FakeMemory b) throws Exception {
        return Recovery.recover(List.of(a, b), staging, (sequence, record, end) -> {});
    }

    private void assertRefused(byte[] a, byte[] b, String message) {
        FakeMemory first = memory("A", a);
        FakeMemory second = memory("B", b);
        assertThatThrownBy(() -> recover(first, second))
                .isInstanceOf(LogException.class)
                .hasMessageContaining(message);
        assertThat(first.content().array()).isEqualTo(a);
        assertThat(second.content().array()).isEqualTo(b);
    }

    @Test
    void theLongerLogWins() throws Exception {
        String[] payloads = TestLog.payloads("record ", MOST);
        for (int i = 0; i <= MOST; i++) {
            for (int j = 0; j <= MOST; j++) {
                FakeMemory a = memory("A", TestLog.of(SIZE, Arrays.copyOf(payloads, i)));
                FakeMemory b = memory("B", TestLog.of(SIZE, Arrays.copyOf(payloads, j)));
                int longer = Math.max(i, j);
                Recovery.Recovered recovered = recover(a, b);
                assertThat(recovered.records()).isEqualTo(longer);
                assertThat(recovered.tail()).isEqualTo(longer * 24L);
                assertThat(recovered.capacity()).isEqualTo(SIZE - 4096);
                byte[] expected = TestLog.of(SIZE, Arrays.copyOf(payloads, longer));
                assertThat(a.content().array()).isEqualTo(expected);
                assertThat(b.content().array()).isEqualTo(expected);
            }
        }
    }

    @Test
    void whatIsCopied() {
        assertThat(Recovery.CatchUp.of(48, 24)).isEqualTo(new Recovery.CatchUp(0, 1, 24, 48));
        assertThat(Recovery.CatchUp.of(24, 48)).isEqualTo(new Recovery.CatchUp(1, 0, 24, 48));
        assertThat(Recovery.CatchUp.of(24, 24)).isEqualTo(new Recovery.CatchUp(0, 1, 24, 24));
    }

    @Test
    void manyRecordsAreCopiedInParts() throws Exception {
        String[] payloads = new String[100];
        Arrays.setAll(payloads, i -> Integer.toString(i).repeat(5000));
        FakeMemory a = memory("A", TestLog.of(2 << 20, payloads[0]));
        FakeMemory b = memory("B", TestLog.of(2 << 20, payloads));
        assertThat(recover(a, b).records()).isEqualTo(100);
        assertThat(TestLog.read(a)).containsExactly(payloads);
    }

    @Test
    void logsThatDiffer() {
        assertRefused(TestLog.of(SIZE, "a0", "b1"), TestLog.of(SIZE, "a0", "c1"), "different logs");
        assertRefused(TestLog.of(SIZE, "a0", "b1", "b2"), TestLog.of(SIZE, "a0", "c1"), "different logs");
        assertRefused(TestLog.of(SIZE, "a0"), TestLog.of(SIZE, "longer than 8", "b"), "different logs");
    }

    @Test
    void aTornLog() {
        byte[] torn = TestLog.of(SIZE, "a0", "a1");
        torn[4096 + 40]++;
        assertRefused(torn, TestLog.of(SIZE, "a0"), "A: record 2 at position 24 is torn");
        assertRefused(TestLog.of(SIZE, "a0", "a1", "a2"), torn, "B: record 2 at position 24 is torn");
    }

    @Test
    void noLog() {
        assertRefused(new byte[SIZE], TestLog.of(SIZE), "A: this is no log");
        assertRefused(TestLog.of(SIZE), new byte[SIZE], "B: this is no log");
        assertRefused(TestLog.of(SIZE), new byte[100], "B: this is no log");
    }

    @Test
    void memoriesOfDifferentSizes() throws Exception {
        assertThat(recover(memory("A", TestLog.of(SIZE)), memory("B", TestLog.of(4096 + 48, "b")))
                        .capacity())
                .isEqualTo(48);
        assertRefused(TestLog.of(SIZE, "a0", "a1", "a2"), TestLog.of(4096 + 48, "a0"), "does not fit");
    }
}
