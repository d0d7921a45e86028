// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.rdmacm;

import static io.rpma.rdmacm.RdmaQp.F_SIGNALED;
import static io.rpma.testing.RdmaPair.attr;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaException;
import io.rpma.internal.BatchRecords;
import io.rpma.testing.RdmaDatagramPair;
import io.rpma.testing.RdmaPair;
import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Records that threads have mixed by using one batch at once, which is forbidden: the shim refuses a record that does
 * not fit its queue, and no record ends the process. The device of this process ends it if it gets a wrong pointer.
 */
@Tag("stand-in")
class RdmaMixedRecordsTest {
    private static final int SIZE = 64;
    private static final Set<RdmaBatch.Op> NEVER_INLINE =
            EnumSet.of(RdmaBatch.Op.READ, RdmaBatch.Op.COMPARE_AND_SWAP, RdmaBatch.Op.FETCH_AND_ADD, RdmaBatch.Op.RECV);

    /** The batch of all good records, which also has the copies of their inline data. */
    private final RdmaBatch batch = RdmaBatch.create(40, 1000);

    private final RpmaCompletions completions = RpmaCompletions.create(16);
    private final RdmaInlineData data = RdmaInlineData.create(8);
    private final List<long[]> good = new ArrayList<>();
    private RdmaPair pair;
    private RdmaDatagramPair datagrams;
    private RdmaId owner;
    private RdmaSrq srq;
    private RdmaPair sharing;
    private RdmaMr region;

    @BeforeEach
    void connect() throws InterruptedException {
        pair = RdmaPair.connect();
        datagrams = RdmaDatagramPair.connect();
        owner = RdmaId.create(RdmaPortSpace.TCP);
        owner.bindAddr(RdmaPair.address(0));
        srq = owner.createSrq(16, 4);
        sharing = RdmaPair.connect(attr().srq(srq), attr());
        region = RdmaMr.regMsgs(datagrams.client, ByteBuffer.allocateDirect(SIZE));
    }

    @AfterEach
    void close() {
        region.close();
        sharing.close();
        owner.close();
        datagrams.close();
        pair.close();
    }

    private static int constant(String name) throws ReflectiveOperationException {
        Field field = RdmaBatch.class.getDeclaredField(name);
        field.setAccessible(true);
        return field.getInt(null);
    }

    private BatchRecords records() throws ReflectiveOperationException {
        Field field = RdmaBatch.class.getDeclaredField("records");
        field.setAccessible(true);
        return (BatchRecords) field.get(batch);
    }

    /** Records each kind of operation for each kind of queue. */
    private void recordAll() throws ReflectiveOperationException {
        for (RdmaPost post : RdmaPost.recorded().toList()) {
            assertThat(post.record(batch, new RdmaPost.Arguments(pair)))
                    .as(post.method())
                    .isTrue();
        }
        RdmaQp client = datagrams.client.qp();
        assertThat(batch.recv(client, region, 0, SIZE, 1)
                        & batch.recv(srq, region, 0, SIZE, 1)
                        & batch.writeInline(sharing.client.qp(), data, 8, F_SIGNALED, 0, 0, 1))
                .isTrue();
        int fields = constant("FIELDS");
        for (int i = 0; i < batch.count(); i++) {
            good.add(Arrays.copyOfRange(records().array(), i * fields, (i + 1) * fields));
        }
        batch.clear();
    }

    private boolean isRefused(long[] record) throws ReflectiveOperationException {
        RdmaBatch.Op op = RdmaBatch.Op.values()[(int) record[constant("WHAT")] & 0xff];
        long queue = record[constant("QUEUE")];
        RdmaQp client = datagrams.client.qp();
        boolean ofDatagrams = queue == client.sendQueue() || queue == client.recvQueue();
        boolean isInline = (record[constant("SOURCE")] & 0xff) == constant("INLINE");
        if (isInline && NEVER_INLINE.contains(op)) {
            return true;
        }
        if (op == RdmaBatch.Op.RECV) {
            return queue == sharing.client.qp().sendQueue();
        }
        return queue == RdmaSrq.use(srq) || ofDatagrams;
    }

    /** Posts a record. Returns whether it was refused; a handle of 0 is closed, and a full queue is no refusal. */
    private boolean isRefusedByPost(long[] record) throws ReflectiveOperationException {
        return isRefused(record, batch::post);
    }

    /**
     * Posts a record as a prepared batch, if this has such operations; otherwise returns whether the record is refused.
     */
    private boolean isRefusedByPreparedPost(long[] record) throws ReflectiveOperationException {
        boolean isPrepared = (record[constant("WHAT")] & 0xff) <= RdmaBatch.Op.SEND_WITH_IMM.ordinal();
        if (isPrepared) {
            return isRefused(record, () -> batch.prepare().post());
        }
        assertThatIllegalArgumentException().isThrownBy(() -> isRefused(record, batch::prepare));
        return isRefused(record);
    }

    private boolean isRefused(long[] record, Runnable post) throws ReflectiveOperationException {
        BatchRecords records = records();
        int next = records.next();
        System.arraycopy(record, 0, records.array(), next, record.length);
        records.add(next + record.length);
        try {
            post.run();
            return false;
        } catch (RpmaException e) {
            assertThat(e.errnoName()).isEqualTo("EINVAL");
            return true;
        } catch (IllegalStateException e) {
            assertThat(e).hasMessageEndingWith(" closed");
            assertThat(record[constant("QUEUE")] == 0 || record[constant("MR")] == 0)
                    .as("an omitted handle in %s", Arrays.toString(record))
                    .isTrue();
            return isRefused(record);
        } finally {
            batch.clear();
            makeRoom();
        }
    }

    /** Completes what was posted: behind a full queue, the device does not look at an operation. */
    private void makeRoom() {
        pair.server.qp().postRecv(pair.serverMr, 0, SIZE, 1);
        for (RdmaId id : new RdmaId[] {pair.client, pair.server, datagrams.client, sharing.client}) {
            id.qp().pollSendComp(completions);
            id.qp().pollRecvComp(completions);
        }
    }

    @Test
    void aFieldOfAnotherRecord() throws Exception {
        recordAll();
        int refused = 0;
        for (long[] one : good) {
            for (long[] other : good) {
                for (int field = 0; field < one.length; field++) {
                    long[] mixed = one.clone();
                    mixed[field] = other[field];
                    boolean expected = isRefused(mixed);
                    assertThat(isRefusedByPost(mixed))
                            .as("field %d of %s, else %s", field, Arrays.toString(other), Arrays.toString(one))
                            .isEqualTo(expected);
                    assertThat(isRefusedByPreparedPost(mixed))
                            .as(
                                    "prepared: field %d of %s, else %s",
                                    field, Arrays.toString(other), Arrays.toString(one))
                            .isEqualTo(expected);
                    refused += expected ? 1 : 0;
                }
            }
        }
        assertThat(refused).isPositive();
    }

    /** The first and the last fields of two records: threads fill and copy records in this order. */
    @Test
    void theBeginningOfAnotherRecord() throws Exception {
        recordAll();
        for (long[] one : good) {
            for (long[] other : good) {
                for (int fields = 1; fields < one.length; fields++) {
                    long[] mixed = one.clone();
                    System.arraycopy(other, 0, mixed, 0, fields);
                    assertThat(isRefusedByPost(mixed))
                            .as("%d fields of %s, then %s", fields, Arrays.toString(other), Arrays.toString(one))
                            .isEqualTo(isRefused(mixed));
                    assertThat(isRefusedByPreparedPost(mixed))
                            .as(
                                    "prepared: %d fields of %s, then %s",
                                    fields, Arrays.toString(other), Arrays.toString(one))
                            .isEqualTo(isRefused(mixed));
                }
            }
        }
    }

    @Test
    void goodRecordsAreNotRefused() throws Exception {
        recordAll();
        assertThat(good).hasSize((int) RdmaPost.recorded().count() + 3);
        for (long[] record : good) {
            assertThat(isRefused(record)).isFalse();
            assertThat(isRefusedByPost(record)).as(Arrays.toString(record)).isFalse();
            assertThat(batch.posted()).as(Arrays.toString(record)).isOne();
            assertThat(isRefusedByPreparedPost(record))
                    .as(Arrays.toString(record))
                    .isFalse();
        }
    }

    /** Memory that no record was copied to. */
    @Test
    void anEmptyRecordIsClosed() throws Exception {
        BatchRecords records = records();
        records.add(records.next() + constant("FIELDS"));
        assertThatIllegalStateException()
                .isThrownBy(batch::post)
                .withMessage("ibv_post_send with context 0: its id is closed");
    }
}
