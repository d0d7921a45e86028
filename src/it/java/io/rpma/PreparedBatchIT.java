// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.rpma.testing.Allocation;
import io.rpma.testing.Pair;
import io.rpma.testing.Regions;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.NoSuchElementException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Operations that are recorded once and posted repeatedly, with other bytes each time. */
class PreparedBatchIT extends WithConnection {
    private static final int SIZE = 4096;
    private static final int ALWAYS = RpmaConn.F_COMPLETION_ALWAYS;
    private static final int ON_ERROR = RpmaConn.F_COMPLETION_ON_ERROR;

    private final RpmaBatch batch = RpmaBatch.create(16);

    PreparedBatchIT() {
        super(SIZE);
    }

    @BeforeEach
    void fill() {
        regions.fillLocal(7);
    }

    private ByteBuffer local() {
        return regions.localMemory.buffer().order(ByteOrder.nativeOrder());
    }

    private ByteBuffer target() {
        return regions.remoteMemory.buffer().order(ByteOrder.nativeOrder());
    }

    private static void assertRecorded(boolean recorded) {
        assertThat(recorded).as("there is room in the batch").isTrue();
    }

    private void recordWrite(RpmaConn conn, long context) {
        assertRecorded(batch.write(conn, regions.remote, 0, regions.local, 0, 8, ALWAYS, context));
    }

    private static void assertPosted(RpmaPreparedBatch prepared) {
        assertThat(prepared.post()).isTrue();
        assertThat(prepared.posted()).isZero();
    }

    @Test
    void theSameOperationsAgainAndAgain() throws InterruptedException {
        recordWrite(pair.client, 1);
        assertRecorded(batch.read(pair.client, regions.local, 1024, regions.remote, 0, 8, ALWAYS, 2));
        RpmaPreparedBatch prepared = batch.prepare();
        assertThat(batch.count()).isZero();
        assertThat(prepared.count()).isEqualTo(2);
        for (int round = 1; round <= 100; round++) {
            local().putLong(0, round);
            assertPosted(prepared);
            Pair.assertDone(pair.client, 1);
            Pair.assertDone(pair.client, 2);
            assertThat(target().getLong(0)).isEqualTo(round);
            assertThat(local().getLong(1024)).isEqualTo(round);
        }
    }

    @Test
    void otherBytesOnOtherSidesMemory() throws InterruptedException {
        ByteBuffer sent = local();
        RpmaConn client = pair.client;
        assertRecorded(batch.write(client, regions.remote, 0, regions.local, 0, 64, ON_ERROR, 0));
        assertRecorded(batch.flush(client, regions.remote, 0, 64, RpmaFlushType.VISIBILITY, ALWAYS, 0));
        assertRecorded(batch.atomicWrite(client, regions.remote, 0, 0, ALWAYS, 0));
        assertRecorded(batch.writeAtomic(client, regions.remote, 0, regions.local, 0, ALWAYS, 0));
        assertRecorded(batch.read(client, regions.local, 0, regions.remote, 0, 64, ALWAYS, 0));
        assertRecorded(batch.write(client, ALWAYS, 0));
        RpmaPreparedBatch prepared = batch.prepare();
        prepared.setRange(0, 128, 64, 32);
        prepared.setRange(1, 0, 64, 32);
        prepared.setRange(2, 0, 8, 8);
        prepared.setValue(2, Long.MIN_VALUE + 5);
        prepared.setRange(3, 3, SIZE - 8, 8);
        prepared.setRange(4, SIZE - 16, 64, 16);
        prepared.setRange(5, 0, 0, 0);
        for (int i = 1; i < 6; i++) {
            prepared.setOpContext(i, -i);
        }
        assertPosted(prepared);
        for (int i = 1; i < 6; i++) {
            Pair.assertDone(client, -i);
        }
        assertThat(target().slice(64, 32)).isEqualTo(sent.slice(128, 32));
        assertThat(local().slice(SIZE - 16, 16)).isEqualTo(sent.slice(128, 16));
        assertThat(target().getLong(8)).isEqualTo(Long.MIN_VALUE + 5);
        assertThat(target().getLong(SIZE - 8)).isEqualTo(sent.getLong(3));
        assertThat(target().getLong(0)).isZero();
        assertThat(target().slice(96, SIZE - 104)).isEqualTo(ByteBuffer.allocate(SIZE - 104));
    }

    @Test
    void otherMessages() throws InterruptedException {
        assertRecorded(batch.recv(pair.server, regions.target, 0, 64, 0));
        assertRecorded(batch.recv(pair.server, 0));
        assertRecorded(batch.sendWithImm(pair.client, regions.local, 0, 64, ALWAYS, 1, 0));
        assertRecorded(batch.writeWithImm(pair.client, regions.remote, 0, regions.local, 0, 8, ALWAYS, 1, 0));
        RpmaPreparedBatch prepared = batch.prepare();
        for (int round = 1; round <= 20; round++) {
            prepared.setRange(0, 64 * round, 0, 64);
            prepared.setOpContext(0, round);
            prepared.setOpContext(1, -round);
            prepared.setRange(2, 8 * round, 0, round);
            prepared.setImm(2, Integer.MIN_VALUE + round);
            prepared.setImm(3, -round);
            assertPosted(prepared);
            Pair.assertDone(pair.client, 0);
            Pair.assertDone(pair.client, 0);
            RpmaCompletions message = Pair.assertDone(pair.server.getCq(), round);
            assertThat(message.byteLen(0)).isEqualTo(round);
            assertThat(message.immData(0)).isEqualTo(Integer.MIN_VALUE + round);
            assertThat(Pair.assertDone(pair.server.getCq(), -round).immData(0)).isEqualTo(-round);
            assertThat(target().slice(64 * round, round)).isEqualTo(local().slice(8 * round, round));
        }
    }

    /** The message comes first and blocks all other posts until the other side posts a receive. */
    @Test
    void aFullQueueInterruptsTheSequence() throws InterruptedException {
        int many = 300;
        RpmaBatch all = RpmaBatch.create(many);
        try (RpmaConnCfg cfg = RpmaConnCfg.create().setSqSize(10).setCqSize(500);
                Pair small = Pair.connect(peer, cfg, null)) {
            assertRecorded(all.send(small.client, ALWAYS, 0));
            for (int i = 1; i < many; i++) {
                assertRecorded(all.write(small.client, regions.remote, 0, regions.local, 0, 8, ALWAYS, i));
            }
            RpmaPreparedBatch prepared = all.prepare();
            for (int round = 0; round < 2; round++) {
                assertThat(prepared.post()).isFalse();
                int posted = prepared.posted();
                assertThat(posted).isBetween(1, many - 1);
                assertThat(prepared.post()).isFalse();
                assertThat(prepared.posted()).isEqualTo(posted);
                assertThat(small.server.recv(1)).isTrue();
                int done = 0;
                do {
                    for (int end = prepared.posted(); done < end; done++) {
                        Pair.assertDone(small.client, done);
                    }
                } while (!prepared.post());
                for (; done < many; done++) {
                    Pair.assertDone(small.client, done);
                }
                assertThat(prepared.posted()).isZero();
            }
            assertThat(prepared.post()).isFalse();
            prepared.rewind();
            assertThat(prepared.posted()).isZero();
        }
    }

    /** Expects that the second of three operations can't be posted. */
    private void assertStopsInTheMiddle(RpmaPreparedBatch prepared, String message) throws InterruptedException {
        for (int round = 0; round < 2; round++) {
            for (int time = 0; time < 2; time++) {
                assertThatIllegalStateException().isThrownBy(prepared::post).withMessage(message);
                assertThat(prepared.posted()).isEqualTo(1);
            }
            Pair.assertDone(pair.client, 1);
            prepared.rewind();
        }
    }

    @Test
    void aConnectionThatIsClosed() throws InterruptedException {
        Pair other = Pair.connect(peer, null, null);
        recordWrite(pair.client, 1);
        recordWrite(other.client, 2);
        recordWrite(pair.client, 3);
        RpmaPreparedBatch prepared = batch.prepare();
        other.close();
        assertStopsInTheMiddle(prepared, "rpma_write with opContext 2: its connection is closed");
    }

    @Test
    void aRegionThatIsClosed() throws InterruptedException {
        RpmaMrLocal closed = peer.register(regions.localMemory, Regions.ALL);
        recordWrite(pair.client, 1);
        assertRecorded(batch.read(pair.client, closed, 0, regions.remote, 0, 8, ALWAYS, 2));
        recordWrite(pair.client, 3);
        RpmaPreparedBatch prepared = batch.prepare();
        closed.close();
        assertStopsInTheMiddle(prepared, "rpma_read with opContext 2: its local region is closed");
    }

    @Test
    void aRegionThatIsAlreadyClosedCanNotBePrepared() {
        RpmaMrRemote closed = Pair.remote(regions.target);
        recordWrite(pair.client, 1);
        assertRecorded(batch.atomicWrite(pair.client, closed, 0, 8, ALWAYS, 2));
        closed.close();
        assertThatIllegalStateException()
                .isThrownBy(batch::prepare)
                .withMessage("the remote region of operation 1 is closed");
        assertThat(batch.count()).isEqualTo(2);
    }

    @Test
    void anEmptyBatchCanNotBePrepared() {
        assertThatExceptionOfType(NoSuchElementException.class)
                .isThrownBy(batch::prepare)
                .withMessage("the batch is empty");
    }

    /** One operation of each kind that has limits of its own. */
    private RpmaPreparedBatch prepareOneOfEach() {
        assertRecorded(batch.write(pair.client, regions.remote, 0, regions.local, 0, 64, ALWAYS, 0));
        assertRecorded(batch.flush(pair.client, regions.remote, 0, 64, RpmaFlushType.VISIBILITY, ALWAYS, 0));
        assertRecorded(batch.atomicWrite(pair.client, regions.remote, 0, 0, ALWAYS, 0));
        assertRecorded(batch.writeAtomic(pair.client, regions.remote, 0, regions.local, 0, ALWAYS, 0));
        assertRecorded(batch.send(pair.client, regions.local, 0, 64, ALWAYS, 0));
        assertRecorded(batch.write(pair.client, ALWAYS, 0));
        return batch.prepare();
    }

    @ParameterizedTest
    @CsvSource({
        "0, -1, 0, 8",
        "0, 0, -1, 8",
        "0, 0, 0, -1",
        "0, 4089, 0, 8",
        "0, 0, 4089, 8",
        "0, 9223372036854775807, 0, 8",
        "0, 0, -9223372036854775808, 8",
        "1, 1, 0, 8",
        "1, 0, 4089, 0",
        "2, 8, 0, 8",
        "2, 0, 4096, 8",
        "3, 4089, 0, 8",
        "3, 0, -8, 8",
        "4, 0, 1, 8",
        "4, 4090, 0, 8",
        "5, 0, 1, 0",
        "5, 0, 0, -1",
        "6, 0, 0, 0",
        "-1, 0, 0, 0"
    })
    void aRangeOutsideIsRefused(int index, long localOffset, long remoteOffset, long length) {
        RpmaPreparedBatch prepared = prepareOneOfEach();
        assertThatExceptionOfType(IndexOutOfBoundsException.class)
                .isThrownBy(() -> prepared.setRange(index, localOffset, remoteOffset, length));
    }

    @Test
    void anOffsetInARegionThatTheOperationDoesNotHaveIsRefused() {
        RpmaPreparedBatch prepared = prepareOneOfEach();
        assertThatExceptionOfType(IndexOutOfBoundsException.class)
                .isThrownBy(() -> prepared.setRange(1, 8, 0, 8))
                .withMessage("operation 1, FLUSH, has no local region: its offset must be 0, not 8");
        assertThatExceptionOfType(IndexOutOfBoundsException.class)
                .isThrownBy(() -> prepared.setRange(4, 0, 8, 8))
                .withMessage("operation 4, SEND, has no remote region: its offset must be 0, not 8");
    }

    @ParameterizedTest
    @CsvSource({
        "0, 0, 65",
        "0, 0, 9223372036854775807",
        "1, 0, 65",
        "2, 0, 7",
        "2, 4, 8",
        "3, 1, 8",
        "3, 0, 0",
        "5, 0, 1"
    })
    void anImpossibleRangeIsRefused(int index, long remoteOffset, long length) {
        RpmaPreparedBatch prepared = prepareOneOfEach();
        assertThatIllegalArgumentException().isThrownBy(() -> prepared.setRange(index, 0, remoteOffset, length));
    }

    @Test
    void aValueThatTheOperationDoesNotHaveIsRefused() {
        RpmaPreparedBatch prepared = prepareOneOfEach();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> prepared.setValue(0, 1))
                .withMessage("operation 0, WRITE, has no value");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> prepared.setImm(4, 1))
                .withMessage("operation 4, SEND, has no immediate data");
        assertThatExceptionOfType(IndexOutOfBoundsException.class)
                .isThrownBy(() -> prepared.setOpContext(6, 1))
                .withMessage("operation 6 of 6");
        assertThatExceptionOfType(IndexOutOfBoundsException.class).isThrownBy(() -> prepared.setImm(-1, 1));
        assertThatExceptionOfType(IndexOutOfBoundsException.class).isThrownBy(() -> prepared.setValue(6, 1));
    }

    @Test
    void allocatesNothing() throws InterruptedException {
        recordWrite(pair.client, 1);
        RpmaPreparedBatch prepared = batch.prepare();
        RpmaCompletions completions = RpmaCompletions.create(1);
        Allocation.assertNone(() -> {
            prepared.setRange(0, 8, 16, 8);
            prepared.setOpContext(0, 2);
            while (!prepared.post()) {
                pair.client.getCq().poll(completions);
            }
            while (pair.client.getCq().poll(completions) == 0) {
                Thread.onSpinWait();
            }
        });
    }

    @Test
    void describesItself() {
        assertThat(prepareOneOfEach()).hasToString("RpmaPreparedBatch[0 of 6 posted]");
    }
}
