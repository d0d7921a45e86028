// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rpma.testing.Pair;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The 32 bits that come along with a message or a write. */
class ImmediateDataIT extends WithConnection {
    private static final int SIZE = 4096;
    private static final int ALWAYS = RpmaConn.F_COMPLETION_ALWAYS;

    ImmediateDataIT() {
        super(SIZE);
    }

    @BeforeEach
    void fill() {
        regions.fillLocal(1);
    }

    private static void assertImmData(int expected, RpmaCompletions completions) {
        assertTrue(completions.hasImmData(0));
        assertEquals(expected, completions.immData(0));
    }

    @Tag("immediate-data")
    @Test
    void withAMessage() throws InterruptedException {
        for (int imm : new int[] {0x11223344, 0, 1, -1, Integer.MIN_VALUE, Integer.MAX_VALUE}) {
            Pair.assertPosted(pair.server.recv(regions.target, 0, 8, 1));
            Pair.assertPosted(pair.client.sendWithImm(regions.local, 16, 7, ALWAYS, imm, 2));
            RpmaCompletions completions = Pair.assertDone(pair.server.getCq(), 1);
            assertEquals(RpmaWcOpcode.RECV, completions.opcode(0));
            assertEquals(7, completions.byteLen(0));
            assertImmData(imm, completions);
            Pair.assertDone(pair.client, 2);
        }
        assertEquals(regions.localMemory.buffer(16, 7), regions.remoteMemory.buffer(0, 7));
    }

    @Tag("immediate-data")
    @Test
    void withAWriteThatLeavesTheReceiveAlone() throws InterruptedException {
        Pair.assertPosted(pair.server.recv(regions.target, 0, 8, 1));
        Pair.assertPosted(
                pair.client.writeWithImm(regions.remote, 100, regions.local, 200, 300, ALWAYS, 0x55667788, 2));
        RpmaCompletions completions = Pair.assertDone(pair.server.getCq(), 1);
        assertEquals(RpmaWcOpcode.RECV_RDMA_WITH_IMM, completions.opcode(0));
        assertEquals(300, completions.byteLen(0));
        assertImmData(0x55667788, completions);
        assertEquals(
                RpmaWcOpcode.RDMA_WRITE, Pair.assertDone(pair.client.getCq(), 2).opcode(0));
        assertEquals(regions.localMemory.buffer(200, 300), regions.remoteMemory.buffer(100, 300));
        assertEquals(ByteBuffer.allocate(100), regions.remoteMemory.buffer(0, 100));
    }

    @Test
    void notWithAPlainMessage() throws InterruptedException {
        Pair.assertPosted(pair.server.recv(regions.target, 0, 8, 1));
        Pair.assertPosted(pair.client.send(regions.local, 0, 8, ALWAYS, 2));
        RpmaCompletions completions = Pair.assertDone(pair.server.getCq(), 1);
        String message = assertThrows(IllegalStateException.class, () -> completions.immData(0))
                .getMessage();
        assertTrue(message.contains("RECV") && message.contains("no immediate data"), message);
        assertThrows(IndexOutOfBoundsException.class, () -> completions.immData(1));
        assertThrows(IndexOutOfBoundsException.class, () -> completions.hasImmData(-1));
    }

    @Test
    void notWithAReceiveThatFailed() throws InterruptedException {
        Pair.assertPosted(pair.server.recv(regions.target, 0, 8, 1));
        pair.server.disconnect();
        RpmaCompletions failed = Pair.assertCompletion(pair.server, 1, RpmaWcStatus.WR_FLUSH_ERR);
        assertThrows(IllegalStateException.class, () -> failed.immData(0));
        assertThrows(IllegalStateException.class, () -> failed.hasImmData(0));
    }

    @Tag("immediate-data")
    @Test
    void aWriteWaitsForAReceive() throws InterruptedException {
        Pair.assertPosted(pair.client.writeWithImm(regions.remote, 0, regions.local, 0, 8, ALWAYS, 5, 1));
        RpmaCompletions completions = RpmaCompletions.create(1);
        assertEquals(0, pair.client.getCq().await(completions, 100, TimeUnit.MILLISECONDS));
        Pair.assertPosted(pair.server.recv(2));
        assertImmData(5, Pair.assertDone(pair.server.getCq(), 2));
        Pair.assertDone(pair.client, 1);
    }

    @Tag("immediate-data")
    @Test
    void aWriteThatNobodyReceivesEndsWithDisconnect() throws InterruptedException {
        Pair.assertPosted(pair.client.writeWithImm(regions.remote, 0, regions.local, 0, 8, ALWAYS, 5, 1));
        pair.client.disconnect();
        Pair.assertCompletion(pair.client, 1, RpmaWcStatus.WR_FLUSH_ERR);
    }

    private boolean writeWithImm(long dstOffset, long srcOffset, long length, int flags) {
        return pair.client.writeWithImm(regions.remote, dstOffset, regions.local, srcOffset, length, flags, 5, 1);
    }

    @Test
    void wrongArgumentsOfAWrite() {
        for (long[] bad : new long[][] {{-1, 1}, {SIZE, 1}, {0, -1}, {1, SIZE}, {Long.MAX_VALUE, 1}}) {
            assertThrows(IndexOutOfBoundsException.class, () -> writeWithImm(bad[0], 0, bad[1], ALWAYS));
            assertThrows(IndexOutOfBoundsException.class, () -> writeWithImm(0, bad[0], bad[1], ALWAYS));
        }
        assertThrows(IllegalArgumentException.class, () -> writeWithImm(0, 0, 1L << 31, ALWAYS));
        for (int flags : new int[] {0, 2, 4, -1}) {
            assertThrows(IllegalArgumentException.class, () -> writeWithImm(0, 0, 1, flags));
        }
        RpmaMrLocal noLocal = null;
        RpmaMrRemote noRemote = null;
        assertThrows(
                NullPointerException.class,
                () -> pair.client.writeWithImm(noRemote, 0, regions.local, 0, 1, ALWAYS, 1, 1));
        assertThrows(
                NullPointerException.class,
                () -> pair.client.writeWithImm(regions.remote, 0, noLocal, 0, 1, ALWAYS, 1, 1));
        try (RpmaMrLocal other = pair.peer.register(regions.localMemory, RpmaMrUsage.SEND);
                RpmaMrRemote remote = Pair.remote(other)) {
            assertThrows(
                    IllegalArgumentException.class,
                    () -> pair.client.writeWithImm(remote, 0, regions.local, 0, 1, ALWAYS, 1, 1));
            assertThrows(
                    IllegalArgumentException.class,
                    () -> pair.client.writeWithImm(regions.remote, 0, other, 0, 1, ALWAYS, 1, 1));
        }
        regions.remote.close();
        assertThrows(IllegalStateException.class, () -> writeWithImm(0, 0, 1, ALWAYS));
    }
}
