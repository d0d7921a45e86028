// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.rdmacm;

import static io.rpma.rdmacm.RdmaQp.F_SIGNALED;
import static io.rpma.testing.Failures.assertFails;
import static io.rpma.testing.RdmaPair.attr;
import static io.rpma.testing.RdmaPair.received;
import static io.rpma.testing.RdmaPair.sent;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaWcOpcode;
import io.rpma.testing.RdmaPair;
import io.rpma.testing.StandIn;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The calls of the device that post the chains of a batch. A call that the device refuses ends the post, so the number
 * of posted operations shows which operations the calls before it have posted.
 */
@Tag("stand-in")
class RdmaChainTest {
    private static final int EINVAL = 22;
    private static final int ENOMEM = 12;

    private final StandIn standIn = StandIn.open();
    private final RdmaBatch batch = RdmaBatch.create(200);
    private final RpmaCompletions completions = RpmaCompletions.create(16);
    private RdmaPair pair;
    private RdmaQp qp;
    private RdmaQp serverQp;

    @BeforeEach
    void connect() throws InterruptedException {
        pair = RdmaPair.connect(attr().maxSendWr(200).maxRecvWr(200), attr().maxRecvWr(200));
        qp = pair.client.qp();
        serverQp = pair.server.qp();
    }

    @AfterEach
    void close() {
        standIn.close();
        pair.close();
    }

    private void write(long context) {
        assertThat(batch.write(qp, pair.clientMr, 0, 8, 0, pair.serverMr.address(), pair.serverMr.rkey(), context))
                .isTrue();
    }

    private void writes(int count) {
        for (int i = 0; i < count; i++) {
            write(i);
        }
    }

    private void receive(RdmaQp on, int context) {
        RdmaMr mr = on == qp ? pair.clientMr : pair.serverMr;
        assertThat(batch.recv(on, mr, 0, 8, context)).isTrue();
    }

    /**
     * Expects that the device refuses the call after the given calls, and that these have posted this many operations.
     */
    private void assertPosted(String call, int calls, int posted, String function) {
        if (calls > 0) {
            standIn.pass(call, calls);
        }
        standIn.fail(call, 1, EINVAL);
        assertFails(function, "EINVAL", batch::post);
        assertThat(batch.posted()).isEqualTo(posted);
    }

    private void assertPostedSends(int calls, int posted) {
        assertPosted("ibv_post_send", calls, posted, "ibv_post_send");
    }

    @ParameterizedTest
    @CsvSource({"1, 64", "2, 128", "3, 192"})
    void aChainHas64Operations(int calls, int posted) {
        writes(200);
        assertPostedSends(calls, posted);
        assertThat(batch.firstContext()).isEqualTo(posted);
        assertThat(batch.post()).isEqualTo(200 - posted);
    }

    /** Returns a prepared batch of three signalled writes, which is posted once. */
    private RdmaPreparedBatch builtWrites(RdmaPair on) {
        for (int i = 0; i < 3; i++) {
            long remote = on.serverMr.address();
            assertThat(batch.write(on.client.qp(), on.clientMr, 0, 8, F_SIGNALED, remote, on.serverMr.rkey(), i))
                    .isTrue();
        }
        RdmaPreparedBatch prepared = batch.prepare();
        assertThat(prepared.post()).isTrue();
        return prepared;
    }

    private void sentInTurn(RdmaQp on, int count) throws InterruptedException {
        for (int i = 0; i < count; i++) {
            sent(on, i % 3);
        }
    }

    @Test
    void aRefusedPreparedChainIsPostedByTheNextCall() throws InterruptedException {
        RdmaPreparedBatch prepared = builtWrites(pair);
        standIn.fail("ibv_post_send", 1, EINVAL);
        assertFails("ibv_post_send", "EINVAL", prepared::post);
        assertThat(prepared.posted()).isZero();
        assertThat(prepared.post()).isTrue();
        sentInTurn(qp, 6);
    }

    /** The provider of siw names the work request that it has not queued, and reports success. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aPreparedChainIsPostedInPart(boolean isSiw) throws InterruptedException {
        try (RdmaPair small = RdmaPair.connect(attr().maxSendWr(5), attr())) {
            RdmaQp on = small.client.qp();
            RdmaPreparedBatch prepared = builtWrites(small);
            if (isSiw) {
                standIn.fail("siw:post_send", 1, ENOMEM);
            }
            assertThat(prepared.post()).isFalse();
            assertThat(prepared.posted()).isEqualTo(2);
            sentInTurn(on, 5);
            assertThat(prepared.post()).isTrue();
            sent(on, 2);
            assertThat(prepared.post()).isTrue();
            sentInTurn(on, 3);
        }
    }

    /** No operation counts as posted, although the queue has them all. */
    @Test
    void aPreparedChainWhoseFailureNamesNoOperation() throws InterruptedException {
        RdmaPreparedBatch prepared = builtWrites(pair);
        standIn.fail("rxe:post_send", 1, EINVAL);
        assertFails("ibv_post_send", "EINVAL", prepared::post);
        assertThat(prepared.posted()).isZero();
        sentInTurn(qp, 6);
    }

    /** Only the immediate data differs between the first operations, and the kind between the last ones. */
    @Test
    void operationsOnOneRegionKeepTheirImmediateDataAndKind() throws InterruptedException {
        long remote = pair.serverMr.address();
        int rkey = pair.serverMr.rkey();
        for (int i = 0; i < 3; i++) {
            assertThat(batch.writeWithImm(qp, pair.clientMr, 0, 8, F_SIGNALED, remote, rkey, 100 + i, i))
                    .isTrue();
            assertThat(serverQp.postRecv(pair.serverMr, 0, 8, i)).isTrue();
        }
        assertThat(batch.read(qp, pair.clientMr, 0, 8, F_SIGNALED, remote, rkey, 3))
                .isTrue();
        assertThat(batch.write(qp, pair.clientMr, 0, 8, F_SIGNALED, remote, rkey, 4))
                .isTrue();
        assertThat(batch.post()).isEqualTo(5);
        for (int i = 0; i < 3; i++) {
            sent(qp, i);
            assertThat(received(serverQp, i).immData(0)).isEqualTo(100 + i);
        }
        assertThat(sent(qp, 3).opcode(0)).isSameAs(RpmaWcOpcode.RDMA_READ);
        assertThat(sent(qp, 4).opcode(0)).isSameAs(RpmaWcOpcode.RDMA_WRITE);
    }

    @Test
    void aClosedRegionEndsAPreparedChain() {
        RdmaMr closed = RdmaMr.reg(pair.client, pair.clientMemory);
        writes(2);
        assertThat(batch.write(qp, closed, 0, 8, 0, 0, 0, 2)).isTrue();
        write(3);
        RdmaPreparedBatch prepared = batch.prepare();
        assertThat(prepared.post()).isTrue();
        closed.close();
        assertThatIllegalStateException()
                .isThrownBy(prepared::post)
                .withMessage("ibv_post_send with context 2: its region is closed");
        assertThat(prepared.posted()).isZero();
    }

    /** No region is closed with the id. */
    @Test
    void aClosedIdEndsAPreparedChain() {
        RdmaBatch inline = RdmaBatch.create(2, 16);
        RdmaInlineData data = RdmaInlineData.create(8);
        for (int i = 0; i < 2; i++) {
            assertThat(inline.writeInline(qp, data, 8, 0, pair.serverMr.address(), pair.serverMr.rkey(), i))
                    .isTrue();
        }
        RdmaPreparedBatch prepared = inline.prepare();
        assertThat(prepared.post()).isTrue();
        pair.close();
        assertThatIllegalStateException()
                .isThrownBy(prepared::post)
                .withMessage("ibv_post_send with context 0: its id is closed");
        assertThat(prepared.posted()).isZero();
    }

    /** The first operation stays built, and the change of another one does not divide the chain. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2})
    void aChangedOperationStaysInItsPreparedChain(int changed) throws InterruptedException {
        RdmaPreparedBatch prepared = builtWrites(pair);
        prepared.setContext(changed, 9);
        standIn.pass("ibv_post_send", 1).fail("ibv_post_send", 1, EINVAL);
        assertThat(prepared.post()).isTrue();
        for (int i = 0; i < 6; i++) {
            sent(qp, i == 3 + changed ? 9 : i % 3);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 63, 64})
    void oneCallPostsAllOperationsOfAQueue(int count) {
        writes(count);
        standIn.pass("ibv_post_send", 1).fail("ibv_post_send", 1, EINVAL);
        assertThat(batch.post()).isEqualTo(count);
        write(0);
        assertFails("ibv_post_send", "EINVAL", batch::post);
    }

    @Test
    void operationsOfAllKindsAreOneChain() {
        RdmaBatch all = RdmaBatch.create(20, 100);
        RdmaPost.Arguments arguments = new RdmaPost.Arguments(pair);
        for (RdmaPost post :
                RdmaPost.recorded().filter(post -> !post.isReceive()).toList()) {
            serverQp.postRecv(pair.serverMr, 0, 8, 1);
            assertThat(post.record(all, arguments)).as(post.method()).isTrue();
        }
        int count = all.count();
        standIn.pass("ibv_post_send", 1).fail("ibv_post_send", 1, EINVAL);
        assertThat(all.post()).isEqualTo(count);
    }

    @Test
    void aChainEndsBeforeAnotherQueue() throws InterruptedException {
        try (RdmaPair other = RdmaPair.connect()) {
            writes(3);
            for (int i = 0; i < 2; i++) {
                batch.write(
                        other.client.qp(), other.clientMr, 0, 8, 0, other.serverMr.address(), other.serverMr.rkey(), i);
            }
            write(5);
            receive(serverQp, 6);
            write(7);
            assertPostedSends(0, 0);
            assertPostedSends(1, 3);
            assertPostedSends(1, 2);
            assertPostedSends(1, 2);
            assertThat(batch.post()).isEqualTo(1);
        }
    }

    /** The receives of the queue pair are between operations of the same queue pair. */
    @Test
    void aChainEndsBeforeAReceive() {
        write(1);
        receive(qp, 2);
        receive(qp, 3);
        write(4);
        assertPosted("ibv_post_recv", 0, 1, "ibv_post_recv");
        assertThat(batch.firstContext()).isEqualTo(2);
        assertPostedSends(0, 2);
        assertThat(batch.firstContext()).isEqualTo(4);
        assertThat(batch.post()).isEqualTo(1);
    }

    @Test
    void receivesAreChainsToo() {
        for (int i = 0; i < 70; i++) {
            receive(serverQp, i);
        }
        assertPosted("ibv_post_recv", 1, 64, "ibv_post_recv");
        assertThat(batch.post()).isEqualTo(6);
    }

    @Test
    void receivesOfASharedQueueAreChainsToo() {
        try (RdmaId owner = RdmaId.create(RdmaPortSpace.TCP)) {
            owner.bindAddr(RdmaPair.address(0));
            RdmaSrq srq = owner.createSrq(100, 1);
            for (int i = 0; i < 70; i++) {
                assertThat(batch.recv(srq, pair.serverMr, 0, 8, i)).isTrue();
            }
            assertPosted("ibv_post_srq_recv", 1, 64, "ibv_post_recv");
            assertThat(batch.post()).isEqualTo(6);
        }
    }

    /**
     * Operations that are alike have bytes and contexts of their own. After each three operations the region changes,
     * and each fifth operation has other flags.
     */
    @Test
    void operationsThatAreAlikeKeepTheirArguments() throws InterruptedException {
        ByteBuffer bytes = ByteBuffer.allocateDirect(64);
        for (int i = 0; i < bytes.capacity(); i++) {
            bytes.put(i, (byte) (100 + i));
            pair.clientMemory.buffer(i, 1).put(0, (byte) (1 + i));
        }
        byte[] expected = new byte[48];
        try (RdmaMr other = RdmaMr.reg(pair.client, bytes)) {
            for (int i = 0; i < 12; i++) {
                boolean isOther = i / 3 % 2 == 1;
                int length = 1 + i % 4;
                for (int at = 0; at < length; at++) {
                    expected[4 * i + at] = (byte) ((isOther ? 100 : 1) + i + at);
                }
                batch.write(
                        qp,
                        isOther ? other : pair.clientMr,
                        i,
                        length,
                        i % 5 == 0 ? 0 : F_SIGNALED,
                        pair.serverMr.address() + 4 * i,
                        pair.serverMr.rkey(),
                        i);
            }
            standIn.pass("ibv_post_send", 1).fail("ibv_post_send", 1, EINVAL);
            assertThat(batch.post()).isEqualTo(12);
            for (int i = 0; i < 12; i++) {
                if (i % 5 != 0) {
                    sent(qp, i);
                }
            }
        }
        byte[] written = new byte[expected.length];
        pair.serverMemory.buffer(0, written.length).get(written);
        assertThat(written).containsExactly(expected);
    }

    /** The close of the region behind the first operation of a chain. */
    @Test
    void aClosedRegionEndsAChain() {
        RdmaMr closed = RdmaMr.reg(pair.client, pair.clientMemory);
        writes(2);
        for (int i = 2; i < 4; i++) {
            assertThat(batch.write(qp, closed, 0, 8, 0, 0, 0, i)).isTrue();
        }
        closed.close();
        assertThatIllegalStateException()
                .isThrownBy(batch::post)
                .withMessage("ibv_post_send with context 2: its region is closed");
        assertThat(batch.posted()).isEqualTo(2);
    }

    @Test
    void whatIsRefusedIsPostedByTheNextCall() throws InterruptedException {
        writes(3);
        batch.signalLast();
        assertPostedSends(0, 0);
        assertThat(batch.count()).isEqualTo(3);
        assertThat(batch.firstContext()).isZero();
        assertThat(batch.post()).isEqualTo(3);
        sent(qp, 2);
    }

    @Test
    void aFullQueueIsAnAnswer() throws InterruptedException {
        writes(70);
        batch.signalLast();
        receive(serverQp, 71);
        standIn.pass("ibv_post_send", 1).fail("ibv_post_send", 1, ENOMEM).fail("ibv_post_recv", 1, ENOMEM);
        assertThat(batch.post()).isEqualTo(64);
        assertThat(batch.post()).isEqualTo(6);
        assertThat(batch.firstContext()).isEqualTo(71);
        assertThat(batch.post()).isEqualTo(1);
        sent(qp, 69);
        qp.postSend(pair.clientMr, 0, 8, F_SIGNALED, 1);
        received(serverQp, 71);
    }

    /** The failure of the chain comes before the closed object behind it. */
    @Test
    void theFirstFailureIsReported() {
        RdmaMr closed = RdmaMr.reg(pair.client, pair.clientMemory);
        writes(2);
        assertThat(batch.write(qp, closed, 0, 8, 0, 0, 0, 2)).isTrue();
        closed.close();
        assertPostedSends(0, 0);
        standIn.fail("ibv_post_send", 1, ENOMEM);
        assertThat(batch.post()).isZero();
        assertThat(batch.count()).isEqualTo(3);
    }
}
