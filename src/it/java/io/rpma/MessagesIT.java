// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rpma.internal.Logged;
import io.rpma.testing.Limit;
import io.rpma.testing.Pair;
import io.rpma.testing.TestDevice;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** Messages: sends with a receive, without one or with one that is too small, and full queues. */
@Tag("aarch64")
class MessagesIT extends WithConnection {
    private static final int SIZE = 1 << 16;
    private static final int QUEUE = 8;

    /** Larger than any queue that the device makes for QUEUE: the other queues fill up before this one overflows. */
    private static final int CQ_SIZE = 512;

    private static final int ALWAYS = RpmaConn.F_COMPLETION_ALWAYS;

    MessagesIT() {
        super(SIZE);
    }

    @BeforeEach
    void fill() {
        regions.fillLocal(1);
    }

    @Override
    RpmaConnCfg cfg() {
        return RpmaConnCfg.create().setSqSize(QUEUE).setRqSize(QUEUE).setCqSize(CQ_SIZE);
    }

    private boolean send(long offset, long length, long context) {
        return pair.client.send(regions.local, offset, length, ALWAYS, context);
    }

    private boolean recv(long offset, long length, long context) {
        return pair.server.recv(regions.target, offset, length, context);
    }

    private ByteBuffer sent(int offset, int length) {
        return regions.localMemory.buffer(offset, length);
    }

    private ByteBuffer received(int offset, int length) {
        return regions.remoteMemory.buffer(offset, length);
    }

    @Test
    void aMessageGoesIntoTheReceive() throws InterruptedException {
        Pair.assertPosted(recv(100, 50, 7));
        Pair.assertPosted(send(200, 30, 8));
        RpmaCompletions completions = Pair.assertDone(pair.server.getCq(), 7);
        assertEquals(RpmaWcOpcode.RECV, completions.opcode(0));
        assertEquals(30, completions.byteLen(0));
        assertEquals(pair.server.getQpNum(), completions.qpNum(0));
        assertFalse(completions.hasImmData(0));
        assertEquals(RpmaWcOpcode.SEND, Pair.assertDone(pair.client.getCq(), 8).opcode(0));
        assertEquals(sent(200, 30), received(100, 30));
        assertEquals(ByteBuffer.allocate(100), received(0, 100));
        assertEquals(ByteBuffer.allocate(20), received(130, 20));
    }

    @Test
    void aMessageOfManyPackets() throws InterruptedException {
        Pair.assertPosted(recv(0, SIZE, 7));
        Pair.assertPosted(send(0, SIZE, 8));
        assertEquals(SIZE, Pair.assertDone(pair.server.getCq(), 7).byteLen(0));
        assertEquals(sent(0, SIZE), received(0, SIZE));
    }

    @Test
    void messagesTakeTheReceivesInOrder() throws InterruptedException {
        for (int i = 0; i < QUEUE; i++) {
            Pair.assertPosted(recv(64 * i, 64, i));
        }
        for (int i = 0; i < QUEUE; i++) {
            Pair.assertPosted(send(64 * i, i + 1, 100 + i));
        }
        for (int i = 0; i < QUEUE; i++) {
            assertEquals(i + 1, Pair.assertDone(pair.server.getCq(), i).byteLen(0));
            Pair.assertDone(pair.client, 100 + i);
            assertEquals(sent(64 * i, i + 1), received(64 * i, i + 1));
        }
    }

    @Test
    void bothSidesSend() throws InterruptedException {
        for (int i = 0; i < 3 * QUEUE; i++) {
            RpmaConn from = i % 2 == 0 ? pair.client : pair.server;
            RpmaConn to = i % 2 == 0 ? pair.server : pair.client;
            Pair.assertPosted(to.recv(regions.target, i, 1, i));
            Pair.assertPosted(from.send(regions.local, i, 1, RpmaConn.F_COMPLETION_ON_ERROR, i));
            Pair.assertDone(to, i);
            Pair.assertPosted(from.write(ALWAYS, 1000));
            Pair.assertDone(from, 1000);
        }
        assertEquals(sent(0, 3 * QUEUE), received(0, 3 * QUEUE));
    }

    @Test
    void receivesOfRequestsAreThereFromTheBeginning() throws InterruptedException {
        try (RpmaEp ep = RpmaEp.listen(peer, TestDevice.address(), port)) {
            RpmaConnReq outgoing = RpmaConnReq.create(peer, TestDevice.address(), port, null);
            Pair.assertPosted(outgoing.recv(regions.target, 0, 8, 1));
            try (RpmaConn client = outgoing.connect()) {
                RpmaConnReq incoming =
                        ep.nextConnReq(null, Limit.WAIT_S, TimeUnit.SECONDS).orElseThrow();
                Pair.assertPosted(incoming.recv(regions.target, 8, 8, 2));
                try (RpmaConn server = incoming.connect()) {
                    assertClosed(() -> incoming.recv(regions.target, 8, 8, 3));
                    Pair.assertEvent(RpmaConnEvent.ESTABLISHED, client);
                    Pair.assertPosted(client.send(regions.local, 8, 8, ALWAYS, 4));
                    Pair.assertDone(server, 2);
                    // before the server's message: the order of a send's and a receive's completion is not defined
                    Pair.assertDone(client, 4);
                    Pair.assertEvent(RpmaConnEvent.ESTABLISHED, server);
                    Pair.assertPosted(server.send(regions.local, 0, 8, ALWAYS, 5));
                    Pair.assertDone(client, 1);
                    assertEquals(sent(0, 16), received(0, 16));
                }
            }
        }
    }

    @Tag("remote-errors")
    @Test
    void aMessageLongerThanItsReceiveBreaksTheConnection() throws InterruptedException {
        Pair.assertPosted(recv(0, 8, 1));
        Pair.assertPosted(recv(0, 8, 2));
        Pair.assertPosted(send(0, 9, 3));
        RpmaCompletions failed = Pair.assertTooLong(pair.server.getCq(), 1, pair.client.getCq(), 3);
        assertThrows(IllegalStateException.class, () -> failed.byteLen(0));
        assertThrows(IllegalStateException.class, () -> failed.hasImmData(0));
        Pair.assertCompletion(pair.server, 2, RpmaWcStatus.WR_FLUSH_ERR);
        Pair.assertPosted(send(0, 1, 4));
        Pair.assertCompletion(pair.client, 4, RpmaWcStatus.WR_FLUSH_ERR);
    }

    @Tag("remote-errors")
    @Test
    void aMessageWaitsForItsReceive() throws InterruptedException {
        Pair.assertPosted(send(0, 8, 1));
        Pair.assertPosted(pair.client.write(ALWAYS, 2));
        RpmaCompletions completions = RpmaCompletions.create(1);
        assertEquals(0, pair.client.getCq().await(completions, 100, TimeUnit.MILLISECONDS));
        Pair.assertPosted(recv(0, 8, 3));
        Pair.assertDone(pair.server, 3);
        Pair.assertDone(pair.client, 1);
        Pair.assertDone(pair.client, 2);
    }

    @Tag("remote-errors")
    @Test
    void disconnectEndsWhatWaits() throws InterruptedException {
        Pair.assertPosted(send(0, 8, 1));
        Pair.assertPosted(pair.client.recv(regions.local, 0, 8, 2));
        pair.client.disconnect();
        RpmaCompletions completions = RpmaCompletions.create(1);
        long seen = 0;
        for (int i = 0; i < 2; i++) {
            assertEquals(1, pair.client.getCq().await(completions, Limit.WAIT_S, TimeUnit.SECONDS));
            assertEquals(RpmaWcStatus.WR_FLUSH_ERR, completions.status(0));
            seen += completions.wrId(0);
        }
        assertEquals(3, seen, "each of the two once");
    }

    /** Posts until there is no room, and returns how many fit. */
    private static int fill(BooleanSupplier post) {
        try (Logged log = new Logged()) {
            int posted = 0;
            while (posted < CQ_SIZE && post.getAsBoolean()) {
                posted++;
            }
            assertTrue(posted >= QUEUE, "room for " + posted + " only");
            assertTrue(posted < CQ_SIZE, "the queue never was full");
            assertFalse(post.getAsBoolean());
            assertEquals(List.of(), log.messages());
            return posted;
        }
    }

    @Test
    void aFullReceiveQueue() throws InterruptedException {
        fill(() -> recv(0, 8, 1));
        assertFalse(pair.server.recv(2));
        Pair.assertPosted(send(0, 8, 3));
        Pair.assertDone(pair.server, 1);
        Pair.assertPosted(recv(0, 8, 1));
        assertFalse(recv(0, 8, 1));
    }

    @Test
    void aFullReceiveQueueOfARequest() {
        try (RpmaConnCfg cfg = cfg();
                RpmaConnReq request = RpmaConnReq.create(peer, TestDevice.address(), TestDevice.port(), cfg)) {
            fill(() -> request.recv(regions.target, 0, 8, 1));
        }
    }

    @Tag("remote-errors")
    @Test
    void aSendQueueFullOfMessagesThatNobodyReceives() throws InterruptedException {
        int posted = fill(() -> send(0, 8, 1));
        assertFalse(pair.client.send(ALWAYS, 1));
        assertFalse(pair.client.sendWithImm(regions.local, 0, 8, ALWAYS, 5, 1));
        assertFalse(pair.client.writeWithImm(regions.remote, 0, regions.local, 0, 8, ALWAYS, 5, 1));
        assertFalse(pair.client.writeAtomic(regions.remote, 0, regions.local, 0, ALWAYS, 1));
        pair.client.disconnect();
        for (int i = 0; i < posted; i++) {
            Pair.assertCompletion(pair.client, 1, RpmaWcStatus.WR_FLUSH_ERR);
        }
    }

    @Test
    void nothingOutsideOfARegion() {
        long[][] bad = {{-1, 1}, {0, -1}, {0, SIZE + 1}, {1, SIZE}, {SIZE, 1}, {Long.MAX_VALUE, 1}, {Long.MIN_VALUE, 0}
        };
        try (RpmaConnReq request = RpmaConnReq.create(peer, TestDevice.address(), TestDevice.port(), null)) {
            for (long[] range : bad) {
                assertThrows(IndexOutOfBoundsException.class, () -> send(range[0], range[1], 1));
                assertThrows(
                        IndexOutOfBoundsException.class,
                        () -> pair.client.sendWithImm(regions.local, range[0], range[1], ALWAYS, 1, 1));
                assertThrows(IndexOutOfBoundsException.class, () -> recv(range[0], range[1], 1));
                assertThrows(
                        IndexOutOfBoundsException.class, () -> request.recv(regions.target, range[0], range[1], 1));
            }
            long tooMuch = 1L << 31;
            assertThrows(IllegalArgumentException.class, () -> send(0, tooMuch, 1));
            assertThrows(IllegalArgumentException.class, () -> recv(0, tooMuch, 1));
            assertThrows(IllegalArgumentException.class, () -> request.recv(regions.target, 0, tooMuch, 1));
        }
    }

    private static void assertRefused(RpmaMrUsage needed, Executable post) {
        String message = assertThrows(IllegalArgumentException.class, post).getMessage();
        assertTrue(message.contains("not registered for " + needed), message);
    }

    @Test
    void aRegionThatIsNotRegisteredForIt() {
        try (RpmaMrLocal other = peer.register(regions.localMemory, RpmaMrUsage.READ_DST);
                RpmaConnReq request = RpmaConnReq.create(peer, TestDevice.address(), TestDevice.port(), null)) {
            assertRefused(RpmaMrUsage.SEND, () -> pair.client.send(other, 0, 1, ALWAYS, 1));
            assertRefused(RpmaMrUsage.SEND, () -> pair.client.sendWithImm(other, 0, 1, ALWAYS, 1, 1));
            assertRefused(RpmaMrUsage.RECV, () -> pair.client.recv(other, 0, 1, 1));
            assertRefused(RpmaMrUsage.RECV, () -> request.recv(other, 0, 1, 1));
        }
    }

    @Test
    void otherFlagsAndNulls() {
        for (int flags : new int[] {0, 2, 4, -1, 7}) {
            assertThrows(IllegalArgumentException.class, () -> pair.client.send(regions.local, 0, 1, flags, 1));
            assertThrows(
                    IllegalArgumentException.class, () -> pair.client.sendWithImm(regions.local, 0, 1, flags, 1, 1));
        }
        assertThrows(NullPointerException.class, () -> pair.client.send(null, 0, 1, ALWAYS, 1));
        assertThrows(NullPointerException.class, () -> pair.client.sendWithImm(null, 0, 1, ALWAYS, 1, 1));
        assertThrows(NullPointerException.class, () -> pair.client.recv(null, 0, 1, 1));
    }

    private static void assertClosed(Executable use) {
        String message = assertThrows(IllegalStateException.class, use).getMessage();
        assertTrue(message.contains("is closed"), message);
    }

    @Test
    void closedObjects() {
        RpmaConnReq request = RpmaConnReq.create(peer, TestDevice.address(), TestDevice.port(), null);
        request.close();
        assertClosed(() -> request.recv(regions.target, 0, 1, 1));
        regions.local.close();
        regions.target.close();
        assertClosed(() -> send(0, 1, 1));
        assertClosed(() -> pair.client.sendWithImm(regions.local, 0, 1, ALWAYS, 1, 1));
        assertClosed(() -> recv(0, 1, 1));
        pair.client.close();
        assertClosed(() -> send(0, 1, 1));
        assertClosed(() -> pair.client.recv(1));
        assertClosed(pair.client::getQpNum);
    }

    @Tag("remote-errors")
    @Test
    void aReceiveWhoseRegionIsClosedBreaksTheConnection() throws InterruptedException {
        Pair.assertPosted(recv(0, 8, 1));
        regions.target.close();
        Pair.assertPosted(send(0, 8, 2));
        RpmaCompletions completions = RpmaCompletions.create(1);
        assertEquals(1, pair.client.getCq().await(completions, Limit.WAIT_S, TimeUnit.SECONDS));
        assertFalse(completions.isSuccess(0), completions.toString());
    }
}
