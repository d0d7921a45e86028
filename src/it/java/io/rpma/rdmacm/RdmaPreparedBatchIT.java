// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.rdmacm;

import static io.rpma.rdmacm.RdmaQp.F_SIGNALED;
import static io.rpma.testing.RdmaDatagramPair.HEADER;
import static io.rpma.testing.RdmaPair.get;
import static io.rpma.testing.RdmaPair.getLong;
import static io.rpma.testing.RdmaPair.inline;
import static io.rpma.testing.RdmaPair.put;
import static io.rpma.testing.RdmaPair.putLong;
import static io.rpma.testing.RdmaPair.received;
import static io.rpma.testing.RdmaPair.sent;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaMemory;
import io.rpma.internal.PreparedPost;
import io.rpma.testing.Allocation;
import io.rpma.testing.RdmaDatagramPair;
import io.rpma.testing.RdmaPair;
import io.rpma.testing.TestDevice;
import java.util.ArrayList;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Operations that are recorded once and posted repeatedly as chains, with other bytes each time. */
class RdmaPreparedBatchIT {
    private static final int ROUNDS = 20;

    /** In bytes, and the rounds with this stack: each frame posts. */
    private static final long SMALL_STACK = 256 << 10;

    private static final int ROUNDS_OF_STACK = 2;

    private final RdmaBatch batch = RdmaBatch.create(32, 64, 1000);
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

    @ParameterizedTest
    @EnumSource
    void everyPostAgainAndAgain(RdmaPost post) throws InterruptedException {
        assertRecorded(post.record(batch, new RdmaPost.Arguments(pair)));
        RdmaPreparedBatch prepared = batch.prepare();
        assertThat(batch.count()).isZero();
        for (int round = 0; round < ROUNDS; round++) {
            serverQp.postRecv(pair.serverMr, 0, 8, 1);
            assertPosted(prepared);
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

    @Test
    void otherBytes() throws InterruptedException {
        recordWrite(0);
        assertRecorded(batch.writeInline(qp, inline("12345678"), 8, F_SIGNALED, remote, rkey, 0));
        assertRecorded(batch.read(qp, local, 0, 8, F_SIGNALED, remote, rkey, 0));
        RdmaSgeList parts = RdmaSgeList.create(2).add(local, 16, 8).add(local, 0, 8);
        assertRecorded(batch.writev(qp, parts, F_SIGNALED, remote, rkey, 0));
        RdmaPreparedBatch prepared = batch.prepare();
        parts.clear();
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
            prepared.setRemoteAddr(3, remote + at + 16);
            for (int i = 0; i < 4; i++) {
                prepared.setContext(i, -4L * round - i);
            }
            assertPosted(prepared);
            for (int i = 0; i < 4; i++) {
                sent(qp, -4L * round - i);
            }
            assertThat(getLong(pair.serverMemory, at)).isEqualTo(at + 1);
            assertThat(get(pair.serverMemory, at + 8, 8)).isEqualTo(("inline" + round).substring(0, 7) + "\0");
            assertThat(getLong(pair.serverMemory, at + 16)).isEqualTo(17);
            assertThat(getLong(pair.serverMemory, at + 24)).isEqualTo(1);
            assertThat(getLong(pair.clientMemory, 2048 + 8 * round)).isEqualTo(at + 1);
        }
    }

    @Test
    void otherMessages() throws InterruptedException {
        assertRecorded(batch.recv(serverQp, pair.serverMr, 0, 64, 0));
        assertRecorded(batch.sendWithImm(qp, local, 0, 64, F_SIGNALED, 1, 0));
        RdmaPreparedBatch prepared = batch.prepare();
        for (int round = 1; round <= ROUNDS; round++) {
            prepared.setRange(0, 64 * round, 32);
            prepared.setContext(0, round);
            prepared.setRange(1, 8 * round, 8);
            prepared.setImm(1, -round);
            assertPosted(prepared);
            sent(qp, 0);
            RpmaCompletions message = received(serverQp, round);
            assertThat(message.byteLen(0)).isEqualTo(8);
            assertThat(message.immData(0)).isEqualTo(-round);
            assertThat(getLong(pair.serverMemory, 64 * round)).isEqualTo(8 * round + 1);
        }
    }

    @Test
    void otherOperands() throws InterruptedException {
        putLong(pair.serverMemory, 8, 40);
        assertRecorded(batch.fetchAndAdd(qp, local, 0, F_SIGNALED, remote, rkey, 0, 1));
        assertRecorded(batch.compareAndSwap(qp, local, 8, F_SIGNALED, remote, rkey, 0, 0, 2));
        RdmaPreparedBatch prepared = batch.prepare();
        prepared.setAdd(0, -2);
        prepared.setRemoteAddr(0, remote + 8);
        prepared.setCompareAndSwap(1, 38, Long.MIN_VALUE);
        prepared.setRemoteAddr(1, remote + 8);
        prepared.setRange(1, 16, 8);
        assertPosted(prepared);
        sent(qp, 1);
        sent(qp, 2);
        assertThat(getLong(pair.clientMemory, 0)).isEqualTo(40);
        assertThat(getLong(pair.clientMemory, 16)).isEqualTo(38);
        assertThat(getLong(pair.serverMemory, 8)).isEqualTo(Long.MIN_VALUE);
    }

    @Test
    void datagrams() throws InterruptedException {
        try (RdmaDatagramPair ends = RdmaDatagramPair.connect();
                RpmaMemory memory = RpmaMemory.allocate(4096);
                RdmaMr from = RdmaMr.regMsgs(ends.client, memory);
                RdmaMr to = RdmaMr.regMsgs(ends.server, memory)) {
            RdmaAh there = ends.client.createAh(ends.established);
            int qpn = ends.established.qpNum();
            put(memory, 0, "region");
            assertRecorded(batch.recv(ends.server.qp(), to, 1000, HEADER + 10, 1));
            assertRecorded(
                    batch.udSendWithImm(ends.client.qp(), from, 0, 6, F_SIGNALED, there, qpn, RdmaQp.UDP_QKEY, 1, 2));
            RdmaPreparedBatch prepared = batch.prepare();
            for (int round = 1; round <= ROUNDS; round++) {
                prepared.setImm(1, round);
                assertPosted(prepared);
                sent(ends.client.qp(), 2);
                assertThat(received(ends.server.qp(), 1).immData(0)).isEqualTo(round);
                assertThat(get(memory, 1000 + HEADER, 6)).isEqualTo("region");
            }
            there.close();
            assertThatIllegalStateException()
                    .isThrownBy(prepared::post)
                    .withMessage("ibv_post_send with context 2: its address handle is closed");
            assertThat(prepared.posted()).isEqualTo(1);
        }
    }

    /** The message comes first and blocks all other posts until the other side posts a receive. */
    @Test
    void aFullQueueInterruptsTheSequence() throws InterruptedException {
        int many = 240;
        int step = 16;
        RdmaBatch all = RdmaBatch.create(many);
        assertRecorded(all.send(qp, local, 0, 8, 0, 0));
        for (int i = 1; i < many; i++) {
            int flags = i % step == step - 1 ? F_SIGNALED : 0;
            assertRecorded(all.write(qp, local, 0, 8, flags, remote, rkey, i));
        }
        RdmaPreparedBatch prepared = all.prepare();
        for (int round = 0; round < 2; round++) {
            assertThat(prepared.post()).isFalse();
            int posted = prepared.posted();
            assertThat(posted).isBetween(qp.maxSendWr(), many - 1);
            assertThat(prepared.post()).isFalse();
            assertThat(prepared.posted()).isEqualTo(posted);
            serverQp.postRecv(pair.serverMr, 0, 8, 1);
            boolean complete = false;
            for (int i = step - 1; i < many; i += step) {
                sent(qp, i);
                complete = complete || prepared.post();
            }
            assertThat(complete).isTrue();
            assertThat(prepared.posted()).isZero();
        }
        assertThat(prepared.post()).isFalse();
        prepared.rewind();
        assertThat(prepared.posted()).isZero();
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
            for (int round = 0; round < 2; round++) {
                for (int time = 0; time < 2; time++) {
                    assertThatIllegalStateException()
                            .isThrownBy(prepared::post)
                            .withMessage("ibv_post_send with context 2: its region is closed");
                    assertThat(prepared.posted()).isEqualTo(1);
                }
                sent(qp, 1);
                prepared.rewind();
            }
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

    /** One operation of each kind that has limits of its own. */
    private RdmaPreparedBatch prepareOneOfEach() {
        recordWrite(0);
        assertRecorded(batch.writeInline(qp, inline("inline"), 6, F_SIGNALED, remote, rkey, 0));
        assertRecorded(batch.sendv(qp, RdmaSgeList.create(1).add(local, 0, 8), F_SIGNALED, 0));
        assertRecorded(batch.fetchAndAdd(qp, local, 0, F_SIGNALED, remote, rkey, 0, 0));
        return batch.prepare();
    }

    @ParameterizedTest
    @CsvSource({"0, -1, 8", "0, 4089, 8", "0, 0, -1", "0, 9223372036854775807, 8", "3, 4089, 8", "4, 0, 0", "-1, 0, 0"})
    void aRangeOutsideIsRefused(int index, long offset, long length) {
        assertThat(RdmaPair.SIZE).isEqualTo(4096);
        RdmaPreparedBatch prepared = prepareOneOfEach();
        assertThatExceptionOfType(IndexOutOfBoundsException.class)
                .isThrownBy(() -> prepared.setRange(index, offset, length));
    }

    @ParameterizedTest
    @CsvSource({"0, 9", "0, 9223372036854775807", "1, 0", "2, 0", "3, 7", "3, 0"})
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
        assertThatIllegalArgumentException()
                .isThrownBy(() -> prepared.setRemoteAddr(3, remote + 4))
                .withMessageStartingWith("the address of an atomic is a multiple of 8");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> prepared.setCompareAndSwap(3, 1, 2))
                .withMessage("operation 3, FETCH_AND_ADD, has no value to compare with");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> prepared.setAdd(0, 2))
                .withMessage("operation 0, WRITE, has no number to add");
        assertThatExceptionOfType(IndexOutOfBoundsException.class)
                .isThrownBy(() -> prepared.setContext(4, 1))
                .withMessage("operation 4 of 4");
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

    /** JDK 22 is the first JDK with critical calls. */
    @Test
    void thePostIsACriticalCall() {
        assertThat(PreparedPost.isCritical()).isEqualTo(Runtime.version().feature() >= 22);
    }

    /** In a critical call, C must not reach the guard page of the stack. A list of parts needs the most stack. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void atTheEndOfTheStack(boolean parts) throws Exception {
        if (parts) {
            assertRecorded(batch.writev(qp, RdmaSgeList.create(1).add(local, 0, 8), F_SIGNALED, remote, rkey, 1));
        } else {
            recordWrite(1);
        }
        RdmaPreparedBatch prepared = batch.prepare();
        FutureTask<Void> posts = new FutureTask<>(() -> {
            for (int round = 0; round < ROUNDS_OF_STACK; round++) {
                assertThatExceptionOfType(StackOverflowError.class).isThrownBy(() -> postDeeperAndDeeper(prepared));
                while (!prepared.post()) {
                    sent(qp, 1);
                }
            }
            return null;
        });
        Thread thread = new Thread(null, posts, "small stack", SMALL_STACK);
        thread.start();
        posts.get();
        thread.join();
    }

    private static void postDeeperAndDeeper(RdmaPreparedBatch prepared) {
        prepared.post();
        postDeeperAndDeeper(prepared);
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

    /** A chain has at most 64 operations, and a longer sequence is several chains. */
    @ParameterizedTest
    @ValueSource(ints = {64, 65})
    void aSequenceOfOneChainAndOfTwo(int many) throws InterruptedException {
        RdmaBatch all = RdmaBatch.create(many);
        List<Integer> signalled = new ArrayList<>();
        for (int i = 0; i < many; i++) {
            boolean isSignalled = i % 16 == 15 || i == many - 1;
            assertRecorded(all.write(qp, local, 8 * i, 8, isSignalled ? F_SIGNALED : 0, remote + 8 * i, rkey, i));
            if (isSignalled) {
                signalled.add(i);
            }
        }
        RdmaPreparedBatch prepared = all.prepare();
        for (int round = 0; round < 2; round++) {
            boolean complete = prepared.post();
            for (int context : signalled) {
                sent(qp, context);
                complete = complete || prepared.post();
            }
            assertThat(complete).isTrue();
            assertThat(prepared.posted()).isZero();
        }
        for (int i = 0; i < 8 * many; i += 8) {
            assertThat(getLong(pair.serverMemory, i)).isEqualTo(i + 1);
        }
    }

    @Test
    void describesItself() {
        assertThat(prepareOneOfEach()).hasToString("RdmaPreparedBatch[0 of 4 posted]");
    }
}
