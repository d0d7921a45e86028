// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.rdmacm;

import static io.rpma.rdmacm.RdmaQp.F_SIGNALED;
import static io.rpma.testing.RdmaPair.SIZE;
import static io.rpma.testing.RdmaPair.inline;
import static io.rpma.testing.RdmaPair.received;
import static io.rpma.testing.RdmaPair.sent;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaMemory;
import io.rpma.testing.RdmaPair;
import io.rpma.testing.TestDevice;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Every bad argument of every post is refused with the exact exception, and nothing is posted. */
class RdmaPostArgumentsIT {
    private static final long MOST = TestDevice.maxMessage();

    static RdmaPair pair;

    @BeforeAll
    static void connect() throws InterruptedException {
        TestDevice.address();
        // with sigAll, each operation has a completion
        pair = RdmaPair.connect(RdmaPair.attr().sigAll(true), RdmaPair.attr().sigAll(true));
    }

    /** A refused post that was made all the same would complete before the operations here. */
    @AfterAll
    static void nothingWasPosted() throws InterruptedException {
        if (pair == null) {
            return;
        }
        try (RdmaPair all = pair) {
            RdmaQp client = all.client.qp();
            RdmaQp server = all.server.qp();
            client.postWrite(all.clientMr, 0, SIZE, F_SIGNALED, all.serverMr.address(), all.serverMr.rkey(), 4711);
            sent(client, 4711);
            client.postRecv(all.clientMr, 0, 8, 4712);
            server.postSendInline(inline("x"), 1, F_SIGNALED, 4713);
            sent(server, 4713);
            received(client, 4712);
            assertThat(server.pollRecvComp(RpmaCompletions.create(1))).isZero();
        }
    }

    static RdmaPost.Arguments with(Consumer<RdmaPost.Arguments> change) {
        RdmaPost.Arguments arguments = new RdmaPost.Arguments(pair);
        change.accept(arguments);
        return arguments;
    }

    /** Makes a post, and returns whether there was room in the queue. */
    boolean call(RdmaPost post, RdmaPost.Arguments arguments) {
        return post.post(arguments);
    }

    /** Returns what the exception says about a closed object. */
    String closed(RdmaPost post, Object object, String role) {
        return object + " is closed";
    }

    private static Stream<RdmaPost> operations() {
        return RdmaPost.operations();
    }

    private static Stream<RdmaPost> ofOneRegion() {
        return Arrays.stream(RdmaPost.values()).filter(RdmaPost::usesOneRegion);
    }

    private static Stream<RdmaPost> ofAnyLength() {
        return of(RdmaPost.Local.REGION);
    }

    private static Stream<RdmaPost> ofParts() {
        return of(RdmaPost.Local.PARTS);
    }

    private static Stream<RdmaPost> inlined() {
        return of(RdmaPost.Local.INLINE);
    }

    private static Stream<RdmaPost> atomics() {
        return of(RdmaPost.Local.WORD);
    }

    private static Stream<RdmaPost> of(RdmaPost.Local local) {
        return Arrays.stream(RdmaPost.values()).filter(post -> post.local == local);
    }

    private static Stream<RdmaPost> writingLocally() {
        return Arrays.stream(RdmaPost.values()).filter(RdmaPost::writesLocally);
    }

    @Test
    void everyPostIsTested() {
        Stream<String> ofConnections = Arrays.stream(RdmaQp.class.getMethods())
                .map(Method::getName)
                .filter(name -> name.startsWith("post") && !name.startsWith("postUd"))
                .map(name -> name.toLowerCase(Locale.ROOT));
        assertThat(ofConnections)
                .containsExactlyInAnyOrderElementsOf(
                        Arrays.stream(RdmaPost.values()).map(RdmaPost::method).toList());
    }

    @Tag("immediate-data")
    @ParameterizedTest
    @EnumSource
    void takesGoodArguments(RdmaPost post) throws InterruptedException {
        try (RdmaPair other = RdmaPair.connect()) {
            assertThat(call(post, new RdmaPost.Arguments(other))).isTrue();
        }
    }

    @ParameterizedTest
    @EnumSource
    void refusesNull(RdmaPost post) {
        assertThatNullPointerException()
                .isThrownBy(() -> call(post, with(a -> {
                    a.region = null;
                    a.parts = null;
                    a.data = null;
                })))
                .withMessageContaining("is null");
    }

    @ParameterizedTest
    @MethodSource("operations")
    void refusesUnknownFlags(RdmaPost post) {
        for (int flags : new int[] {8, 16, F_SIGNALED | 8, -1, Integer.MIN_VALUE}) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> call(post, with(a -> a.flags = flags)))
                    .withMessage("flags must be of F_SIGNALED, F_FENCE and F_SOLICITED, not " + flags);
        }
    }

    private void assertOutOfBounds(RdmaPost post, long offset, long length) {
        assertThatExceptionOfType(IndexOutOfBoundsException.class)
                .isThrownBy(() -> call(post, with(a -> {
                    a.offset = offset;
                    a.length = length;
                })))
                .withMessage("bytes " + offset + " to " + offset + " + " + length + " of the local region, which has "
                        + SIZE + " bytes");
    }

    @ParameterizedTest
    @MethodSource("ofOneRegion")
    void refusesOffsetsOutOfBounds(RdmaPost post) {
        for (long offset : new long[] {-1, SIZE - 7, SIZE, Long.MAX_VALUE, Long.MAX_VALUE - 7, Long.MIN_VALUE}) {
            assertOutOfBounds(post, offset, 8);
        }
    }

    @ParameterizedTest
    @MethodSource("ofAnyLength")
    void refusesLengthsOutOfBounds(RdmaPost post) {
        for (long length : new long[] {-1, SIZE + 1, MOST, Integer.MIN_VALUE, Long.MIN_VALUE}) {
            assertOutOfBounds(post, 0, length);
        }
        assertOutOfBounds(post, 1, SIZE);
        assertOutOfBounds(post, SIZE, 1);
        for (long length : new long[] {MOST + 1, (1L << 32) + 5, Long.MAX_VALUE}) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> call(post, with(a -> a.length = length)))
                    .withMessage(TestDevice.tooLong(length));
        }
    }

    @ParameterizedTest
    @MethodSource("inlined")
    void refusesMoreThanTheInlineDataHas(RdmaPost post) {
        for (int length : new int[] {-1, 9, Integer.MAX_VALUE, Integer.MIN_VALUE}) {
            assertThatExceptionOfType(IndexOutOfBoundsException.class)
                    .isThrownBy(() -> call(post, with(a -> a.length = length)))
                    .withMessage(length + " of 8 bytes");
        }
    }

    @ParameterizedTest
    @MethodSource("inlined")
    void refusesMoreInlineDataThanGranted(RdmaPost post) {
        int most = pair.client.qp().maxInlineData();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> call(post, with(a -> {
                    a.data = RdmaInlineData.create(most + 1);
                    a.length = most + 1;
                })))
                .withMessage((most + 1) + " bytes can't be posted inline: the queue pair takes " + most);
    }

    @Tag("read-parts")
    @ParameterizedTest
    @MethodSource("ofParts")
    void refusesMorePartsThanGranted(RdmaPost post) {
        int most = post.maxParts(pair.client.qp());
        assertThat(most).isLessThan(RdmaSgeList.MAX_CAPACITY);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> call(post, with(a -> {
                    for (int i = 0; i < most; i++) {
                        a.parts.add(pair.clientMr, 8 * i, 8);
                    }
                })))
                .withMessage(
                        "the list has " + (most + 1) + " parts, and the queue takes " + most + " in one operation");
    }

    @Test
    void refusesMorePartsThanTheListTakes() {
        RdmaSgeList full = RdmaSgeList.create(1).add(pair.clientMr, 0, 1);
        assertThatIllegalStateException()
                .isThrownBy(() -> full.add(pair.clientMr, 0, 1))
                .withMessage("the list has 1 parts and takes no more");
        assertThat(full.count()).isEqualTo(1);
        assertThat(full.length()).isEqualTo(1);
    }

    @Test
    void refusesPartsOutsideOfTheRegion() {
        RdmaSgeList list = RdmaSgeList.create(1);
        for (long[] range : new long[][] {{-1, 1}, {0, SIZE + 1}, {SIZE, 1}, {Long.MAX_VALUE, 1}, {0, -1}, {1, SIZE}}) {
            assertThatExceptionOfType(IndexOutOfBoundsException.class)
                    .isThrownBy(() -> list.add(pair.clientMr, range[0], range[1]))
                    .withMessageStartingWith("bytes " + range[0] + " to ");
        }
        assertThat(list.count()).isZero();
    }

    @Test
    void refusesPartsOfMoreThanAnOperationTransfers() {
        long part = MOST / 32;
        try (RpmaMemory memory = RpmaMemory.allocate(part);
                RdmaMr region = RdmaMr.regMsgs(pair.client, memory)) {
            RdmaSgeList list = RdmaSgeList.create(RdmaSgeList.MAX_CAPACITY);
            for (int i = 0; i < 32; i++) {
                list.add(region, 0, part);
            }
            list.add(region, 0, MOST - list.length());
            assertThat(list.length()).isEqualTo(MOST);
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> list.add(region, 0, 1))
                    .withMessage(TestDevice.tooLong(MOST + 1));
            assertThat(list.add(region, 0, 0).count()).isEqualTo(34);
        }
    }

    @Tag("read-parts")
    @ParameterizedTest
    @MethodSource("writingLocally")
    void refusesMemoryThatMustNotBeWritten(RdmaPost post) {
        try (RpmaMemory memory = RpmaMemory.allocate(64);
                RdmaMr source = RdmaMr.reg(pair.client, memory)) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> call(post, with(a -> {
                        a.region = source;
                        a.parts.add(source, 0, 8);
                    })))
                    .withMessage(source.object() + " is not registered for LOCAL_WRITE");
        }
    }

    @ParameterizedTest
    @MethodSource("atomics")
    void refusesAddressesThatAreNotAligned(RdmaPost post) {
        for (long offset : new long[] {1, 4, 7, -1}) {
            long address = pair.serverMr.address() + offset;
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> call(post, with(a -> a.remote = address)))
                    .withMessage("the address of an atomic is a multiple of 8, not 0x" + Long.toHexString(address));
        }
    }

    @ParameterizedTest
    @MethodSource("ofOneRegion")
    void refusesAClosedRegion(RdmaPost post) {
        RdmaMr closed = closedRegion();
        assertThatIllegalStateException()
                .isThrownBy(() -> call(post, with(a -> a.region = closed)))
                .withMessageEndingWith(": " + closed(post, closed.object(), "region"));
    }

    private static RdmaMr closedRegion() {
        try (RpmaMemory memory = RpmaMemory.allocate(64);
                RdmaMr region = RdmaMr.regMsgs(pair.client, memory)) {
            return region;
        }
    }

    @Tag("read-parts")
    @ParameterizedTest
    @MethodSource("ofParts")
    void refusesAPartOfAClosedRegion(RdmaPost post) {
        RdmaMr closed = closedRegion();
        assertThatIllegalStateException()
                .isThrownBy(() -> call(post, with(a -> a.parts.add(closed, 0, 8))))
                .withMessageEndingWith(": an object of the call is closed");
    }

    @ParameterizedTest
    @EnumSource
    void refusesAClosedId(RdmaPost post) throws InterruptedException {
        RdmaPair other = RdmaPair.connect();
        RdmaQp closed = other.client.qp();
        other.close();
        assertThatIllegalStateException()
                .isThrownBy(() -> call(post, with(a -> a.qp = closed)))
                .withMessageEndingWith(": " + closed(post, closed.object(), "id"));
    }

    @Test
    void refusesDatagrams() {
        RdmaQp qp = pair.client.qp();
        RdmaMr region = pair.clientMr;
        RdmaInlineData data = inline("x");
        for (ThrowingCallable post : List.<ThrowingCallable>of(
                () -> qp.postUdSend(region, 0, 1, 0, null, 1, 1),
                () -> qp.postUdSend(region, 0, 1, 0, null, 1, 2, 1),
                () -> qp.postUdSendInline(data, 1, 0, null, 1, 1),
                () -> qp.postUdSendInline(data, 1, 0, null, 1, 2, 1),
                () -> qp.postUdSendWithImm(region, 0, 1, 0, null, 1, 2, 3, 1),
                () -> qp.postUdSendWithImmInline(data, 1, 0, null, 1, 2, 3, 1))) {
            assertThatIllegalStateException()
                    .isThrownBy(post)
                    .withMessage(qp.object() + " is for connections: see postSend()");
        }
    }
}
