// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.rdmacm;

import static io.rpma.rdmacm.RdmaQp.F_FENCE;
import static io.rpma.rdmacm.RdmaQp.F_SIGNALED;
import static io.rpma.rdmacm.RdmaQp.F_SOLICITED;
import static io.rpma.testing.RdmaDatagramPair.HEADER;
import static io.rpma.testing.RdmaPair.attr;
import static io.rpma.testing.RdmaPair.get;
import static io.rpma.testing.RdmaPair.getLong;
import static io.rpma.testing.RdmaPair.inline;
import static io.rpma.testing.RdmaPair.put;
import static io.rpma.testing.RdmaPair.putLong;
import static io.rpma.testing.RdmaPair.received;
import static io.rpma.testing.RdmaPair.sent;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaException;
import io.rpma.RpmaMemory;
import io.rpma.RpmaWcOpcode;
import io.rpma.internal.Logged;
import io.rpma.testing.Allocation;
import io.rpma.testing.Blocked;
import io.rpma.testing.RdmaDatagramPair;
import io.rpma.testing.RdmaPair;
import io.rpma.testing.TestDevice;
import java.util.function.ToIntFunction;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Chains of posts in one downcall: their results, and the content of the batch after a post that fails. */
class RdmaBatchIT {
    /** The distance of signalled operations in a long batch: the queue has room for more completions than they have. */
    private static final int STEP = 16;

    private final RdmaBatch batch = RdmaBatch.create(32, 1000);
    private RdmaPair pair;
    private RdmaQp qp;
    private RdmaQp serverQp;
    private RdmaMr local;
    private long remote;
    private int rkey;

    @BeforeAll
    static void findDevice() {
        TestDevice.address();
    }

    @BeforeEach
    void connect() throws InterruptedException {
        pair = RdmaPair.connect();
        qp = pair.client.qp();
        serverQp = pair.server.qp();
        local = pair.clientMr;
        remote = pair.serverMr.address();
        rkey = pair.serverMr.rkey();
        for (int i = 0; i < RdmaPair.SIZE; i += Long.BYTES) {
            putLong(pair.clientMemory, i, i + 1);
        }
    }

    @AfterEach
    void close() {
        pair.close();
    }

    private static void assertRecorded(boolean recorded) {
        assertThat(recorded).as("there is room in the batch").isTrue();
    }

    /** Records a write of 8 bytes, which tell the offset, to the same offset. */
    private void write(RdmaBatch to, int offset, int flags, long context) {
        assertRecorded(to.write(qp, local, offset, 8, flags, remote + offset, rkey, context));
    }

    private void write(long context) {
        write(batch, 0, F_SIGNALED, context);
    }

    private void assertWritten(int from, int to) {
        for (int i = from; i < to; i += Long.BYTES) {
            assertThat(getLong(pair.serverMemory, i)).as("at %d", i).isEqualTo(i + 1);
        }
    }

    private void assertPosted(int count) {
        assertThat(batch.post()).isEqualTo(count);
        assertThat(batch.posted()).isEqualTo(count);
        assertThat(batch.count()).isZero();
    }

    @Test
    void writesAndReads() throws InterruptedException {
        put(pair.clientMemory, 0, "region");
        put(pair.serverMemory, 1000, "remote bytes");
        RdmaInlineData data = inline("inline");
        assertRecorded(batch.write(qp, local, 0, 6, F_SIGNALED, remote, rkey, 1));
        assertRecorded(batch.writeInline(qp, data, 6, F_SIGNALED, remote + 20, rkey, -3));
        assertRecorded(batch.read(qp, local, 300, 6, F_SIGNALED, remote + 1000, rkey, 4));
        assertThat(batch.count()).isEqualTo(3);
        // the batch has copied the data
        data.buffer().put(new byte[6]);
        assertPosted(3);

        assertThat(sent(qp, 1).opcode(0)).isSameAs(RpmaWcOpcode.RDMA_WRITE);
        sent(qp, -3);
        assertThat(sent(qp, 4).opcode(0)).isSameAs(RpmaWcOpcode.RDMA_READ);
        assertThat(get(pair.serverMemory, 0, 6)).isEqualTo("region");
        assertThat(get(pair.serverMemory, 20, 6)).isEqualTo("inline");
        assertThat(get(pair.clientMemory, 300, 6)).isEqualTo("remote");
    }

    @Tag("immediate-data")
    @Test
    void messages() throws InterruptedException {
        put(pair.clientMemory, 0, "region");
        assertRecorded(batch.recv(serverQp, pair.serverMr, 0, 10, 11));
        for (int i = 12; i <= 16; i++) {
            assertRecorded(batch.recv(serverQp, pair.serverMr, 100 * i, 10, i));
        }
        assertRecorded(batch.send(qp, local, 0, 6, F_SIGNALED, 1));
        assertRecorded(batch.sendInline(qp, inline("inline"), 6, F_SIGNALED, 2));
        assertRecorded(batch.sendWithImm(qp, local, 0, 5, F_SIGNALED, Integer.MIN_VALUE, 3));
        assertRecorded(batch.sendWithImmInline(qp, inline("imm"), 3, F_SIGNALED, -1, 4));
        assertRecorded(batch.writeWithImm(qp, local, 0, 6, F_SIGNALED, remote + 3000, rkey, 0, 5));
        assertRecorded(batch.writeWithImmInline(qp, inline("write"), 5, F_SIGNALED, remote + 3010, rkey, 0x1234567, 6));
        assertPosted(12);

        for (int i = 1; i <= 6; i++) {
            sent(qp, i);
        }
        assertThat(received(serverQp, 11).hasImmData(0)).isFalse();
        assertThat(received(serverQp, 12).byteLen(0)).isEqualTo(6);
        assertImmediate(received(serverQp, 13), RpmaWcOpcode.RECV, Integer.MIN_VALUE);
        assertImmediate(received(serverQp, 14), RpmaWcOpcode.RECV, -1);
        assertImmediate(received(serverQp, 15), RpmaWcOpcode.RECV_RDMA_WITH_IMM, 0);
        assertImmediate(received(serverQp, 16), RpmaWcOpcode.RECV_RDMA_WITH_IMM, 0x1234567);
        assertThat(get(pair.serverMemory, 0, 6)).isEqualTo("region");
        assertThat(get(pair.serverMemory, 1200, 6)).isEqualTo("inline");
        assertThat(get(pair.serverMemory, 1300, 5)).isEqualTo("regio");
        assertThat(get(pair.serverMemory, 1400, 3)).isEqualTo("imm");
        assertThat(get(pair.serverMemory, 3000, 15)).isEqualTo("region\0\0\0\0write");
    }

    private static void assertImmediate(RpmaCompletions received, RpmaWcOpcode opcode, int imm) {
        assertThat(received.opcode(0)).isSameAs(opcode);
        assertThat(received.hasImmData(0)).isTrue();
        assertThat(received.immData(0)).isEqualTo(imm);
    }

    @Tag("atomics")
    @Test
    void atomics() throws InterruptedException {
        putLong(pair.serverMemory, 8, 40);
        assertRecorded(batch.fetchAndAdd(qp, local, 0, F_SIGNALED, remote + 8, rkey, -2, 1));
        assertRecorded(
                batch.compareAndSwap(qp, local, 16, F_SIGNALED | F_FENCE, remote + 8, rkey, 38, Long.MIN_VALUE, 2));
        assertRecorded(batch.compareAndSwap(qp, local, 24, F_SIGNALED, remote + 8, rkey, 38, 1, 3));
        assertPosted(3);
        assertThat(sent(qp, 1).opcode(0)).isSameAs(RpmaWcOpcode.FETCH_ADD);
        assertThat(sent(qp, 2).opcode(0)).isSameAs(RpmaWcOpcode.COMP_SWAP);
        sent(qp, 3);
        assertThat(getLong(pair.clientMemory, 0)).isEqualTo(40);
        assertThat(getLong(pair.clientMemory, 16)).isEqualTo(38);
        assertThat(getLong(pair.clientMemory, 24)).isEqualTo(Long.MIN_VALUE);
        assertThat(getLong(pair.serverMemory, 8)).isEqualTo(Long.MIN_VALUE);
    }

    /** One batch takes each post after each other post, so that no field of an old record has an effect. */
    @Tag("immediate-data")
    @ParameterizedTest
    @MethodSource("io.rpma.rdmacm.RdmaPost#recorded")
    void everyPostBehindEveryOther(RdmaPost first) throws InterruptedException {
        for (RdmaPost second : RdmaPost.recorded().toList()) {
            RdmaPost.Arguments arguments = new RdmaPost.Arguments(pair);
            for (RdmaPost post : new RdmaPost[] {first, second}) {
                serverQp.postRecv(pair.serverMr, 0, 8, 1);
                assertRecorded(post.record(batch, arguments));
                assertPosted(1);
                if (post.isReceive()) {
                    serverQp.postSend(pair.serverMr, 0, 8, F_SIGNALED, 2);
                    sent(serverQp, 2);
                    received(qp, 1);
                } else {
                    sent(qp, 1);
                }
                if (!post.isMessage()) {
                    qp.postSend(local, 0, 8, F_SIGNALED, 3);
                    sent(qp, 3);
                }
                received(serverQp, 1);
            }
        }
    }

    @Tag("solicited-events")
    @Test
    void aSolicitedMessage() throws Exception {
        RpmaCompletions completions = RpmaCompletions.create(4);
        serverQp.postRecv(pair.serverMr, 0, 8, 1);
        serverQp.postRecv(pair.serverMr, 0, 8, 2);
        Blocked waiter = new Blocked(() -> serverQp.getSolicitedRecvComp(completions));
        assertRecorded(batch.sendInline(qp, inline("x"), 1, F_SIGNALED, 3));
        assertPosted(1);
        sent(qp, 3);
        assertRecorded(batch.sendInline(qp, inline("x"), 1, F_SOLICITED, 4));
        assertPosted(1);
        // if the first message had ended the wait, there would be one completion
        assertThat(waiter.result()).isEqualTo(2);
    }

    @Test
    void severalQueuePairsAndASharedReceiveQueue() throws InterruptedException {
        try (RdmaId owner = RdmaId.create(RdmaPortSpace.TCP);
                RpmaMemory memory = RpmaMemory.allocate(4096)) {
            owner.bindAddr(RdmaPair.address(0));
            RdmaSrq srq = owner.createSrq(8, 2);
            try (RdmaPair other = RdmaPair.connect(attr(), attr().srq(srq));
                    RdmaMr region = RdmaMr.regMsgs(owner, memory)) {
                RdmaQp otherQp = other.client.qp();
                assertThatIllegalStateException().isThrownBy(() -> batch.recv(other.server.qp(), region, 0, 64, 1));
                assertRecorded(batch.recv(srq, region, 0, 64, 21));
                assertRecorded(batch.recv(srq, region, 100, 64, 22));
                for (int i = 1; i <= 4; i++) {
                    write(batch, 8 * i, F_SIGNALED, i);
                    assertRecorded(batch.writeInline(
                            otherQp,
                            inline("other"),
                            5,
                            F_SIGNALED,
                            other.serverMr.address() + 8 * i,
                            other.serverMr.rkey(),
                            10 + i));
                }
                assertRecorded(batch.sendInline(otherQp, inline("first"), 5, F_SIGNALED, 15));
                assertRecorded(batch.sendInline(otherQp, inline("second"), 6, F_SIGNALED, 16));
                assertRecorded(batch.recv(qp, local, 0, 8, 31));
                assertRecorded(batch.sendInline(serverQp, inline("back"), 4, F_SIGNALED, 17));
                assertPosted(14);
                for (int i = 1; i <= 4; i++) {
                    sent(qp, i);
                    sent(otherQp, 10 + i);
                    assertThat(get(other.serverMemory, 8 * i, 5)).isEqualTo("other");
                }
                sent(otherQp, 15);
                sent(otherQp, 16);
                sent(serverQp, 17);
                received(qp, 31);
                received(other.server.qp(), 21);
                received(other.server.qp(), 22);
                assertWritten(8, 40);
                assertThat(get(pair.clientMemory, 0, 4)).isEqualTo("back");
                assertThat(get(memory, 0, 5)).isEqualTo("first");
                assertThat(get(memory, 100, 6)).isEqualTo("second");
            }
        }
    }

    @Tag("datagrams")
    @Test
    void receivesOfDatagrams() throws InterruptedException {
        try (RdmaDatagramPair ends = RdmaDatagramPair.connect();
                RpmaMemory memory = RpmaMemory.allocate(4096);
                RdmaMr to = RdmaMr.regMsgs(ends.server, memory);
                RdmaAh there = ends.client.createAh(ends.established)) {
            RdmaQp client = ends.client.qp();
            RdmaQp server = ends.server.qp();
            for (int i = 0; i < 2; i++) {
                assertRecorded(batch.recv(server, to, 1000 * i, HEADER + 10, i));
            }
            assertPosted(2);
            for (int i = 0; i < 2; i++) {
                client.postUdSendInline(inline("text" + i), 5, F_SIGNALED, there, ends.established.qpNum(), i);
                sent(client, i);
                assertThat(received(server, i).byteLen(0)).isEqualTo(HEADER + 5);
                assertThat(get(memory, 1000 * i + HEADER, 5)).isEqualTo("text" + i);
            }
            assertThatIllegalStateException()
                    .isThrownBy(() -> batch.sendInline(client, inline("text"), 4, 0, 1))
                    .withMessage(client.object() + " is for datagrams: see postUdSend()");
        }
    }

    @Test
    void oneCompletionStandsForAll() throws InterruptedException {
        for (int i = 0; i < 15; i++) {
            write(batch, 8 * i, 0, i);
        }
        write(batch, 120, 0, 15);
        batch.signalLast();
        batch.signalLast();
        assertPosted(16);
        sent(qp, 15);
        assertWritten(0, 128);
        assertThat(qp.pollSendComp(RpmaCompletions.create(1))).isZero();
    }

    @Test
    void theFlagsBelongToTheirOperation() throws InterruptedException {
        write(batch, 0, 0, 1);
        write(batch, 8, F_SIGNALED, 2);
        write(batch, 16, 0, 3);
        write(batch, 24, F_SIGNALED, 4);
        assertPosted(4);
        sent(qp, 2);
        sent(qp, 4);
        assertThat(qp.pollSendComp(RpmaCompletions.create(1))).isZero();
    }

    /** The batch has more posts than one mark covers, and more than one chain has. */
    @ParameterizedTest
    @ValueSource(ints = {63, 64, 65, 128, 200})
    void aLargeBatchInAQueueThatTakesIt(int many) throws InterruptedException {
        try (RdmaPair large = RdmaPair.connect(attr().maxSendWr(200), attr())) {
            RdmaBatch all = RdmaBatch.create(many);
            for (int i = 0; i < many; i++) {
                putLong(large.clientMemory, 8 * i, i + 1);
                assertRecorded(all.write(
                        large.client.qp(),
                        large.clientMr,
                        8 * i,
                        8,
                        0,
                        large.serverMr.address() + 8 * i,
                        large.serverMr.rkey(),
                        i));
            }
            all.signalLast();
            assertThat(all.post()).isEqualTo(many);
            sent(large.client.qp(), many - 1);
            for (int i = 0; i < many; i++) {
                assertThat(getLong(large.serverMemory, 8 * i)).isEqualTo(i + 1);
            }
        }
    }

    private static boolean isSignaled(int context) {
        return context % STEP == STEP - 1;
    }

    /** Records a message, which blocks the send queue until the other side posts a receive, and writes behind it. */
    private RdmaBatch recordBehindAMessage(int many) {
        RdmaBatch all = RdmaBatch.create(many);
        assertRecorded(all.send(qp, local, 0, 8, 0, 0));
        for (int i = 1; i < many; i++) {
            write(all, 8 * i, isSignaled(i) ? F_SIGNALED : 0, i);
        }
        return all;
    }

    @Tag("full-queues")
    @Test
    void aFullQueueIsAnAnswer() throws InterruptedException {
        int many = 15 * STEP;
        RdmaBatch all = recordBehindAMessage(many);
        try (Logged log = new Logged()) {
            assertThat(all.write(qp, local, 0, 8, 0, remote, rkey, many)).isFalse();
            int posted = all.post();
            assertThat(posted).isBetween(qp.maxSendWr(), many - 1);
            assertThat(all.posted()).isEqualTo(posted);
            assertThat(all.count()).isEqualTo(many - posted);
            assertThat(all.firstContext()).isEqualTo(posted);
            assertThat(all.post()).isZero();
            assertThat(all.posted()).isZero();
            assertThat(all.count()).isEqualTo(many - posted);
            serverQp.postRecv(pair.serverMr, 0, 8, 1);
            for (int i = STEP - 1; i < many; i += STEP) {
                sent(qp, i);
                posted += all.post();
            }
            assertThat(posted).isEqualTo(many);
            assertThat(all.count()).isZero();
            assertWritten(8, 8 * many);
            assertThat(log.messages()).isEmpty();
        }
    }

    @Tag("full-queues")
    @Test
    void theLastOperationIsSignalledAfterAPartialPost() throws InterruptedException {
        int many = 15 * STEP - 4;
        RdmaBatch all = recordBehindAMessage(many);
        int posted = all.post();
        assertThat(posted).isLessThan(many);
        all.signalLast();
        serverQp.postRecv(pair.serverMr, 0, 8, 1);
        for (int i = STEP - 1; i < many; i += STEP) {
            sent(qp, i);
            posted += all.post();
        }
        assertThat(posted).isEqualTo(many);
        sent(qp, many - 1);
        assertWritten(8, 8 * many);
    }

    /** Refills the batch before it is empty. Its capacity is prime, so that each slot becomes the first. */
    @Test
    void aBatchThatIsFilledUpAgainKeepsItsOrder() throws InterruptedException {
        int many = 1000;
        RdmaBatch some = RdmaBatch.create(101);
        int recorded = 0;
        int posted = 0;
        for (int done = 0; posted < many; ) {
            while (recorded < many
                    && some.write(
                            qp,
                            local,
                            8L * (recorded % 512),
                            8,
                            isSignaled(recorded) ? F_SIGNALED : 0,
                            remote,
                            rkey,
                            recorded)) {
                recorded++;
            }
            assertThat(some.firstContext()).isEqualTo(posted);
            posted += some.post();
            for (; done < posted; done++) {
                if (isSignaled(done)) {
                    sent(qp, done);
                }
            }
        }
        assertThat(some.count()).isZero();
        qp.postSendInline(inline("x"), 1, F_SIGNALED, many);
        serverQp.postRecv(pair.serverMr, 8, 8, 1);
        sent(qp, many);
        assertThat(getLong(pair.serverMemory, 0)).isEqualTo(8 * ((many - 1) % 512) + 1);
    }

    /** The order holds across queues too. A receive occupies its queue until a message arrives. */
    @Test
    void aFullQueueHoldsUpWhatIsRecordedAfter() throws InterruptedException {
        int filled = 0;
        while (serverQp.postRecv(pair.serverMr, 0, 8, filled)) {
            filled++;
        }
        write(1);
        assertRecorded(batch.recv(serverQp, pair.serverMr, 0, 8, filled));
        write(2);
        assertThat(batch.post()).isEqualTo(1);
        assertThat(batch.count()).isEqualTo(2);
        assertThat(batch.firstContext()).isEqualTo(filled);
        sent(qp, 1);
        assertThat(batch.post()).as("without a message there is no room").isZero();
        qp.postSendInline(inline("x"), 1, F_SIGNALED, 3);
        sent(qp, 3);
        received(serverQp, 0);
        assertPosted(2);
        sent(qp, 2);
    }

    /** A chain of receives is longer than the room in their queue. */
    @Test
    void aQueueThatBecomesFullInAChainOfReceives() throws InterruptedException {
        int many = 10_000;
        RdmaBatch receives = RdmaBatch.create(many);
        for (int i = 0; i < many; i++) {
            assertRecorded(receives.recv(serverQp, pair.serverMr, 8 * (i % 512), 8, i));
        }
        int posted = receives.post();
        assertThat(posted).isBetween(serverQp.maxRecvWr(), many - 1);
        assertThat(receives.firstContext()).isEqualTo(posted);
        for (int i = 0; i < 3; i++) {
            qp.postSend(local, 8 * i, 8, F_SIGNALED, i);
            sent(qp, i);
            received(serverQp, i);
            assertThat(receives.post()).isEqualTo(1);
        }
        assertWritten(0, 24);
        assertThat(receives.firstContext()).isEqualTo(posted + 3);
    }

    /** Expects that the second of the three recorded operations can't be posted, and that writes surround it. */
    private <T extends RuntimeException> T assertStopsInTheMiddle(Class<T> type) throws InterruptedException {
        T failure = catchThrowableOfType(type, batch::post);
        assertThat(failure).isNotNull();
        assertThat(batch.posted()).isEqualTo(1);
        assertThat(batch.count()).isEqualTo(2);
        assertThat(batch.firstContext()).isEqualTo(2);
        sent(qp, 1);
        assertThat(catchThrowableOfType(type, batch::post)).hasMessage(failure.getMessage());
        assertThat(batch.posted()).isZero();
        assertThat(batch.count()).isEqualTo(2);
        batch.removeFirst();
        assertPosted(1);
        sent(qp, 3);
        return failure;
    }

    private void assertClosedInTheMiddle(String message) throws InterruptedException {
        assertThat(assertStopsInTheMiddle(IllegalStateException.class)).hasMessage(message);
    }

    private RdmaMr closedRegion() {
        try (RpmaMemory memory = RpmaMemory.allocate(64);
                RdmaMr region = RdmaMr.regMsgs(pair.client, memory)) {
            return region;
        }
    }

    /** The three operations are of one chain. */
    @Test
    void aRegionThatIsClosed() throws InterruptedException {
        write(1);
        assertRecorded(batch.read(qp, closedRegion(), 0, 8, F_SIGNALED, remote, rkey, 2));
        write(3);
        assertClosedInTheMiddle("ibv_post_send with context 2: its region is closed");
    }

    @Test
    void aRegionOfAReceiveThatIsClosed() throws InterruptedException {
        write(1);
        assertRecorded(batch.recv(serverQp, closedRegion(), 0, 8, 2));
        write(3);
        assertClosedInTheMiddle("ibv_post_recv with context 2: its region is closed");
    }

    /** The receives are of one chain. */
    @Test
    void aRegionOfOneOfManyReceivesThatIsClosed() {
        assertRecorded(batch.recv(serverQp, pair.serverMr, 0, 8, 1));
        assertRecorded(batch.recv(serverQp, closedRegion(), 0, 8, 2));
        assertRecorded(batch.recv(serverQp, pair.serverMr, 0, 8, 3));
        assertThatIllegalStateException()
                .isThrownBy(batch::post)
                .withMessage("ibv_post_recv with context 2: its region is closed");
        assertThat(batch.posted()).isEqualTo(1);
        batch.removeFirst();
        assertPosted(1);
    }

    @Test
    void anIdThatIsClosed() throws InterruptedException {
        RdmaPair other = RdmaPair.connect();
        RdmaQp closed = other.client.qp();
        other.close();
        write(1);
        assertRecorded(batch.writeInline(closed, inline("x"), 1, F_SIGNALED, remote, rkey, 2));
        write(3);
        assertClosedInTheMiddle("ibv_post_send with context 2: its id is closed");
        write(1);
        assertRecorded(batch.recv(closed, pair.serverMr, 0, 8, 2));
        write(3);
        assertClosedInTheMiddle("ibv_post_recv with context 2: its id is closed");
    }

    @Test
    void theOwnerOfASharedReceiveQueueThatIsClosed() throws InterruptedException {
        RdmaId owner = RdmaId.create(RdmaPortSpace.TCP);
        owner.bindAddr(RdmaPair.address(0));
        RdmaSrq closed = owner.createSrq(1, 1);
        owner.close();
        write(1);
        assertRecorded(batch.recv(closed, local, 0, 8, 2));
        write(3);
        assertClosedInTheMiddle("ibv_post_recv with context 2: its id is closed");
    }

    @Test
    void anIdThatIsNotConnected() throws InterruptedException {
        try (RdmaId early = RdmaPair.prepared(TestDevice.port())) {
            write(1);
            assertRecorded(batch.writeInline(early.qp(), inline("x"), 1, F_SIGNALED, remote, rkey, 2));
            write(3);
            RpmaException failure = assertStopsInTheMiddle(RpmaException.class);
            assertThat(failure.errnoName()).isEqualTo("ENOTCONN");
            assertThat(failure.operation()).isEqualTo("ibv_post_send");
            // an id without a connection takes receives
            assertRecorded(batch.recv(early.qp(), local, 0, 8, 1));
            assertPosted(1);
        }
    }

    @Test
    void whatIsDroppedIsNotPosted() throws InterruptedException {
        for (int i = 1; i <= 4; i++) {
            write(i);
        }
        batch.removeFirst();
        batch.removeFirst();
        assertPosted(2);
        sent(qp, 3);
        sent(qp, 4);
        write(5);
        batch.clear();
        write(6);
        assertPosted(1);
        sent(qp, 6);
    }

    @Test
    void canBeUsedAgainAndAgain() throws InterruptedException {
        RdmaBatch one = RdmaBatch.create(1);
        for (int i = 0; i < 100; i++) {
            write(one, 0, F_SIGNALED, i);
            assertThat(one.read(qp, local, 0, 8, 0, remote, rkey, -1)).isFalse();
            assertThat(one.post()).isEqualTo(1);
            sent(qp, i);
            int more = 1 + i % 8;
            for (int j = 0; j < more; j++) {
                write(batch, 8 * j, 0, j);
            }
            batch.signalLast();
            assertPosted(more);
            sent(qp, more - 1);
        }
    }

    @Test
    void outlivesItsConnections() throws InterruptedException {
        write(1);
        pair.close();
        assertThatIllegalStateException().isThrownBy(batch::post);
        batch.clear();
        connect();
        write(2);
        assertPosted(1);
        sent(qp, 2);
    }

    @Tag("atomics")
    @Test
    void nothingIsAllocatedByARecordOrPost() {
        RdmaPost[] operations =
                RdmaPost.recorded().filter(post -> !post.isReceive()).toArray(RdmaPost[]::new);
        int messages = (int) Stream.of(operations).filter(RdmaPost::isMessage).count();
        RdmaPost.Arguments client = new RdmaPost.Arguments(pair);
        RpmaCompletions completions = RpmaCompletions.create(16);
        ToIntFunction<RpmaCompletions> sendQueue = qp::pollSendComp;
        ToIntFunction<RpmaCompletions> recvQueue = serverQp::pollRecvComp;
        Allocation.assertNone(() -> {
            int recorded = 0;
            for (int i = 0; i < messages; i++) {
                recorded += batch.recv(serverQp, pair.serverMr, 0, 8, 1) ? 1 : 0;
            }
            for (RdmaPost operation : operations) {
                recorded += operation.record(batch, client) ? 1 : 0;
            }
            batch.signalLast();
            if (batch.post() != recorded || recorded != messages + operations.length) {
                throw new AssertionError("the batch or a queue is full");
            }
            RdmaPair.take(operations.length, sendQueue, completions);
            RdmaPair.take(messages, recvQueue, completions);
        });
    }
}
