// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.rpma.internal.Natives;
import io.rpma.testing.Race;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.IntConsumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RpmaCompletionsTest {
    private static final int SIZE = 48;
    private static final int RDMA_READ = 2;
    private static final int RECV = 128;
    private static final int WITH_IMM = 2;
    private static final int REM_ACCESS_ERR = 10;

    /** The memory that librpma fills, as struct ibv_wc lays it out. */
    private static ByteBuffer memory(RpmaCompletions completions) {
        return Natives.memoryBuffer(completions.address(), (long) completions.capacity() * SIZE)
                .order(ByteOrder.nativeOrder());
    }

    private static void put(ByteBuffer memory, int index, long wrId, int status, int opcode) {
        int at = index * SIZE;
        memory.putLong(at, wrId);
        memory.putInt(at + 8, status);
        memory.putInt(at + 12, opcode);
        memory.putInt(at + 16, 0x16 + index);
        memory.putInt(at + 20, 0x20 + index);
        memory.putInt(at + 28, 0x28 + index);
    }

    private static List<IntConsumer> accessors(RpmaCompletions completions) {
        return List.of(
                completions::wrId,
                completions::status,
                completions::isSuccess,
                completions::opcode,
                completions::byteLen,
                completions::hasImmData,
                completions::immData,
                completions::vendorErr,
                completions::qpNum,
                completions::srcQp);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, -1, Integer.MIN_VALUE, Integer.MAX_VALUE, Integer.MAX_VALUE / SIZE + 1})
    void refusesImpossibleCapacities(int capacity) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RpmaCompletions.create(capacity))
                .withMessage("capacity must be 1 to " + Integer.MAX_VALUE / SIZE + ", not " + capacity);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 16, 100_000})
    void startsEmpty(int capacity) {
        RpmaCompletions completions = RpmaCompletions.create(capacity);
        assertThat(completions.capacity()).isEqualTo(capacity);
        assertThat(completions.count()).isZero();
        assertThat(completions).hasToString("RpmaCompletions[]");
    }

    @Test
    void hasNothingBeyondItsCount() {
        RpmaCompletions completions = RpmaCompletions.create(4);
        for (int count = 0; count <= 4; count++) {
            completions.filled(count);
            assertThat(completions.count()).isEqualTo(count);
            for (IntConsumer accessor : accessors(completions)) {
                for (int index : new int[] {count, 4, count + 1, -1, Integer.MAX_VALUE, Integer.MIN_VALUE}) {
                    assertThatExceptionOfType(IndexOutOfBoundsException.class)
                            .isThrownBy(() -> accessor.accept(index))
                            .withMessage("completion " + index + " of " + count);
                }
            }
        }
        completions.clear();
        assertThatExceptionOfType(IndexOutOfBoundsException.class).isThrownBy(() -> completions.wrId(0));
    }

    @Test
    void readsSuccesses() {
        RpmaCompletions completions = RpmaCompletions.create(3);
        ByteBuffer memory = memory(completions);
        put(memory, 0, Long.MIN_VALUE, 0, RDMA_READ);
        put(memory, 1, -1, 0, RECV);
        put(memory, 2, 0x0123456789abcdefL, 0, 77);
        completions.filled(3);

        assertThat(completions.wrId(0)).isEqualTo(Long.MIN_VALUE);
        assertThat(completions.wrId(1)).isEqualTo(-1);
        assertThat(completions.wrId(2)).isEqualTo(0x0123456789abcdefL);
        assertThat(completions.opcode(0)).isEqualTo(RpmaWcOpcode.RDMA_READ);
        assertThat(completions.opcode(1)).isEqualTo(RpmaWcOpcode.RECV);
        assertThat(completions.opcode(2)).isEqualTo(RpmaWcOpcode.UNKNOWN);
        for (int i = 0; i < 3; i++) {
            assertThat(completions.isSuccess(i)).isTrue();
            assertThat(completions.status(i)).isEqualTo(RpmaWcStatus.SUCCESS);
            assertThat(completions.vendorErr(i)).isEqualTo(0x16 + i);
            assertThat(completions.byteLen(i)).isEqualTo(0x20 + i);
            assertThat(completions.qpNum(i)).isEqualTo(0x28 + i);
        }
        Reference.reachabilityFence(completions);
    }

    @Test
    void aFailureHasNoMoreThanItsFourFields() {
        RpmaCompletions completions = RpmaCompletions.create(2);
        ByteBuffer memory = memory(completions);
        put(memory, 0, 11, REM_ACCESS_ERR, RDMA_READ);
        put(memory, 1, 12, 4711, RDMA_READ);
        completions.filled(2);

        assertThat(completions.isSuccess(0)).isFalse();
        assertThat(completions.status(0)).isEqualTo(RpmaWcStatus.REM_ACCESS_ERR);
        assertThat(completions.wrId(0)).isEqualTo(11);
        assertThat(completions.vendorErr(0)).isEqualTo(0x16);
        assertThat(completions.qpNum(0)).isEqualTo(0x28);
        assertThat(completions.status(1)).isEqualTo(RpmaWcStatus.UNKNOWN);
        for (int i = 0; i < 2; i++) {
            int index = i;
            assertThatIllegalStateException()
                    .isThrownBy(() -> completions.opcode(index))
                    .withMessageContaining(completions.status(i).toString());
            for (IntConsumer accessor :
                    List.<IntConsumer>of(completions::byteLen, completions::hasImmData, completions::immData)) {
                assertThatIllegalStateException().isThrownBy(() -> accessor.accept(index));
            }
        }
        assertThat(completions).hasToString("RpmaCompletions[11 REM_ACCESS_ERR, 12 UNKNOWN]");
        Reference.reachabilityFence(completions);
    }

    @Test
    void describesItselfWhileAnotherThreadPolls() throws Exception {
        RpmaCompletions completions = RpmaCompletions.create(2);
        AtomicBoolean described = new AtomicBoolean();
        try (Race race = new Race(1)) {
            race.run(
                    () -> {
                        completions.filled(2);
                        completions.filled(0);
                        return !described.get();
                    },
                    () -> {
                        for (int i = 0; i < 200_000; i++) {
                            assertThat(completions.toString()).endsWith("]");
                        }
                        described.set(true);
                    });
        }
    }

    @Test
    void onlySomeHaveImmediateData() {
        RpmaCompletions completions = RpmaCompletions.create(2);
        ByteBuffer memory = memory(completions);
        put(memory, 0, 1, 0, RECV);
        put(memory, 1, 2, 0, RECV);
        memory.order(ByteOrder.BIG_ENDIAN).putInt(SIZE + 24, 0x80706050);
        memory.order(ByteOrder.nativeOrder()).putInt(SIZE + 36, WITH_IMM);
        completions.filled(2);

        assertThat(completions.hasImmData(0)).isFalse();
        assertThatIllegalStateException()
                .isThrownBy(() -> completions.immData(0))
                .withMessage("completion 0 (RECV) has no immediate data");
        assertThat(completions.hasImmData(1)).isTrue();
        assertThat(completions.immData(1)).isEqualTo(0x80706050);
        Reference.reachabilityFence(completions);
    }
}
