// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.rdmacm;

import static io.rpma.rdmacm.RdmaQp.F_SIGNALED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import io.rpma.internal.Fake;
import io.rpma.testing.CHeader;
import io.rpma.testing.Race;
import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The operations that a batch refuses to record, and its exceptions for operations that can't be posted. */
class RdmaBatchTest {
    /** A header of a cache line, two cache lines for the alignment, and 10 fields of 8 bytes for each operation. */
    private static final int MAX_CAPACITY = 26_843_543;

    private static final int MAX_SEND_WR = 4;
    private static final int MAX_INLINE_DATA = 64;

    private final RdmaBatch batch = RdmaBatch.create(20, 1000);
    private final RdmaQp qp = qp(Fake.HANDLE, false, false);
    /** A region without a native object, for no bytes. */
    private final RdmaMr region = new RdmaMr(0, 8, RdmaAccess.LOCAL_WRITE.bit());

    private final RdmaInlineData data = RdmaInlineData.create(MAX_INLINE_DATA + 1);

    /** Returns a queue pair whose native object is gone. */
    private static RdmaQp qp(long handle, boolean datagrams, boolean sigAll) {
        RdmaQp made = new RdmaQp(null, Fake.object("RdmaId"), datagrams, false, sigAll);
        made.made(new int[] {MAX_SEND_WR, 1, 1, 1, MAX_INLINE_DATA, 1, 7}, new long[] {handle, handle - 1});
        return made;
    }

    private static boolean write(RdmaBatch to, RdmaQp on, RdmaInlineData from, int length, int flags, long context) {
        return to.writeInline(on, from, length, flags, 0, 0, context);
    }

    private boolean write(RdmaQp on, int flags) {
        return write(batch, on, data, 1, flags, 0);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, -1, Integer.MIN_VALUE, Integer.MAX_VALUE, MAX_CAPACITY + 1})
    void refusesImpossibleCapacities(int capacity) {
        String message = "capacity must be 1 to " + MAX_CAPACITY + ", not " + capacity;
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RdmaBatch.create(capacity))
                .withMessage(message);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RdmaBatch.create(capacity, 1))
                .withMessage(message);
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, Integer.MIN_VALUE})
    void refusesImpossibleNumbersOfBytes(int bytes) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RdmaBatch.create(1, bytes))
                .withMessage("inlineBytes must be at least 0, not " + bytes);
    }

    @Test
    void refusesNull() {
        RdmaQp none = null;
        for (ThrowingCallable post : List.<ThrowingCallable>of(
                () -> batch.write(none, null, 0, 1, 0, 0, 0, 0),
                () -> batch.write(qp, null, 0, 1, 0, 0, 0, 0),
                () -> batch.writeInline(qp, null, 1, 0, 0, 0, 0),
                () -> batch.writeWithImm(qp, null, 0, 1, 0, 0, 0, 5, 0),
                () -> batch.writeWithImmInline(qp, null, 1, 0, 0, 0, 5, 0),
                () -> batch.read(qp, null, 0, 1, 0, 0, 0, 0),
                () -> batch.send(qp, null, 0, 1, 0, 0),
                () -> batch.sendInline(qp, null, 1, 0, 0),
                () -> batch.sendWithImm(qp, null, 0, 1, 0, 5, 0),
                () -> batch.sendWithImmInline(qp, null, 1, 0, 5, 0),
                () -> batch.compareAndSwap(qp, null, 0, 0, 0, 0, 1, 2, 0),
                () -> batch.fetchAndAdd(qp, null, 0, 0, 0, 0, 1, 0),
                () -> batch.recv(none, null, 0, 1, 0),
                () -> batch.recv(qp, null, 0, 1, 0),
                () -> batch.recv((RdmaSrq) null, null, 0, 1, 0))) {
            assertThatNullPointerException().isThrownBy(post).withMessageEndingWith(" is null");
        }
        assertThat(batch.count()).isZero();
    }

    @Test
    void refusesWhatTheQueuePairIsNotFor() {
        RdmaQp datagrams = qp(Fake.HANDLE, true, false);
        assertThatIllegalStateException()
                .isThrownBy(() -> write(datagrams, 0))
                .withMessage(datagrams.object() + " is for datagrams: see postUdSend()");
        RdmaQp shared = new RdmaQp(null, Fake.object("RdmaId"), false, true, false);
        assertThatIllegalStateException()
                .isThrownBy(() -> batch.recv(shared, null, 0, 1, 0))
                .withMessage(shared.object() + " has a shared receive queue: see RdmaSrq.postRecv()");
        assertThat(batch.count()).isZero();
    }

    @Test
    void postsNothingWhenEmpty() {
        assertThat(batch.post()).isZero();
        assertThat(batch.posted()).isZero();
        assertThat(batch).hasToString("RdmaBatch[0 of 20]");
        for (ThrowingCallable call :
                List.<ThrowingCallable>of(batch::removeFirst, batch::firstContext, batch::signalLast)) {
            assertThatExceptionOfType(NoSuchElementException.class)
                    .isThrownBy(call)
                    .withMessage("the batch is empty");
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 7})
    void keepsTheOrderHoweverItIsFilledAndDropped(int capacity) {
        RdmaBatch some = RdmaBatch.create(capacity, 1);
        long recorded = 0;
        long dropped = 0;
        for (int round = 0; round < 20; round++) {
            while (write(some, qp, data, 0, F_SIGNALED, recorded)) {
                recorded++;
            }
            assertThat(recorded - dropped).isEqualTo(capacity);
            for (int i = 0; i <= round % capacity; i++) {
                assertThatIllegalStateException()
                        .isThrownBy(some::post)
                        .withMessage("ibv_post_send with context " + dropped + ": its id is closed");
                assertThat(some.firstContext()).isEqualTo(dropped);
                assertThat(some.posted()).isZero();
                some.removeFirst();
                dropped++;
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 100})
    void takesAsManyAsItsCapacity(int capacity) {
        RdmaBatch some = RdmaBatch.create(capacity, 1000);
        assertThat(some.capacity()).isEqualTo(capacity);
        for (int i = 0; i < capacity; i++) {
            assertThat(some.count()).isEqualTo(i);
            assertThat(write(some, qp, data, 1, F_SIGNALED, i)).isTrue();
        }
        assertThat(write(some, qp, data, 1, F_SIGNALED, 0)).isFalse();
        assertThat(some.recv(qp, region, 0, 0, 0)).isFalse();
        assertThat(some.count()).isEqualTo(capacity);
        some.removeFirst();
        assertThat(some.count()).isEqualTo(capacity - 1);
        assertThat(some.recv(qp, region, 0, 0, 0)).isTrue();
        assertThat(write(some, qp, data, 1, F_SIGNALED, 0)).isFalse();
        some.clear();
        assertThat(some.count()).isZero();
        assertThat(write(some, qp, data, 1, F_SIGNALED, 0)).isTrue();
    }

    @Test
    void checksArgumentsAlsoWhenFull() {
        RdmaBatch full = RdmaBatch.create(1, 1);
        assertThat(write(full, qp, data, 1, 0, 0)).isTrue();
        assertThat(write(full, qp, data, 1, 0, 0)).isFalse();
        assertThatIllegalArgumentException().isThrownBy(() -> write(full, qp, data, 1, 8, 0));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> write(full, qp, data, MAX_INLINE_DATA + 1, 0, 0))
                .withMessage("65 bytes can't be posted inline: the queue pair takes 64");
    }

    @Test
    void takesAsMuchInlineDataAsItHasRoom() {
        RdmaBatch small = RdmaBatch.create(20, 10);
        assertThat(write(small, qp, data, 6, F_SIGNALED, 1)).isTrue();
        assertThat(write(small, qp, data, 5, F_SIGNALED, 2)).isFalse();
        assertThat(small.count()).isEqualTo(1);
        assertThat(small.sendInline(qp, data, 4, F_SIGNALED, 3)).isTrue();
        assertThat(small.sendInline(qp, data, 1, F_SIGNALED, 4)).isFalse();
        assertThat(small.sendInline(qp, data, 0, F_SIGNALED, 5)).isTrue();
        small.removeFirst();
        assertThat(write(small, qp, data, 1, F_SIGNALED, 6))
                .as("not before the batch is empty")
                .isFalse();
        small.removeFirst();
        small.removeFirst();
        assertThat(write(small, qp, data, 10, F_SIGNALED, 7)).isTrue();
        small.clear();
        assertThat(write(small, qp, data, 10, F_SIGNALED, 8)).isTrue();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> write(RdmaBatch.create(1), qp, data, 1, 0, 9))
                .withMessage("1 bytes exceed the batch's room for 0 bytes of inline data: see create()");
        assertThat(write(RdmaBatch.create(1), qp, data, 0, 0, 9)).isTrue();
    }

    private void assertFull(RdmaQp on) {
        int before = batch.count();
        for (int flags : new int[] {0, F_SIGNALED}) {
            assertThatIllegalStateException()
                    .isThrownBy(() -> write(on, flags))
                    .withMessage("4 operations without F_SIGNALED fill the send queue of " + on.object()
                            + ": see signalLast()");
        }
        assertThat(batch.count()).isEqualTo(before);
    }

    private void fill(RdmaQp on) {
        for (int i = 0; i < MAX_SEND_WR; i++) {
            assertThat(write(on, 0)).isTrue();
        }
    }

    @Test
    void refusesOperationsBehindAQueueThatRemainsFull() {
        fill(qp);
        assertFull(qp);
        batch.signalLast();
        fill(qp);
        assertFull(qp);
        assertThat(batch.recv(qp, region, 0, 0, 0))
                .as("the receive queue has room")
                .isTrue();
        assertFull(qp);
        batch.signalLast();
        fill(qp);
        batch.removeFirst();
        assertThat(write(qp, 0)).as("instead of the removed operation").isTrue();
        batch.clear();
        fill(qp);
    }

    @Test
    void countsTheOperationsOfOneQueuePairInSuccession() {
        RdmaQp other = qp(Fake.HANDLE - 2, false, false);
        fill(qp);
        fill(other);
        assertFull(other);
        write(qp, 0);
        write(qp, F_SIGNALED);
        fill(qp);
        assertFull(qp);
    }

    @Test
    void countsFromTheBeginningOnceTheBatchIsEmpty() {
        fill(qp);
        while (batch.count() > 0) {
            batch.removeFirst();
        }
        fill(qp);
        assertFull(qp);
    }

    @Test
    void takesAnyNumberIfAllAreSignalled() {
        RdmaQp signalled = qp(Fake.HANDLE, false, true);
        for (int i = 0; i < 4 * MAX_SEND_WR; i++) {
            assertThat(write(signalled, 0)).isTrue();
        }
    }

    /** An answer, not a failure: the program sees that the batch is full, and posts it. */
    @Test
    void aFullBatchIsNoFailureEvenIfItFillsTheQueue() {
        RdmaBatch four = RdmaBatch.create(MAX_SEND_WR, 10);
        for (int i = 0; i < MAX_SEND_WR; i++) {
            assertThat(write(four, qp, data, 1, 0, i)).isTrue();
        }
        assertThat(write(four, qp, data, 1, 0, 9)).isFalse();
        four.signalLast();
    }

    /** Failed operations stay in the batch in the order of recording. */
    @Test
    void keepsWhatCanNotBePosted() {
        assertThat(write(batch, qp, data, 1, 0, -3)).isTrue();
        assertThat(batch.recv(qp, region, 0, 0, -2)).isTrue();
        assertThat(batch.send(qp, region, 0, 0, 0, -1)).isTrue();
        List<String> functions = List.of("ibv_post_send", "ibv_post_recv", "ibv_post_send");
        for (int left = 3; left > 0; left--) {
            String function = functions.get(3 - left);
            for (int again = 0; again < 2; again++) {
                assertThatIllegalStateException()
                        .isThrownBy(batch::post)
                        .withMessage(function + " with context " + -left + ": its id is closed");
                assertThat(batch.firstContext()).isEqualTo(-left);
                assertThat(batch.posted()).isZero();
                assertThat(batch.count()).isEqualTo(left);
            }
            batch.removeFirst();
        }
        assertThat(batch.post()).isZero();
    }

    @Test
    void operationsAreThoseOfTheShim() throws IOException {
        String[] names = Arrays.stream(RdmaBatch.Op.values()).map(Enum::name).toArray(String[]::new);
        assertThat(shim().enumeration("op").keySet()).containsExactly(names);
    }

    private static CHeader shim() throws IOException {
        return new CHeader(Path.of("native/rdmacm_batch.c"));
    }

    private static int constant(String name) throws ReflectiveOperationException {
        Field field = RdmaBatch.class.getDeclaredField(name);
        field.setAccessible(true);
        return field.getInt(null);
    }

    @Test
    void sourcesAreThoseOfTheShim() throws Exception {
        Map<String, Integer> sources = shim().enumeration("source");
        assertThat(sources).containsOnlyKeys("REGION", "INLINE");
        for (Map.Entry<String, Integer> source : sources.entrySet()) {
            assertThat(constant(source.getKey())).as(source.getKey()).isEqualTo(source.getValue());
        }
    }

    /** The names of the fields agree with the constants, in the same order. */
    @Test
    void recordsAreThoseOfTheShim() throws Exception {
        Matcher record = Pattern.compile("(?s)struct record \\{(.*?)\\n}")
                .matcher(Files.readString(Path.of("native/rdmacm_batch.c")));
        assertThat(record.find()).isTrue();
        List<String> fields = Pattern.compile("jlong (\\w+);")
                .matcher(record.group(1))
                .results()
                .map(field -> field.group(1).toUpperCase(Locale.ROOT))
                .collect(Collectors.toList());
        assertThat(fields).hasSize(constant("FIELDS"));
        for (int i = 0; i < fields.size(); i++) {
            assertThat(constant(fields.get(i))).as(fields.get(i)).isEqualTo(i);
        }
    }

    /** Concurrent use is forbidden, but must do no harm. */
    @ParameterizedTest
    @CsvSource({"1, 2", "3, 5"})
    void survivesThreadsThatUseItAtOnce(int capacity, int bytes) throws Exception {
        try (Race race = new Race(3)) {
            for (int round = 0; round < 300; round++) {
                RdmaBatch shared = RdmaBatch.create(capacity, bytes);
                race.run(
                        () -> {
                            write(shared, qp, data, 2, F_SIGNALED, 1);
                            shared.send(qp, region, 0, 0, F_SIGNALED, 2);
                            shared.recv(qp, region, 0, 0, 3);
                            assertThat(shared.count()).isBetween(0, capacity);
                            return shared.post() == 0;
                        },
                        shared::clear);
                shared.clear();
                assertThat(shared.post()).isZero();
            }
        }
    }
}
