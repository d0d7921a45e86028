// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import io.rpma.testing.Race;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.function.BooleanSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The operations that a batch refuses to record, and its exceptions for operations that can't be posted. */
class RpmaBatchTest {
    private static final int ALWAYS = RpmaConn.F_COMPLETION_ALWAYS;
    private static final long SIZE = 4096;
    private static final int ALL = 0xff;
    private static final int MAX_CAPACITY = 29_826_159;

    private final RpmaBatch batch = RpmaBatch.create(20);

    /** A connection whose native object is gone. */
    private final RpmaConn conn = FakeFacade.conn();

    private final RpmaMrRemote region = RpmaMrRemoteTest.region(4096, SIZE, ALL);

    @AfterEach
    void close() {
        FakeFacade.close(conn);
        region.close();
    }

    private void assertRefused(Class<? extends Throwable> type, String words, List<ThrowingCallable> posts) {
        for (ThrowingCallable post : posts) {
            assertThatExceptionOfType(Throwable.class)
                    .isThrownBy(post)
                    .isExactlyInstanceOf(type)
                    .withMessageContaining(words);
        }
        assertThat(batch.count()).isZero();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, -1, Integer.MIN_VALUE, Integer.MAX_VALUE, MAX_CAPACITY + 1})
    void refusesImpossibleCapacities(int capacity) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RpmaBatch.create(capacity))
                .withMessage("capacity must be 1 to " + MAX_CAPACITY + ", not " + capacity);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 2, 4, -1})
    void refusesWrongFlags(int flags) {
        assertRefused(
                IllegalArgumentException.class,
                "flags",
                List.of(
                        () -> batch.read(conn, null, 0, region, 0, 1, flags, 0),
                        () -> batch.read(conn, flags, 0),
                        () -> batch.write(conn, region, 0, null, 0, 1, flags, 0),
                        () -> batch.write(conn, flags, 0),
                        () -> batch.writeWithImm(conn, region, 0, null, 0, 1, flags, 5, 0),
                        () -> batch.writeWithImm(conn, flags, 5, 0),
                        () -> batch.atomicWrite(conn, region, 0, 1, flags, 0),
                        () -> batch.writeAtomic(conn, region, 0, null, 0, flags, 0),
                        () -> batch.flush(conn, region, 0, 8, RpmaFlushType.VISIBILITY, flags, 0),
                        () -> batch.send(conn, null, 0, 1, flags, 0),
                        () -> batch.send(conn, flags, 0),
                        () -> batch.sendWithImm(conn, null, 0, 1, flags, 5, 0),
                        () -> batch.sendWithImm(conn, flags, 5, 0)));
    }

    @Test
    void refusesNull() {
        RpmaConn none = null;
        RpmaSrq noQueue = null;
        for (ThrowingCallable post : List.<ThrowingCallable>of(
                () -> batch.read(conn, null, 0, region, 0, 1, ALWAYS, 0),
                () -> batch.read(none, ALWAYS, 0),
                () -> batch.write(conn, null, 0, null, 0, 1, ALWAYS, 0),
                () -> batch.write(conn, region, 0, null, 0, 1, ALWAYS, 0),
                () -> batch.write(none, ALWAYS, 0),
                () -> batch.writeWithImm(conn, null, 0, null, 0, 1, ALWAYS, 5, 0),
                () -> batch.writeWithImm(conn, region, 0, null, 0, 1, ALWAYS, 5, 0),
                () -> batch.writeWithImm(none, ALWAYS, 5, 0),
                () -> batch.atomicWrite(conn, null, 0, 1, ALWAYS, 0),
                () -> batch.atomicWrite(none, region, 0, 1, ALWAYS, 0),
                () -> batch.writeAtomic(conn, null, 0, null, 0, ALWAYS, 0),
                () -> batch.writeAtomic(conn, region, 0, null, 0, ALWAYS, 0),
                () -> batch.flush(conn, null, 0, 8, RpmaFlushType.VISIBILITY, ALWAYS, 0),
                () -> batch.flush(conn, region, 0, 8, null, ALWAYS, 0),
                () -> batch.flush(none, region, 0, 8, RpmaFlushType.VISIBILITY, ALWAYS, 0),
                () -> batch.send(conn, null, 0, 1, ALWAYS, 0),
                () -> batch.send(none, ALWAYS, 0),
                () -> batch.sendWithImm(conn, null, 0, 1, ALWAYS, 5, 0),
                () -> batch.sendWithImm(none, ALWAYS, 5, 0),
                () -> batch.recv(conn, null, 0, 1, 0),
                () -> batch.recv(none, 0),
                () -> batch.recv(noQueue, null, 0, 1, 0),
                () -> batch.recv(noQueue, 0))) {
            assertThatNullPointerException().isThrownBy(post).withMessageEndingWith(" is null");
        }
        assertThat(batch.count()).isZero();
    }

    @Test
    void refusesRegionsThatAreNotForIt() {
        try (RpmaMrRemote other = RpmaMrRemoteTest.region(4096, SIZE, ALL & ~RpmaMrUsage.WRITE_DST.bit())) {
            assertRefused(
                    IllegalArgumentException.class,
                    "destination region is not registered for WRITE_DST",
                    List.of(
                            () -> batch.write(conn, other, 0, null, 0, 1, ALWAYS, 0),
                            () -> batch.writeWithImm(conn, other, 0, null, 0, 1, ALWAYS, 5, 0),
                            () -> batch.atomicWrite(conn, other, 0, 1, ALWAYS, 0),
                            () -> batch.writeAtomic(conn, other, 0, null, 0, ALWAYS, 0)));
        }
    }

    @ParameterizedTest
    @CsvSource({"-1, 1", "4096, 1", "4095, 2", "0, 4097", "0, -1", "9223372036854775807, 1"})
    void refusesBytesOutsideOfTheRemoteRegion(long offset, long length) {
        assertRefused(
                IndexOutOfBoundsException.class,
                "bytes " + offset + " to " + offset + " + " + length + " of the destination region",
                List.of(
                        () -> batch.write(conn, region, offset, null, 0, length, ALWAYS, 0),
                        () -> batch.writeWithImm(conn, region, offset, null, 0, length, ALWAYS, 5, 0),
                        () -> batch.flush(conn, region, offset, length, RpmaFlushType.PERSISTENT, ALWAYS, 0)));
    }

    @ParameterizedTest
    @ValueSource(longs = {-8, 4089, 4092, 4096, 4104, Long.MAX_VALUE - 7, Long.MIN_VALUE})
    void refusesAtomicWritesOutsideOfTheRegion(long offset) {
        assertRefused(
                IndexOutOfBoundsException.class,
                "bytes " + offset + " to " + offset + " + 8 of the destination region",
                List.of(
                        () -> batch.atomicWrite(conn, region, offset, 1, ALWAYS, 0),
                        () -> batch.writeAtomic(conn, region, offset, null, 0, ALWAYS, 0)));
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 4, 7, 9, 4087})
    void refusesAtomicWritesThatAreNotAligned(long offset) {
        assertRefused(
                IllegalArgumentException.class,
                "multiple of 8, not to offset " + offset,
                List.of(
                        () -> batch.atomicWrite(conn, region, offset, 1, ALWAYS, 0),
                        () -> batch.writeAtomic(conn, region, offset, null, 0, ALWAYS, 0)));
    }

    @ParameterizedTest
    @CsvSource({"4089, 0", "4089, 7", "4095, 1", "4096, 0"})
    void refusesFlushesWithoutEightBytesAtTheirOffset(long offset, long length) {
        assertRefused(
                IndexOutOfBoundsException.class,
                "of the destination region",
                List.of(() -> batch.flush(conn, region, offset, length, RpmaFlushType.VISIBILITY, ALWAYS, 0)));
    }

    @Test
    void refusesMoreThanOneOperationCanTransfer() {
        long tooMuch = 1L << 31;
        try (RpmaMrRemote large = RpmaMrRemoteTest.region(4096, 1L << 40, ALL)) {
            assertRefused(
                    IllegalArgumentException.class,
                    "one operation transfers at most 2^31 - 1 bytes, not " + tooMuch,
                    List.of(
                            () -> batch.write(conn, large, 0, null, 0, tooMuch, ALWAYS, 0),
                            () -> batch.flush(conn, large, 0, tooMuch, RpmaFlushType.VISIBILITY, ALWAYS, 0)));
        }
    }

    @Test
    void postsNothingWhenEmpty() {
        assertThat(batch.post()).isZero();
        assertThat(batch.posted()).isZero();
        assertThat(batch).hasToString("RpmaBatch[0 of 20]");
        assertThatExceptionOfType(NoSuchElementException.class).isThrownBy(batch::removeFirst);
        assertThatExceptionOfType(NoSuchElementException.class).isThrownBy(batch::firstOpContext);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 7})
    void keepsTheOrderHoweverItIsFilledAndDropped(int capacity) {
        RpmaBatch some = RpmaBatch.create(capacity);
        long recorded = 0;
        long dropped = 0;
        for (int round = 0; round < 20; round++) {
            while (some.write(conn, ALWAYS, recorded)) {
                recorded++;
            }
            assertThat(recorded - dropped).isEqualTo(capacity);
            for (int i = 0; i <= round % capacity; i++) {
                assertThatIllegalStateException()
                        .isThrownBy(some::post)
                        .withMessage("rpma_write with opContext " + dropped + ": its connection is closed");
                assertThat(some.firstOpContext()).isEqualTo(dropped);
                some.removeFirst();
                dropped++;
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 100})
    void takesAsManyAsItsCapacity(int capacity) {
        RpmaBatch some = RpmaBatch.create(capacity);
        assertThat(some.capacity()).isEqualTo(capacity);
        for (int i = 0; i < capacity; i++) {
            assertThat(some.count()).isEqualTo(i);
            assertThat(some.write(conn, ALWAYS, i)).isTrue();
        }
        assertThat(some.write(conn, ALWAYS, 0)).isFalse();
        assertThat(some.atomicWrite(conn, region, 0, 1, ALWAYS, 0)).isFalse();
        assertThat(some.recv(conn, 0)).isFalse();
        assertThat(some.count()).isEqualTo(capacity);
        some.removeFirst();
        assertThat(some.count()).isEqualTo(capacity - 1);
        assertThat(some.read(conn, ALWAYS, 0)).isTrue();
        assertThat(some.read(conn, ALWAYS, 0)).isFalse();
        some.clear();
        assertThat(some.count()).isZero();
        assertThat(some.send(conn, ALWAYS, 0)).isTrue();
    }

    @Test
    void checksArgumentsAlsoWhenFull() {
        RpmaBatch full = RpmaBatch.create(1);
        assertThat(full.write(conn, ALWAYS, 0)).isTrue();
        assertThatIllegalArgumentException().isThrownBy(() -> full.write(conn, 0, 0));
    }

    /**
     * Failed operations stay in the batch in the order of recording: the exceptions name their functions in this order.
     */
    @Test
    void keepsWhatCanNotBePosted() {
        List<BooleanSupplier> records = List.of(
                () -> batch.read(conn, ALWAYS, -8),
                () -> batch.write(conn, ALWAYS, -7),
                () -> batch.writeWithImm(conn, ALWAYS, 5, -6),
                () -> batch.atomicWrite(conn, region, 8, -1, ALWAYS, -5),
                () -> batch.flush(conn, region, 0, 8, RpmaFlushType.VISIBILITY, ALWAYS, -4),
                () -> batch.send(conn, ALWAYS, -3),
                () -> batch.sendWithImm(conn, ALWAYS, -1, -2),
                () -> batch.recv(conn, -1));
        List<String> functions = List.of(
                "rpma_read",
                "rpma_write",
                "rpma_write_with_imm",
                "rpma_atomic_write",
                "rpma_flush",
                "rpma_send",
                "rpma_send_with_imm",
                "rpma_recv");
        records.forEach(record -> assertThat(record.getAsBoolean()).isTrue());
        for (int left = records.size(); left > 0; left--) {
            String function = functions.get(records.size() - left);
            for (int again = 0; again < 2; again++) {
                assertThatIllegalStateException()
                        .isThrownBy(batch::post)
                        .withMessage(function + " with opContext " + -left + ": its connection is closed");
                assertThat(batch.firstOpContext()).isEqualTo(-left);
                assertThat(batch.posted()).isZero();
                assertThat(batch.count()).isEqualTo(left);
            }
            batch.removeFirst();
        }
        assertThat(batch.post()).isZero();
    }

    @Test
    void operationsAreThoseOfTheShim() throws IOException {
        Matcher c = Pattern.compile("enum op \\{ (.*) };").matcher(Files.readString(Path.of("native/batch.c")));
        assertThat(c.find()).isTrue();
        assertThat(Arrays.stream(RpmaBatch.Op.values()).map(Enum::name).collect(Collectors.joining(", ")))
                .isEqualTo(c.group(1));
    }

    /** Concurrent use is forbidden, but must do no harm. */
    @Test
    void survivesThreadsThatUseItAtOnce() throws Exception {
        try (Race race = new Race(3)) {
            for (int round = 0; round < 300; round++) {
                RpmaBatch shared = RpmaBatch.create(3);
                race.run(
                        () -> {
                            shared.write(conn, ALWAYS, 1);
                            shared.atomicWrite(conn, region, 0, 1, ALWAYS, 2);
                            shared.recv(conn, 3);
                            assertThat(shared.count()).isBetween(0, 3);
                            return shared.post() == 0;
                        },
                        shared::clear);
                shared.clear();
                assertThat(shared.post()).isZero();
            }
        }
    }
}
