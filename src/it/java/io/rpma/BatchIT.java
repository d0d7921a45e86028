// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rpma.internal.Logged;
import io.rpma.testing.Limit;
import io.rpma.testing.Pair;
import io.rpma.testing.Regions;
import io.rpma.testing.TestDevice;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Many posts in one downcall: their results, and the content of the batch after a post that fails. */
class BatchIT extends WithConnection {
    private static final int SIZE = 4096;
    private static final int ALWAYS = RpmaConn.F_COMPLETION_ALWAYS;
    private static final int ON_ERROR = RpmaConn.F_COMPLETION_ON_ERROR;

    private final RpmaBatch batch = RpmaBatch.create(16);

    BatchIT() {
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
        assertTrue(recorded, "the batch is full");
    }

    private void write(RpmaBatch to, RpmaConn conn, long context) {
        assertRecorded(to.write(conn, regions.remote, 0, regions.local, 0, 8, ALWAYS, context));
    }

    private static void assertDone(RpmaConn conn, long first, long last) throws InterruptedException {
        for (long context = first; context <= last; context++) {
            Pair.assertDone(conn, context);
        }
    }

    @Test
    void everyOperationOnOtherSidesMemory() throws InterruptedException {
        ByteBuffer sent = local();
        RpmaConn client = pair.client;
        assertRecorded(batch.write(client, regions.remote, 64, regions.local, 128, 32, ALWAYS, 1));
        assertRecorded(batch.flush(client, regions.remote, 64, 32, RpmaFlushType.VISIBILITY, ALWAYS, 2));
        assertRecorded(batch.atomicWrite(client, regions.remote, 8, Long.MIN_VALUE + 5, ALWAYS, 3));
        assertRecorded(batch.writeAtomic(client, regions.remote, 16, regions.local, 3, ALWAYS, 4));
        assertRecorded(batch.write(client, ALWAYS, 5));
        assertRecorded(batch.read(client, ALWAYS, 6));
        assertRecorded(batch.read(client, regions.local, 1024, regions.remote, 64, 32, ALWAYS, -7));
        assertEquals(7, batch.count());

        assertEquals(7, batch.post());
        assertEquals(7, batch.posted());
        assertEquals(0, batch.count());
        assertDone(client, 1, 6);
        Pair.assertDone(client, -7);
        assertEquals(sent.slice(128, 32), target().slice(64, 32));
        assertEquals(sent.slice(128, 32), local().slice(1024, 32));
        assertEquals(Long.MIN_VALUE + 5, target().getLong(8));
        assertEquals(sent.getLong(3), target().getLong(16));
        assertEquals(0, target().getLong(24));
        assertEquals(ByteBuffer.allocate(SIZE - 96), target().slice(96, SIZE - 96));
    }

    @Tag("empty-receives")
    @Tag("immediate-data")
    @Test
    void everyOperationWithMessages() throws InterruptedException {
        RpmaConn client = pair.client;
        RpmaConn server = pair.server;
        assertRecorded(batch.recv(server, regions.target, 0, 64, 11));
        assertRecorded(batch.recv(server, regions.target, 64, 64, 12));
        for (int i = 13; i <= 16; i++) {
            assertRecorded(batch.recv(server, i));
        }
        assertRecorded(batch.send(client, regions.local, 100, 20, ALWAYS, 1));
        assertRecorded(batch.sendWithImm(client, regions.local, 200, 30, ALWAYS, Integer.MIN_VALUE, 2));
        assertRecorded(batch.send(client, ALWAYS, 3));
        assertRecorded(batch.sendWithImm(client, ALWAYS, -1, 4));
        assertRecorded(batch.writeWithImm(client, regions.remote, 512, regions.local, 0, 40, ALWAYS, 5, 5));
        assertRecorded(batch.writeWithImm(client, ALWAYS, 0x12345678, 6));
        assertEquals(12, batch.post());

        assertDone(client, 1, 6);
        assertReceived(11, 20, 0);
        assertReceived(12, 30, Integer.MIN_VALUE);
        assertReceived(13, 0, 0);
        assertReceived(14, 0, -1);
        assertReceived(15, 40, 5);
        assertReceived(16, 0, 0x12345678);
        assertEquals(local().slice(100, 20), target().slice(0, 20));
        assertEquals(local().slice(200, 30), target().slice(64, 30));
        assertEquals(local().slice(0, 40), target().slice(512, 40));
    }

    /** Immediate data of 0 stands for none. */
    private void assertReceived(long context, int length, int imm) throws InterruptedException {
        RpmaCompletions received = Pair.assertDone(pair.server.getCq(), context);
        assertEquals(length, received.byteLen(0));
        assertEquals(imm != 0, received.hasImmData(0));
        if (imm != 0) {
            assertEquals(imm, received.immData(0));
        }
    }

    @Tag("empty-receives")
    @Test
    void severalConnectionsAndASharedReceiveQueue() throws InterruptedException {
        try (RpmaSrq srq = RpmaSrq.create(peer, null);
                RpmaConnCfg cfg = RpmaConnCfg.create().setSrq(srq);
                Pair other = Pair.connect(peer, null, cfg)) {
            assertThrows(IllegalStateException.class, () -> batch.recv(other.server, 1));
            assertThrows(IllegalStateException.class, () -> batch.recv(other.server, regions.target, 0, 64, 1));
            // disjoint from the range of the writes, which may arrive after the message
            assertRecorded(batch.recv(srq, regions.target, 512, 64, 21));
            assertRecorded(batch.recv(srq, 22));
            for (int i = 1; i <= 4; i++) {
                assertRecorded(batch.write(pair.client, regions.remote, 0, regions.local, 0, 8, ALWAYS, i));
                assertRecorded(batch.write(other.client, regions.remote, 8, regions.local, 8, 8, ALWAYS, 10 + i));
            }
            assertRecorded(batch.send(other.client, regions.local, 256, 64, ALWAYS, 15));
            assertRecorded(batch.send(other.client, ALWAYS, 16));
            assertEquals(12, batch.post());
            assertDone(pair.client, 1, 4);
            assertDone(other.client, 11, 16);
            RpmaCq rcq = srq.getRcq().orElseThrow();
            assertEquals(64, Pair.assertDone(rcq, 21).byteLen(0));
            assertEquals(0, Pair.assertDone(rcq, 22).byteLen(0));
            assertEquals(local().slice(256, 64), target().slice(512, 64));
        }
    }

    @Test
    void completionsOnlyOnError() throws InterruptedException {
        for (int i = 1; i < 8; i++) {
            assertRecorded(batch.write(pair.client, regions.remote, 8 * i, regions.local, 8 * i, 8, ON_ERROR, i));
        }
        write(batch, pair.client, 8);
        assertEquals(8, batch.post());
        Pair.assertDone(pair.client, 8);
        assertEquals(0, pair.client.getCq().poll(RpmaCompletions.create(1)));
        assertEquals(local().slice(0, 64), target().slice(0, 64));
    }

    @Test
    void theValueIsReadWhenPosted() throws InterruptedException {
        local().putLong(0, 1);
        assertRecorded(batch.writeAtomic(pair.client, regions.remote, 0, regions.local, 0, ALWAYS, 1));
        local().putLong(0, 2);
        assertEquals(1, batch.post());
        local().putLong(0, 3);
        Pair.assertDone(pair.client, 1);
        assertEquals(2, target().getLong(0));
    }

    /** The batch has more posts than one mark covers. */
    @Test
    void aLargeBatchInAQueueThatTakesIt() throws InterruptedException {
        int many = 200;
        try (RpmaConnCfg cfg = RpmaConnCfg.create().setSqSize(many).setCqSize(many);
                Pair large = Pair.connect(peer, cfg, null)) {
            RpmaBatch all = RpmaBatch.create(many);
            for (int i = 0; i < many; i++) {
                write(all, large.client, i);
            }
            assertEquals(many, all.post());
            assertDone(large.client, 0, many - 1);
        }
    }

    /** Connects with a small send queue and a completion queue with room for all completions. */
    private Pair connectWithASmallQueue() throws InterruptedException {
        try (RpmaConnCfg cfg = RpmaConnCfg.create().setSqSize(10).setCqSize(500)) {
            return Pair.connect(peer, cfg, null);
        }
    }

    /** The message comes first and blocks all other posts until the other side posts a receive. */
    @Tag("empty-receives")
    @Tag("full-queues")
    @Test
    void aFullQueueIsAnAnswer() throws InterruptedException {
        int many = 300;
        RpmaBatch all = RpmaBatch.create(many);
        try (Pair small = connectWithASmallQueue();
                Logged log = new Logged()) {
            assertRecorded(all.send(small.client, ALWAYS, 0));
            for (int i = 1; i < many; i++) {
                write(all, small.client, i);
            }
            assertFalse(all.write(small.client, ALWAYS, many));
            int posted = all.post();
            assertTrue(posted > 0 && posted < many, posted + " fit into the queue");
            assertEquals(posted, all.posted());
            assertEquals(many - posted, all.count());
            assertTrue(small.server.recv(1));
            assertDone(small.client, 0, posted - 1);
            for (int done = posted; done < many; done += posted) {
                posted = all.post();
                assertTrue(posted > 0, "no room");
                assertDone(small.client, done, done + posted - 1);
            }
            assertEquals(0, all.count());
            assertEquals(List.of(), log.messages());
        }
    }

    /** Refills the batch before it is empty. Its capacity is prime, so that each slot becomes the first. */
    @Test
    void aBatchThatIsFilledUpAgainKeepsItsOrder() throws InterruptedException {
        int many = 1000;
        RpmaBatch some = RpmaBatch.create(101);
        try (Pair small = connectWithASmallQueue()) {
            int recorded = 0;
            int done = 0;
            while (done < many) {
                while (recorded < many
                        && some.write(
                                small.client,
                                regions.remote,
                                0,
                                regions.local,
                                8L * (recorded % 512),
                                8,
                                ALWAYS,
                                recorded)) {
                    recorded++;
                }
                assertEquals(done, some.firstOpContext());
                int posted = some.post();
                assertTrue(posted > 0, "no room");
                assertDone(small.client, done, done + posted - 1);
                done += posted;
                assertEquals(local().getLong(8 * ((done - 1) % 512)), target().getLong(0));
            }
            assertEquals(0, some.count());
        }
    }

    /** The order holds across connections too. A receive occupies its queue until a message arrives. */
    @Tag("empty-receives")
    @Test
    void aFullQueueHoldsUpWhatIsRecordedAfter() throws InterruptedException {
        try (Pair small = connectWithASmallQueue()) {
            int filled = 0;
            while (small.client.recv(filled)) {
                filled++;
            }
            write(batch, pair.client, 1);
            assertRecorded(batch.recv(small.client, filled));
            write(batch, pair.client, 2);
            assertEquals(1, batch.post());
            assertEquals(2, batch.count());
            assertEquals(filled, batch.firstOpContext());
            Pair.assertDone(pair.client, 1);
            assertEquals(0, batch.post(), "without a message there is no room");
            assertTrue(small.server.send(ALWAYS, 3));
            Pair.assertDone(small.server, 3);
            Pair.assertDone(small.client, 0);
            assertEquals(2, batch.post());
            Pair.assertDone(pair.client, 2);
        }
    }

    /** Expects that the second of the three recorded operations can't be posted. */
    private <T extends RuntimeException> T assertStopsInTheMiddle(Class<T> type) throws InterruptedException {
        T failure = assertThrows(type, batch::post);
        assertEquals(1, batch.posted());
        assertEquals(2, batch.count());
        assertEquals(2, batch.firstOpContext());
        Pair.assertDone(pair.client, 1);
        assertEquals(failure.getMessage(), assertThrows(type, batch::post).getMessage());
        assertEquals(0, batch.posted());
        assertEquals(2, batch.count());
        batch.removeFirst();
        assertEquals(1, batch.post());
        Pair.assertDone(pair.client, 3);
        return failure;
    }

    @Test
    void aConnectionThatIsClosed() throws InterruptedException {
        Pair other = Pair.connect(peer, null, null);
        write(batch, pair.client, 1);
        write(batch, other.client, 2);
        write(batch, pair.client, 3);
        other.close();
        assertEquals(
                "rpma_write with opContext 2: its connection is closed",
                assertStopsInTheMiddle(IllegalStateException.class).getMessage());
    }

    @Test
    void aLocalRegionThatIsClosed() throws InterruptedException {
        RpmaMrLocal closed = peer.register(regions.localMemory, Regions.ALL);
        write(batch, pair.client, 1);
        assertRecorded(batch.read(pair.client, closed, 0, regions.remote, 0, 8, ALWAYS, 2));
        write(batch, pair.client, 3);
        closed.close();
        assertEquals(
                "rpma_read with opContext 2: its local region is closed",
                assertStopsInTheMiddle(IllegalStateException.class).getMessage());
    }

    @Test
    void aRemoteRegionThatIsClosed() throws InterruptedException {
        RpmaMrRemote closed = Pair.remote(regions.target);
        write(batch, pair.client, 1);
        assertRecorded(batch.atomicWrite(pair.client, closed, 0, 8, ALWAYS, 2));
        write(batch, pair.client, 3);
        closed.close();
        assertEquals(
                "rpma_atomic_write with opContext 2: its remote region is closed",
                assertStopsInTheMiddle(IllegalStateException.class).getMessage());
    }

    @Test
    void aSharedReceiveQueueThatIsClosed() throws InterruptedException {
        RpmaSrq closed = RpmaSrq.create(peer, null);
        write(batch, pair.client, 1);
        assertRecorded(batch.recv(closed, 2));
        write(batch, pair.client, 3);
        closed.close();
        assertEquals(
                "rpma_srq_recv with opContext 2: its shared receive queue is closed",
                assertStopsInTheMiddle(IllegalStateException.class).getMessage());
    }

    @Tag("infiniband-cm")
    @Test
    void aConnectionThatIsNotEstablished() throws InterruptedException {
        try (RpmaEp ep = RpmaEp.listen(peer, TestDevice.address(), port);
                RpmaConn client = RpmaConnReq.create(peer, TestDevice.address(), port, null)
                        .connect()) {
            write(batch, pair.client, 1);
            write(batch, client, 2);
            write(batch, pair.client, 3);
            RpmaException failure = assertStopsInTheMiddle(RpmaException.class);
            assertEquals(RpmaError.PROVIDER, failure.error());
            assertTrue(failure.getMessage().contains("rpma_write"), failure.getMessage());
            assertTrue(failure.detail().contains("ibv_post_send"), failure.detail());
            ep.nextConnReq(null, Limit.WAIT_S, TimeUnit.SECONDS).orElseThrow().close();
        }
    }

    @Test
    void aFlushThatIsNotSupported() throws InterruptedException {
        write(batch, pair.client, 1);
        assertRecorded(batch.flush(pair.client, regions.remote, 0, 8, RpmaFlushType.PERSISTENT, ALWAYS, 2));
        write(batch, pair.client, 3);
        assertEquals(
                RpmaError.NOSUPP, assertStopsInTheMiddle(RpmaException.class).error());
    }

    @Test
    void whatIsDroppedIsNotPosted() throws InterruptedException {
        for (int i = 1; i <= 4; i++) {
            write(batch, pair.client, i);
        }
        batch.removeFirst();
        batch.removeFirst();
        assertEquals(2, batch.post());
        assertDone(pair.client, 3, 4);
        write(batch, pair.client, 5);
        batch.clear();
        write(batch, pair.client, 6);
        assertEquals(1, batch.post());
        Pair.assertDone(pair.client, 6);
    }

    @Test
    void canBeUsedAgainAndAgain() throws InterruptedException {
        RpmaBatch one = RpmaBatch.create(1);
        for (int i = 0; i < 100; i++) {
            write(one, pair.client, i);
            assertFalse(one.read(pair.client, ALWAYS, -1));
            assertEquals(1, one.post());
            Pair.assertDone(pair.client, i);
            for (int j = 0; j <= i % 8; j++) {
                write(batch, pair.client, j);
            }
            assertEquals(1 + i % 8, batch.post());
            assertDone(pair.client, 0, i % 8);
        }
    }

    @Test
    void outlivesItsConnections() throws InterruptedException {
        write(batch, pair.client, 1);
        pair.close();
        assertThrows(IllegalStateException.class, batch::post);
        batch.clear();
        pair = Pair.connect(peer, null, null);
        write(batch, pair.client, 2);
        assertEquals(1, batch.post());
        Pair.assertDone(pair.client, 2);
    }
}
