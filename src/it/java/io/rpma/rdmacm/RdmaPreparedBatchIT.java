// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.rdmacm;

import static io.rpma.rdmacm.RdmaQp.F_SIGNALED;
import static io.rpma.testing.RdmaPair.get;
import static io.rpma.testing.RdmaPair.getLong;
import static io.rpma.testing.RdmaPair.inline;
import static io.rpma.testing.RdmaPair.putLong;
import static io.rpma.testing.RdmaPair.received;
import static io.rpma.testing.RdmaPair.sent;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaMemory;
import io.rpma.testing.Allocation;
import io.rpma.testing.RdmaPair;
import io.rpma.testing.TestDevice;
import java.util.NoSuchElementException;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** A chain that is built once and posted repeatedly, with other bytes each time. */
class RdmaPreparedBatchIT {
    private static final int ROUNDS = 20;

    /** The longest chain. */
    private static final int MANY = 64;

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

    private void recordWrite(long context) {
        assertRecorded(batch.write(qp, local, 0, 8, F_SIGNALED, remote, rkey, context));
    }

    private static void assertPosted(RdmaPreparedBatch prepared) {
        assertThat(prepared.post()).isTrue();
        assertThat(prepared.posted()).isZero();
    }

    /** Whether a prepared batch has this kind of operation. */
    private static boolean isPrepared(RdmaPost post) {
        return (post.local == RdmaPost.Local.REGION || post.local == RdmaPost.Local.INLINE) && !post.isReceive();
    }

    @Tag("immediate-data")
    @ParameterizedTest
    @MethodSource("io.rpma.rdmacm.RdmaPost#recorded")
    void everyPostAgainAndAgain(RdmaPost post) throws InterruptedException {
        assertRecorded(post.record(batch, new RdmaPost.Arguments(pair)));
        if (!isPrepared(post)) {
            assertThatIllegalArgumentException()
                    .isThrownBy(batch::prepare)
                    .withMessageStartingWith(
                            "a prepared batch has sends, writes and reads of a region or of inline data");
            assertThat(batch.count()).isOne();
            return;
        }
        RdmaPreparedBatch prepared = batch.prepare();
        assertThat(batch.count()).isZero();
        for (int round = 0; round < ROUNDS; round++) {
            serverQp.postRecv(pair.serverMr, 0, 8, 1);
            assertPosted(prepared);
            sent(qp, 1);
            if (!post.isMessage()) {
                qp.postSend(local, 0, 8, F_SIGNALED, 3);
                sent(qp, 3);
            }
            received(serverQp, 1);
        }
    }

    @Test
    void otherBytes() throws InterruptedException {
        recordWrite(0);
        assertRecorded(batch.writeInline(qp, inline("12345678"), 8, F_SIGNALED, remote, rkey, 0));
        assertRecorded(batch.read(qp, local, 0, 8, F_SIGNALED, remote, rkey, 0));
        RdmaPreparedBatch prepared = batch.prepare();
        // the batch can record other copies in its room
        assertRecorded(batch.sendInline(qp, inline("other bytes"), 11, F_SIGNALED, 0));
        for (int round = 1; round <= ROUNDS; round++) {
            int at = 32 * round;
            prepared.setRange(0, at, 8);
            prepared.setRemoteAddr(0, remote + at);
            prepared.setInline(1, inline("inline" + round), 7);
            prepared.setRemoteAddr(1, remote + at + 8);
            prepared.setRange(2, 2048 + 8 * round, 8);
            prepared.setRemoteAddr(2, remote + at);
            for (int i = 0; i < 3; i++) {
                prepared.setContext(i, -4L * round - i);
            }
            assertPosted(prepared);
            for (int i = 0; i < 3; i++) {
                sent(qp, -4L * round - i);
            }
            assertThat(getLong(pair.serverMemory, at)).isEqualTo(at + 1);
            assertThat(get(pair.serverMemory, at + 8, 8)).isEqualTo(("inline" + round).substring(0, 7) + "\0");
            assertThat(getLong(pair.clientMemory, 2048 + 8 * round)).isEqualTo(at + 1);
        }
    }

    @Tag("immediate-data")
    @Test
    void otherMessages() throws InterruptedException {
        assertRecorded(batch.sendWithImm(qp, local, 0, 64, F_SIGNALED, 1, 0));
        RdmaPreparedBatch prepared = batch.prepare();
        for (int round = 1; round <= ROUNDS; round++) {
            serverQp.postRecv(pair.serverMr, 64 * round, 32, round);
            prepared.setRange(0, 8 * round, 8);
            prepared.setImm(0, -round);
            assertPosted(prepared);
            sent(qp, 0);
            RpmaCompletions message = received(serverQp, round);
            assertThat(message.byteLen(0)).isEqualTo(8);
            assertThat(message.immData(0)).isEqualTo(-round);
            assertThat(getLong(pair.serverMemory, 64 * round)).isEqualTo(8 * round + 1);
        }
    }

    /** The message comes first and blocks all other posts until the other side posts a receive. */
    @Tag("full-queues")
    @Test
    void aFullQueueInterruptsTheChain() throws InterruptedException {
        int step = 16;
        RdmaBatch all = RdmaBatch.create(MANY);
        for (int i = 0; i < MANY; i++) {
            int flags = i % step == step - 1 ? F_SIGNALED : 0;
            assertRecorded(all.write(qp, local, 0, 8, flags, remote, rkey, i));
        }
        RdmaPreparedBatch prepared = all.prepare();
        for (int round = 0; round < 2; round++) {
            assertThat(qp.postSend(local, 0, 8, 0, 0)).isTrue();
            int rounds = 0;
            while (prepared.post()) {
                rounds++;
            }
            int posted = prepared.posted();
            assertThat(rounds * MANY + posted).isGreaterThanOrEqualTo(qp.maxSendWr() - 1);
            assertThat(prepared.post()).isFalse();
            assertThat(prepared.posted()).isEqualTo(posted);
            serverQp.postRecv(pair.serverMr, 0, 8, 1);
            boolean complete = false;
            for (int i = 0; i < (rounds + 1) * MANY / step; i++) {
                sent(qp, i * step % MANY + step - 1);
                complete = complete || prepared.post();
            }
            assertThat(complete).isTrue();
            assertThat(prepared.posted()).isZero();
            received(serverQp, 1);
        }
    }

    @Test
    void aRegionThatIsClosed() throws InterruptedException {
        try (RpmaMemory memory = RpmaMemory.allocate(64)) {
            RdmaMr closed = RdmaMr.regMsgs(pair.client, memory);
            recordWrite(1);
            assertRecorded(batch.read(qp, closed, 0, 8, F_SIGNALED, remote, rkey, 2));
            recordWrite(3);
            RdmaPreparedBatch prepared = batch.prepare();
            closed.close();
            assertThatIllegalStateException()
                    .isThrownBy(prepared::post)
                    .withMessage("ibv_post_send with context 2: its region is closed");
            assertThat(prepared.posted()).isZero();
            assertThat(qp.pollSendComp(RpmaCompletions.create(1)))
                    .as("nothing is posted")
                    .isZero();
            recordWrite(1);
            assertThatIllegalStateException().isThrownBy(() -> {
                batch.read(qp, closed, 0, 8, F_SIGNALED, remote, rkey, 2);
                batch.prepare();
            });
            assertThat(batch.count()).isEqualTo(2);
        }
    }

    @Test
    void anEmptyBatchCanNotBePrepared() {
        assertThatExceptionOfType(NoSuchElementException.class)
                .isThrownBy(batch::prepare)
                .withMessage("the batch is empty");
    }

    @Test
    void aChainHasALimitedLength() {
        RdmaBatch all = RdmaBatch.create(MANY + 1);
        for (int i = 0; i <= MANY; i++) {
            assertRecorded(all.write(qp, local, 0, 8, F_SIGNALED, remote, rkey, i));
        }
        assertThatIllegalArgumentException()
                .isThrownBy(all::prepare)
                .withMessage("a prepared batch has at most 64 operations, not 65");
        all.removeFirst();
        assertThat(all.prepare().count()).isEqualTo(MANY);
    }

    @Test
    void aChainIsOfOneQueuePair() {
        recordWrite(1);
        assertRecorded(batch.send(serverQp, pair.serverMr, 0, 8, F_SIGNALED, 2));
        assertThatIllegalArgumentException()
                .isThrownBy(batch::prepare)
                .withMessageEndingWith("of one queue pair: the one with context 2 is none");
        assertThat(batch.count()).isEqualTo(2);
    }

    /** One operation of each kind that has limits of its own. */
    private RdmaPreparedBatch prepareOneOfEach() {
        recordWrite(0);
        assertRecorded(batch.writeInline(qp, inline("inline"), 6, F_SIGNALED, remote, rkey, 0));
        assertRecorded(batch.send(qp, local, 0, 8, F_SIGNALED, 0));
        return batch.prepare();
    }

    @ParameterizedTest
    @CsvSource({"0, -1, 8", "0, 4089, 8", "0, 0, -1", "0, 9223372036854775807, 8", "2, 4089, 8", "3, 0, 0", "-1, 0, 0"})
    void aRangeOutsideIsRefused(int index, long offset, long length) {
        assertThat(RdmaPair.SIZE).isEqualTo(4096);
        RdmaPreparedBatch prepared = prepareOneOfEach();
        assertThatExceptionOfType(IndexOutOfBoundsException.class)
                .isThrownBy(() -> prepared.setRange(index, offset, length));
    }

    @ParameterizedTest
    @CsvSource({"0, 9", "0, 9223372036854775807", "1, 0"})
    void anImpossibleRangeIsRefused(int index, long length) {
        RdmaPreparedBatch prepared = prepareOneOfEach();
        assertThatIllegalArgumentException().isThrownBy(() -> prepared.setRange(index, 0, length));
    }

    @Test
    void inlineDataThatDoesNotFitIsRefused() {
        RdmaPreparedBatch prepared = prepareOneOfEach();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> prepared.setInline(1, inline("1234567"), 7))
                .withMessage("operation 1 was recorded with 6 bytes, and can't have more: 7");
        assertThatExceptionOfType(IndexOutOfBoundsException.class)
                .isThrownBy(() -> prepared.setInline(1, inline("12"), 3));
        assertThatExceptionOfType(IndexOutOfBoundsException.class)
                .isThrownBy(() -> prepared.setInline(1, inline("12"), -1));
        assertThatExceptionOfType(NullPointerException.class)
                .isThrownBy(() -> prepared.setInline(1, null, 1))
                .withMessage("the inline data is null");
    }

    @Test
    void aValueThatTheOperationDoesNotHaveIsRefused() {
        RdmaPreparedBatch prepared = prepareOneOfEach();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> prepared.setInline(0, inline("x"), 1))
                .withMessage("operation 0, WRITE, has no inline data");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> prepared.setImm(1, 1))
                .withMessage("operation 1, WRITE, has no immediate data");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> prepared.setRemoteAddr(2, remote))
                .withMessage("operation 2, SEND, has no remote address");
        assertThatExceptionOfType(IndexOutOfBoundsException.class)
                .isThrownBy(() -> prepared.setContext(3, 1))
                .withMessage("operation 3 of 3");
    }

    @Test
    void allocatesNothing() {
        recordWrite(1);
        RdmaPreparedBatch prepared = batch.prepare();
        RpmaCompletions completions = RpmaCompletions.create(1);
        Allocation.assertNone(() -> {
            prepared.setRange(0, 8, 8);
            prepared.setRemoteAddr(0, remote + 8);
            prepared.setContext(0, 2);
            while (!prepared.post()) {
                qp.pollSendComp(completions);
            }
            while (qp.pollSendComp(completions) == 0) {
                Thread.onSpinWait();
            }
        });
    }

    @Test
    void theFirstCallOfAThread() throws Exception {
        recordWrite(1);
        RdmaPreparedBatch prepared = batch.prepare();
        FutureTask<Boolean> post = new FutureTask<>(prepared::post);
        Thread thread = new Thread(post);
        thread.start();
        assertThat(post.get()).isTrue();
        thread.join();
        sent(qp, 1);
    }

    @Test
    void describesItself() {
        assertThat(prepareOneOfEach()).hasToString("RdmaPreparedBatch[0 of 3 posted]");
    }
}
