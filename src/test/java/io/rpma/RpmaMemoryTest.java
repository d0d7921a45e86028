// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.rpma.internal.Fake;
import io.rpma.internal.FreshMemory;
import io.rpma.internal.Natives;
import io.rpma.internal.Resource;
import io.rpma.testing.Eventually;
import io.rpma.testing.Together;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RpmaMemoryTest {
    private static final int PAGE = 4096;
    private static final long LARGE = 3L << 30;

    private static boolean isMapped(RpmaMemory memory) {
        return FreshMemory.contains(memory.address());
    }

    /** Gives the collector time to find the unreachable buffers. */
    private static void collect() {
        long start = System.nanoTime();
        Eventually.becomeByGc("time for a collection", () -> System.nanoTime() - start > 50_000_000);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, PAGE - 1, PAGE, PAGE + 1, 1 << 20})
    void freshMemory(long size) {
        try (RpmaMemory memory = RpmaMemory.allocate(size)) {
            assertThat(memory.size()).isEqualTo(size);
            assertThat(memory.address()).isPositive();
            assertThat(memory.address() % PAGE).isZero();
            assertThat(memory.kind()).isSameAs(RpmaMemory.Kind.ANONYMOUS);
            assertThat(memory.isReadOnly()).isFalse();
            assertThat(memory.isPersistent()).isFalse();
            assertThat(memory.toString()).matches("RpmaMemory#\\d+\\[ANONYMOUS, " + size + " bytes]");
            ByteBuffer buffer = memory.buffer();
            assertThat(buffer.capacity()).isEqualTo((int) size);
            assertThat(buffer.isDirect()).isTrue();
            assertThat(buffer.isReadOnly()).isFalse();
            assertThat(buffer.order()).isSameAs(ByteOrder.BIG_ENDIAN);
            assertThat(buffer).isEqualTo(ByteBuffer.allocate((int) size));
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {0, -1, Long.MIN_VALUE})
    void refusesImpossibleSizes(long size) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RpmaMemory.allocate(size))
                .withMessageContaining(Long.toString(size));
    }

    @ParameterizedTest
    @ValueSource(longs = {1L << 62, Long.MAX_VALUE - 1, Long.MAX_VALUE})
    void saysThatTheSystemHasNoMore(long size) {
        assertThatExceptionOfType(OutOfMemoryError.class)
                .isThrownBy(() -> RpmaMemory.allocate(size))
                .withMessageStartingWith("can't map " + size + " bytes: Cannot allocate memory; ")
                .withMessageContaining("ulimit -v (RLIMIT_AS=");
    }

    @Test
    void buffersAreTheMemory() {
        try (RpmaMemory memory = RpmaMemory.allocate(3 * PAGE)) {
            ByteBuffer whole = memory.buffer();
            ByteBuffer part = memory.buffer(PAGE - 4, 8);
            part.putLong(0, 0x0123456789abcdefL);
            assertThat(whole.getLong(PAGE - 4)).isEqualTo(0x0123456789abcdefL);
            assertThat(Natives.bufferAddress(whole)).isEqualTo(memory.address());
            assertThat(Natives.bufferAddress(part)).isEqualTo(memory.address() + PAGE - 4);
        }
    }

    @ParameterizedTest
    @CsvSource({"0, 0", "0, 4096", "4096, 0", "4095, 1", "1, 4095"})
    void partsInside(long offset, int length) {
        try (RpmaMemory memory = RpmaMemory.allocate(PAGE)) {
            assertThat(memory.buffer(offset, length).capacity()).isEqualTo(length);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "-1, 0",
        "-1, 1",
        "0, -1",
        "0, 4097",
        "4096, 1",
        "4097, 0",
        "9223372036854775807, 1",
        "-9223372036854775808, 2147483647"
    })
    void partsOutside(long offset, int length) {
        try (RpmaMemory memory = RpmaMemory.allocate(PAGE)) {
            assertThatExceptionOfType(IndexOutOfBoundsException.class).isThrownBy(() -> memory.buffer(offset, length));
        }
    }

    @Test
    void moreThanABufferCanHold() {
        try (RpmaMemory memory = RpmaMemory.allocate(LARGE)) {
            assertThatExceptionOfType(IndexOutOfBoundsException.class)
                    .isThrownBy(memory::buffer)
                    .withMessageContaining(Long.toString(LARGE));
            memory.buffer(LARGE - 8, 8).putLong(0, 42);
            assertThat(memory.buffer(LARGE - PAGE, PAGE).getLong(PAGE - 8)).isEqualTo(42);
            assertThat(memory.buffer(LARGE - Integer.MAX_VALUE, Integer.MAX_VALUE)
                            .getLong(Integer.MAX_VALUE - 8))
                    .isEqualTo(42);
            assertThat(memory.buffer(LARGE, 0).capacity()).isZero();
            assertThatExceptionOfType(IndexOutOfBoundsException.class).isThrownBy(() -> memory.buffer(LARGE - 7, 8));
        }
    }

    @Test
    void hasNoBuffersWhenClosed() {
        RpmaMemory memory = RpmaMemory.allocate(PAGE);
        memory.close();
        assertThatCode(memory::close).doesNotThrowAnyException();
        assertThatIllegalStateException().isThrownBy(memory::buffer);
        assertThatIllegalStateException().isThrownBy(() -> memory.buffer(0, 1));
        assertThat(memory.size()).isEqualTo(PAGE);
    }

    @Test
    void isNotClosedWhileItIsRegistered() {
        RpmaMemory memory = RpmaMemory.allocate(PAGE);
        Resource region = Fake.object("RpmaMrLocal", memory.object());
        assertThatIllegalStateException().isThrownBy(memory::close).withMessageContaining(region.toString());
        assertThat(memory.buffer().get(0)).isZero();
        Fake.close(region, "closed", handle -> 0);
        memory.close();
        assertThatIllegalStateException().isThrownBy(memory::buffer);
    }

    @Test
    void isUnmappedAtOnceIfThereIsNoBuffer() {
        RpmaMemory memory = RpmaMemory.allocate(PAGE);
        assertThat(isMapped(memory)).isTrue();
        memory.close();
        assertThat(isMapped(memory)).isFalse();
    }

    @Test
    void everyBufferKeepsTheMemoryMapped() {
        RpmaMemory memory = RpmaMemory.allocate(PAGE);
        memory.buffer().put(8, (byte) 42);
        List<ByteBuffer> views = new ArrayList<>(List.of(
                memory.buffer().slice(8, 16).duplicate(),
                memory.buffer(8, 8).asReadOnlyBuffer(),
                memory.buffer().order(ByteOrder.nativeOrder()).slice(8, 8)));
        memory.close();
        while (!views.isEmpty()) {
            collect();
            assertThat(isMapped(memory)).isTrue();
            assertThat(views.remove(0).get(0)).isEqualTo((byte) 42);
        }
        Eventually.becomeByGc("the memory is unmapped", () -> !isMapped(memory));
    }

    @Test
    void mappingsDoNotAddUp() {
        long before = FreshMemory.bytes();
        for (int i = 0; i < 1000; i++) {
            try (RpmaMemory memory = RpmaMemory.allocate(PAGE + i)) {
                for (int j = 0; j < i % 4; j++) {
                    memory.buffer().put(j, (byte) 1);
                }
            }
        }
        Eventually.becomeByGc("all memory is unmapped", () -> FreshMemory.bytes() <= before);
    }

    @Test
    void threadsTakeBuffersWhileOneCloses() throws Exception {
        long before = FreshMemory.bytes();
        for (int round = 0; round < 200; round++) {
            RpmaMemory memory = RpmaMemory.allocate(PAGE);
            Together.run(3, thread -> {
                if (thread == 0) {
                    memory.close();
                    return;
                }
                try {
                    while (true) {
                        memory.buffer().put(thread, (byte) thread);
                    }
                } catch (IllegalStateException e) {
                    assertThat(e).hasMessageEndingWith("is closed");
                }
            });
        }
        Eventually.becomeByGc("all memory is unmapped", () -> FreshMemory.bytes() <= before);
    }
}
