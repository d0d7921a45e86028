// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rpma.testing.Pair;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Reads, writes, atomic writes and flushes: their effects, and the arguments that they refuse. */
@Tag("aarch64")
class TransferIT extends WithConnection {
    private static final int SIZE = 4096;
    private static final int ALWAYS = RpmaConn.F_COMPLETION_ALWAYS;
    private static final int ON_ERROR = RpmaConn.F_COMPLETION_ON_ERROR;

    TransferIT() {
        super(SIZE);
    }

    @BeforeEach
    void fill() {
        regions.fillLocal(42);
    }

    private ByteBuffer local() {
        return regions.localMemory.buffer().order(ByteOrder.nativeOrder());
    }

    private ByteBuffer target() {
        return regions.remoteMemory.buffer().order(ByteOrder.nativeOrder());
    }

    private boolean write(long dstOffset, long srcOffset, long length) {
        return pair.client.write(regions.remote, dstOffset, regions.local, srcOffset, length, ALWAYS, 1);
    }

    private boolean read(long dstOffset, long srcOffset, long length) {
        return pair.client.read(regions.local, dstOffset, regions.remote, srcOffset, length, ALWAYS, 2);
    }

    private boolean flush(long offset, long length, RpmaFlushType type) {
        return pair.client.flush(regions.remote, offset, length, type, ALWAYS, 3);
    }

    @Test
    void aWriteCopiesJustItsBytes() throws InterruptedException {
        Pair.assertPosted(write(100, 200, 300));
        Pair.assertDone(pair.client, 1);
        assertEquals(local().slice(200, 300), target().slice(100, 300));
        assertEquals(ByteBuffer.allocate(100), target().slice(0, 100));
        assertEquals(ByteBuffer.allocate(SIZE - 400), target().slice(400, SIZE - 400));
    }

    @Test
    void aWriteOfTheWholeRegion() throws InterruptedException {
        Pair.assertPosted(write(0, 0, SIZE));
        Pair.assertDone(pair.client, 1);
        assertEquals(local(), target());
    }

    @Test
    void aWriteOfNothing() throws InterruptedException {
        Pair.assertPosted(write(SIZE, SIZE, 0));
        Pair.assertDone(pair.client, 1);
        assertEquals(ByteBuffer.allocate(SIZE), target());
    }

    @Test
    void aReadCopiesJustItsBytes() throws InterruptedException {
        target().put(0, new byte[] {1, 2, 3, 4, 5});
        byte before = local().get(12);
        Pair.assertPosted(read(10, 1, 2));
        RpmaCompletions completions = Pair.assertCompletion(pair.client, 2, RpmaWcStatus.SUCCESS);
        assertEquals(RpmaWcOpcode.RDMA_READ, completions.opcode(0));
        assertEquals(2, local().get(10));
        assertEquals(3, local().get(11));
        assertEquals(before, local().get(12));
    }

    @Test
    void anAtomicWriteStoresInNativeOrder() throws InterruptedException {
        long value = 0x1122334455667788L;
        Pair.assertPosted(pair.client.atomicWrite(regions.remote, 8, value, ALWAYS, 7));
        RpmaCompletions completions = Pair.assertCompletion(pair.client, 7, RpmaWcStatus.SUCCESS);
        assertEquals(value, target().getLong(8));
        assertEquals(0, target().getLong(0));
        assertEquals(0, target().getLong(16));
        RpmaWcOpcode opcode = completions.opcode(0);
        assertTrue(opcode == RpmaWcOpcode.ATOMIC_WRITE || opcode == RpmaWcOpcode.RDMA_WRITE, opcode.toString());
    }

    @Test
    void aFlushForVisibility() throws InterruptedException {
        Pair.assertPosted(write(0, 0, SIZE));
        Pair.assertDone(pair.client, 1);
        Pair.assertPosted(flush(0, SIZE, RpmaFlushType.VISIBILITY));
        RpmaCompletions completions = Pair.assertCompletion(pair.client, 3, RpmaWcStatus.SUCCESS);
        RpmaWcOpcode opcode = completions.opcode(0);
        assertTrue(opcode == RpmaWcOpcode.FLUSH || opcode == RpmaWcOpcode.RDMA_READ, opcode.toString());
        assertEquals(local(), target());
    }

    @Test
    void aPersistentFlushOfVolatileMemoryIsNotSupported() {
        RpmaException failure = assertThrows(RpmaException.class, () -> flush(0, SIZE, RpmaFlushType.PERSISTENT));
        assertEquals(RpmaError.NOSUPP, failure.error());
        assertEquals("rpma_flush", failure.operation());
        assertTrue(failure.getMessage().contains("applyRemotePeerCfg"), failure.getMessage());
        try (RpmaPeerCfg cfg = RpmaPeerCfg.create().setDirectWriteToPmem(true)) {
            pair.client.applyRemotePeerCfg(cfg);
        }
        assertThrows(RpmaException.class, () -> flush(0, SIZE, RpmaFlushType.PERSISTENT));
    }

    @Test
    void operationsWithoutCompletionAreDoneWhenALaterOneIs() throws InterruptedException {
        Pair.assertPosted(pair.client.write(regions.remote, 0, regions.local, 0, 8, ON_ERROR, 10));
        Pair.assertPosted(pair.client.write(regions.remote, 8, regions.local, 8, 8, ALWAYS, 11));
        Pair.assertDone(pair.client, 11);
        assertEquals(local().slice(0, 16), target().slice(0, 16));
    }

    @Test
    void everyBitOfTheOperationContextComesBack() throws InterruptedException {
        for (long context : new long[] {0, -1, Long.MIN_VALUE, Long.MAX_VALUE}) {
            Pair.assertPosted(pair.client.write(regions.remote, 0, regions.local, 0, 1, ALWAYS, context));
            Pair.assertDone(pair.client, context);
        }
    }

    @Test
    void nothingOutsideOfARegion() {
        long[][] bad = {{-1, 1}, {0, -1}, {0, SIZE + 1}, {1, SIZE}, {SIZE, 1}, {Long.MAX_VALUE, 1}, {Long.MIN_VALUE, 0}
        };
        for (long[] range : bad) {
            assertThrows(IndexOutOfBoundsException.class, () -> write(range[0], 0, range[1]));
            assertThrows(IndexOutOfBoundsException.class, () -> write(0, range[0], range[1]));
            assertThrows(IndexOutOfBoundsException.class, () -> read(range[0], 0, range[1]));
            assertThrows(IndexOutOfBoundsException.class, () -> read(0, range[0], range[1]));
            assertThrows(IndexOutOfBoundsException.class, () -> flush(range[0], range[1], RpmaFlushType.VISIBILITY));
        }
        assertThrows(
                IndexOutOfBoundsException.class, () -> pair.client.atomicWrite(regions.remote, SIZE, 1, ALWAYS, 1));
        assertThrows(
                IndexOutOfBoundsException.class, () -> pair.client.atomicWrite(regions.remote, SIZE - 7, 1, ALWAYS, 1));
    }

    @Test
    void moreThan2To31BytesAtOnce() {
        assertThrows(IllegalArgumentException.class, () -> write(0, 0, 1L << 31));
        assertThrows(IllegalArgumentException.class, () -> read(0, 0, (1L << 32) + 5));
    }

    @Test
    void aFlushNeeds8Bytes() throws InterruptedException {
        assertThrows(IndexOutOfBoundsException.class, () -> flush(SIZE - 7, 7, RpmaFlushType.VISIBILITY));
        Pair.assertPosted(flush(SIZE - 8, 1, RpmaFlushType.VISIBILITY));
        Pair.assertDone(pair.client, 3);
    }

    @Test
    void anAtomicWriteIsAligned() {
        for (long offset = 1; offset < 8; offset++) {
            long unaligned = offset;
            assertThrows(
                    IllegalArgumentException.class,
                    () -> pair.client.atomicWrite(regions.remote, unaligned, 1, ALWAYS, 1));
        }
        try (RpmaMrLocal odd = pair.peer.register(
                        regions.remoteMemory.buffer(4, 64), RpmaMrUsage.WRITE_DST, RpmaMrUsage.READ_SRC);
                RpmaMrRemote remote = Pair.remote(odd)) {
            assertThrows(IllegalArgumentException.class, () -> pair.client.atomicWrite(remote, 0, 1, ALWAYS, 1));
            assertThrows(IllegalArgumentException.class, () -> pair.client.atomicWrite(remote, 4, 1, ALWAYS, 1));
        }
    }

    @Test
    void otherFlags() {
        for (int flags : new int[] {0, 2, 4, -1, 7}) {
            assertThrows(
                    IllegalArgumentException.class,
                    () -> pair.client.write(regions.remote, 0, regions.local, 0, 1, flags, 1));
            assertThrows(
                    IllegalArgumentException.class,
                    () -> pair.client.read(regions.local, 0, regions.remote, 0, 1, flags, 1));
            assertThrows(IllegalArgumentException.class, () -> pair.client.atomicWrite(regions.remote, 0, 1, flags, 1));
            assertThrows(
                    IllegalArgumentException.class,
                    () -> pair.client.flush(regions.remote, 0, 8, RpmaFlushType.VISIBILITY, flags, 1));
        }
    }

    @Test
    void nulls() {
        assertThrows(NullPointerException.class, () -> pair.client.write(null, 0, regions.local, 0, 1, ALWAYS, 1));
        assertThrows(NullPointerException.class, () -> pair.client.write(regions.remote, 0, null, 0, 1, ALWAYS, 1));
        assertThrows(NullPointerException.class, () -> pair.client.read(null, 0, regions.remote, 0, 1, ALWAYS, 1));
        assertThrows(NullPointerException.class, () -> pair.client.read(regions.local, 0, null, 0, 1, ALWAYS, 1));
        assertThrows(NullPointerException.class, () -> pair.client.atomicWrite(null, 0, 1, ALWAYS, 1));
        assertThrows(NullPointerException.class, () -> flush(0, 8, null));
        assertThrows(NullPointerException.class, () -> pair.client.applyRemotePeerCfg(null));
    }

    @Test
    void aRegionThatIsNotRegisteredForIt() {
        try (RpmaMrLocal send = pair.peer.register(regions.localMemory, RpmaMrUsage.SEND);
                RpmaMrRemote remote = Pair.remote(send)) {
            assertThrows(
                    IllegalArgumentException.class, () -> pair.client.write(regions.remote, 0, send, 0, 1, ALWAYS, 1));
            assertThrows(
                    IllegalArgumentException.class, () -> pair.client.write(remote, 0, regions.local, 0, 1, ALWAYS, 1));
            assertThrows(
                    IllegalArgumentException.class, () -> pair.client.read(send, 0, regions.remote, 0, 1, ALWAYS, 1));
            assertThrows(
                    IllegalArgumentException.class, () -> pair.client.read(regions.local, 0, remote, 0, 1, ALWAYS, 1));
            assertThrows(IllegalArgumentException.class, () -> pair.client.atomicWrite(remote, 0, 1, ALWAYS, 1));
            RpmaException failure = assertThrows(
                    RpmaException.class, () -> pair.client.flush(remote, 0, 8, RpmaFlushType.VISIBILITY, ALWAYS, 1));
            assertEquals(RpmaError.NOSUPP, failure.error());
        }
    }

    @Test
    void closedObjects() {
        regions.local.close();
        IllegalStateException closed = assertThrows(IllegalStateException.class, () -> write(0, 0, 1));
        assertTrue(closed.getMessage().contains("RpmaMrLocal#"), closed.getMessage());
        regions.remote.close();
        assertThrows(IllegalStateException.class, () -> flush(0, 8, RpmaFlushType.VISIBILITY));
        assertThrows(IllegalStateException.class, () -> pair.client.atomicWrite(regions.remote, 0, 1, ALWAYS, 1));
        pair.client.close();
        pair.client.close();
        closed = assertThrows(IllegalStateException.class, () -> read(0, 0, 1));
        assertTrue(closed.getMessage().contains("RpmaConn#"), closed.getMessage());
        assertThrows(IllegalStateException.class, pair.client::disconnect);
        assertThrows(IllegalStateException.class, pair.client::getPrivateData);
        assertThrows(IllegalStateException.class, () -> pair.client.getCq().poll(RpmaCompletions.create(1)));
    }

    @Tag("remote-errors")
    @Test
    void aRegionThatTheOtherSideHasClosed() throws InterruptedException {
        regions.target.close();
        Pair.assertPosted(write(0, 0, 8));
        Pair.assertCompletion(pair.client, 1, RpmaWcStatus.REM_ACCESS_ERR);
    }

    @Tag("remote-errors")
    @Test
    void aFailureBreaksTheConnection() throws InterruptedException {
        try (RpmaMrRemote wrong = RpmaMrRemote.fromDescriptor(withOtherKey(regions.target.getDescriptor()))) {
            Pair.assertPosted(pair.client.write(wrong, 0, regions.local, 0, 8, ON_ERROR, 21));
            RpmaCompletions completions = Pair.assertCompletion(pair.client, 21, RpmaWcStatus.REM_ACCESS_ERR);
            assertFalse(completions.isSuccess(0));
            assertThrows(IllegalStateException.class, () -> completions.opcode(0));
            assertThrows(IllegalStateException.class, () -> completions.byteLen(0));
            Pair.assertPosted(write(0, 0, 8));
            Pair.assertCompletion(pair.client, 1, RpmaWcStatus.WR_FLUSH_ERR);
        }
    }

    private static byte[] withOtherKey(byte[] descriptor) {
        byte[] other = descriptor.clone();
        int key = 16;
        other[key + 1] ^= 0x55;
        return other;
    }

    @Tag("completions-after-end")
    @Test
    void whatIsOutstandingWhenTheOtherSideIsGoneEndsWithDisconnect() throws InterruptedException {
        pair.server.close();
        Pair.assertEvent(RpmaConnEvent.CLOSED, pair.client);
        Pair.assertPosted(write(0, 0, 8));
        pair.client.disconnect();
        Pair.assertCompletion(pair.client, 1, RpmaWcStatus.WR_FLUSH_ERR);
    }

    @Test
    void aRemoteRegionMayBeClosedWhileAnOperationIsUnderWay() throws InterruptedException {
        try (RpmaMrRemote again = Pair.remote(regions.target)) {
            Pair.assertPosted(pair.client.write(again, 0, regions.local, 0, SIZE, ALWAYS, 31));
        }
        Pair.assertDone(pair.client, 31);
        assertEquals(local(), target());
    }
}
