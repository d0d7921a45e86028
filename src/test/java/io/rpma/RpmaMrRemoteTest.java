// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.Random;
import java.util.Set;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RpmaMrRemoteTest {
    private static final int PERSISTENT = RpmaMrUsage.FLUSH_TYPE_PERSISTENT.bit();
    private static final int VISIBILITY = RpmaMrUsage.FLUSH_TYPE_VISIBILITY.bit();

    /** Address, size, key and usage as librpma writes them. */
    private static final byte[] GOLDEN =
            HexFormat.of().parseHex("00cdab8967452301" + "0010000000000000" + "78563412" + "3d");

    static byte[] descriptor(long address, long size, int usage) {
        return ByteBuffer.allocate(RpmaMrLocal.DESCRIPTOR_SIZE)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putLong(address)
                .putLong(size)
                .putInt(0x12345678)
                .put((byte) usage)
                .array();
    }

    static RpmaMrRemote region(long address, long size, int usage) {
        return RpmaMrRemote.fromDescriptor(descriptor(address, size, usage));
    }

    @Test
    void readsItsDescriptor() {
        assertThat(descriptor(0x0123456789abcd00L, 4096, 0x3d)).isEqualTo(GOLDEN);
        try (RpmaMrRemote region = RpmaMrRemote.fromDescriptor(GOLDEN)) {
            assertThat(region.getSize()).isEqualTo(4096);
            assertThat(region.getFlushType()).containsExactly(RpmaFlushType.PERSISTENT, RpmaFlushType.VISIBILITY);
            assertThat(region.usages())
                    .containsExactly(
                            RpmaMrUsage.READ_SRC,
                            RpmaMrUsage.WRITE_SRC,
                            RpmaMrUsage.WRITE_DST,
                            RpmaMrUsage.FLUSH_TYPE_VISIBILITY,
                            RpmaMrUsage.FLUSH_TYPE_PERSISTENT);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 0x10, 0x20, 0x30, 0x7f, 0x80, 0xff})
    void flushTypesAreThoseOfTheUsage(int usage) {
        Set<RpmaFlushType> expected = EnumSet.noneOf(RpmaFlushType.class);
        if ((usage & PERSISTENT) != 0) {
            expected.add(RpmaFlushType.PERSISTENT);
        }
        if ((usage & VISIBILITY) != 0) {
            expected.add(RpmaFlushType.VISIBILITY);
        }
        try (RpmaMrRemote region = region(4096, 4096, usage)) {
            assertThat(region.getFlushType()).isEqualTo(expected);
            assertThat(region.usages()).isEqualTo(RpmaMrUsage.setOf(usage));
        }
    }

    @ParameterizedTest
    @CsvSource({
        "0, 1",
        "0, 9223372036854775807",
        "1, 9223372036854775806",
        "9223372036854775806, 1",
        "139637976727552, 1099511627776"
    })
    void takesEveryRegionThatEndsBeforeTheSignBit(long address, long size) {
        try (RpmaMrRemote region = region(address, size, 1)) {
            assertThat(region.getSize()).isEqualTo(size);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "4096, 0, 1",
        "4096, -1, 1",
        "4096, -9223372036854775808, 1",
        "-1, 1, 1",
        "-4096, 8192, 1",
        "-9223372036854775808, 1, 1",
        "9223372036854775807, 1, 1",
        "1, 9223372036854775807, 1",
        "4096, 4096, 0"
    })
    void refusesWhatIsNoRegion(long address, long size, int usage) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> region(address, size, usage))
                .withMessageContaining("no memory region");
    }

    @Test
    void refusesZeroes() {
        assertThatIllegalArgumentException().isThrownBy(() -> RpmaMrRemote.fromDescriptor(new byte[56]));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 20})
    void refusesTooFewBytes(int length) {
        byte[] bytes = new byte[length];
        System.arraycopy(GOLDEN, 0, bytes, 0, length);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RpmaMrRemote.fromDescriptor(bytes))
                .withMessage("the descriptor of a memory region has " + GOLDEN.length + " bytes, here are " + length
                        + (length == 0 ? ": private data is empty until nextEvent() has returned ESTABLISHED" : ""));
        ByteBuffer buffer = ByteBuffer.wrap(GOLDEN).limit(length);
        assertThatIllegalArgumentException().isThrownBy(() -> RpmaMrRemote.fromDescriptor(buffer));
        assertThat(buffer.position()).isZero();
    }

    @Test
    void refusesNull() {
        assertThatNullPointerException().isThrownBy(() -> RpmaMrRemote.fromDescriptor((byte[]) null));
        assertThatNullPointerException().isThrownBy(() -> RpmaMrRemote.fromDescriptor((ByteBuffer) null));
    }

    @Test
    void passesOverWhatFollowsTheDescriptor() {
        byte[] bytes = new byte[300];
        System.arraycopy(GOLDEN, 0, bytes, 7, GOLDEN.length);
        bytes[7 + GOLDEN.length] = -1;
        ByteBuffer buffer = ByteBuffer.wrap(bytes).position(7);
        byte[] longer = Arrays.copyOf(GOLDEN, 1000);
        try (RpmaMrRemote region = RpmaMrRemote.fromDescriptor(buffer);
                RpmaMrRemote other = RpmaMrRemote.fromDescriptor(longer)) {
            assertThat(region.getSize()).isEqualTo(4096);
            assertThat(other.getSize()).isEqualTo(4096);
            assertThat(buffer.position()).isEqualTo(7 + RpmaMrLocal.DESCRIPTOR_SIZE);
            assertThat(buffer.get()).isEqualTo((byte) -1);
        }
    }

    @Test
    void readsEveryKindOfBuffer() {
        ByteBuffer direct = ByteBuffer.allocateDirect(21).order(ByteOrder.LITTLE_ENDIAN);
        direct.put(GOLDEN).flip();
        ByteBuffer sliced =
                ByteBuffer.allocate(30).position(9).slice().put(GOLDEN).flip();
        try (RpmaMrRemote region = RpmaMrRemote.fromDescriptor(direct);
                RpmaMrRemote other = RpmaMrRemote.fromDescriptor(sliced.asReadOnlyBuffer())) {
            assertThat(region.getSize()).isEqualTo(4096);
            assertThat(region.usages()).isEqualTo(other.usages());
            assertThat(direct.order()).isEqualTo(ByteOrder.LITTLE_ENDIAN);
            assertThat(direct.hasRemaining()).isFalse();
        }
    }

    @Test
    void randomBytesAreARegionOrRefused() {
        long seed = new Random().nextLong();
        System.out.println("RpmaMrRemoteTest: seed " + seed);
        Random random = new Random(seed);
        int regions = 0;
        for (int i = 0; i < 20_000; i++) {
            byte[] bytes = new byte[random.nextInt(40)];
            random.nextBytes(bytes);
            try (RpmaMrRemote region = RpmaMrRemote.fromDescriptor(bytes)) {
                assertThat(region.getSize()).isPositive();
                assertThat(region.usages()).isNotEmpty();
                regions++;
            } catch (IllegalArgumentException e) {
                assertThat(e).hasMessageMatching("the (bytes describe no|descriptor of a) memory region.*");
            }
        }
        assertThat(regions).isPositive();
    }

    @Test
    void isOfNoUseWhenClosed() {
        RpmaMrRemote region = RpmaMrRemote.fromDescriptor(GOLDEN);
        region.close();
        assertThatCode(region::close).doesNotThrowAnyException();
        for (ThrowingCallable use : new ThrowingCallable[] {region::getSize, region::getFlushType}) {
            assertThatIllegalStateException().isThrownBy(use).withMessageContaining(region.object() + " is closed");
        }
        assertThat(region.usages()).hasSize(5);
        assertThat(region.toString()).contains("4096 bytes");
    }

    @Test
    void checksItsPartInAnOperation() {
        try (RpmaMrRemote region = region(4096, 100, RpmaMrUsage.READ_SRC.bit())) {
            long id = region.object().handle();
            assertThat(RpmaMrRemote.use(region, RpmaMrUsage.READ_SRC, 0, 100)).isEqualTo(id);
            assertThat(RpmaMrRemote.use(region, RpmaMrUsage.READ_SRC, 100, 0)).isEqualTo(id);
            assertThat(RpmaMrRemote.useFlushed(region, 92, 8)).isEqualTo(id);
            assertThatExceptionOfType(IndexOutOfBoundsException.class)
                    .isThrownBy(() -> RpmaMrRemote.use(region, RpmaMrUsage.READ_SRC, 1, 100));
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> RpmaMrRemote.use(region, RpmaMrUsage.WRITE_DST, 0, 1));
            assertThatIllegalArgumentException().isThrownBy(() -> RpmaMrRemote.useAtomic(region, 0));
            assertThatExceptionOfType(IndexOutOfBoundsException.class)
                    .isThrownBy(() -> RpmaMrRemote.useFlushed(region, 93, 7));
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {4096, 4097, 4100, 4103})
    void knowsWhereAnAtomicWriteCanGo(long address) {
        try (RpmaMrRemote region = region(address, 4096, 0xff)) {
            for (long offset = 0; offset < 16; offset++) {
                long at = offset;
                if (address % 8 == 0 && offset % 8 == 0) {
                    assertThatCode(() -> RpmaMrRemote.useAtomic(region, at)).doesNotThrowAnyException();
                } else {
                    assertThatIllegalArgumentException().isThrownBy(() -> RpmaMrRemote.useAtomic(region, at));
                }
            }
        }
    }
}
