// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rpma.testing.Pair;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Atomic writes whose 8 bytes come from a region. */
@Tag("aarch64")
class WriteAtomicIT extends WithConnection {
    private static final int SIZE = 4096;
    private static final int ALWAYS = RpmaConn.F_COMPLETION_ALWAYS;

    WriteAtomicIT() {
        super(SIZE);
    }

    private boolean writeAtomic(long dstOffset, long srcOffset) {
        return pair.client.writeAtomic(regions.remote, dstOffset, regions.local, srcOffset, ALWAYS, 1);
    }

    private ByteBuffer target() {
        return regions.remoteMemory.buffer().order(ByteOrder.nativeOrder());
    }

    @Test
    void copiesEightBytesFromAnywhere() throws InterruptedException {
        regions.fillLocal(3);
        for (int srcOffset : new int[] {0, 13, SIZE - 8}) {
            Pair.assertPosted(writeAtomic(16, srcOffset));
            RpmaWcOpcode opcode = Pair.assertDone(pair.client.getCq(), 1).opcode(0);
            assertTrue(
                    Set.of(RpmaWcOpcode.ATOMIC_WRITE, RpmaWcOpcode.RDMA_WRITE).contains(opcode), opcode.toString());
            assertEquals(regions.localMemory.buffer(srcOffset, 8), target().slice(16, 8));
        }
        assertEquals(0, target().getLong(8));
        assertEquals(0, target().getLong(24));
    }

    /** Posts many at once, so that the device carries out most of them after the bytes have changed. */
    @Test
    void theBytesAreThoseOfThePost() throws InterruptedException {
        ByteBuffer local = regions.localMemory.buffer().order(ByteOrder.nativeOrder());
        int count = 8;
        for (int i = 0; i < count; i++) {
            local.putLong(0, i + 1);
            Pair.assertPosted(writeAtomic(8L * i, 0));
            local.putLong(0, -1);
        }
        for (int i = 0; i < count; i++) {
            Pair.assertDone(pair.client, 1);
            assertEquals(i + 1, target().getLong(8 * i));
        }
    }

    @Test
    void nothingOutsideOfARegion() {
        for (long offset : new long[] {-8, SIZE - 7, SIZE, Long.MAX_VALUE - 7, Long.MIN_VALUE}) {
            assertThrows(IndexOutOfBoundsException.class, () -> writeAtomic(0, offset));
            assertThrows(IndexOutOfBoundsException.class, () -> writeAtomic(offset, 0));
        }
    }

    @Test
    void theTargetIsAligned() {
        for (long offset : new long[] {1, 4, 7, SIZE - 9}) {
            String message = assertThrows(IllegalArgumentException.class, () -> writeAtomic(offset, 0))
                    .getMessage();
            assertTrue(message.contains("multiple of 8"), message);
        }
    }

    @Test
    void wrongArguments() {
        for (int flags : new int[] {0, 2, 4, -1}) {
            assertThrows(
                    IllegalArgumentException.class,
                    () -> pair.client.writeAtomic(regions.remote, 0, regions.local, 0, flags, 1));
        }
        assertThrows(NullPointerException.class, () -> pair.client.writeAtomic(null, 0, regions.local, 0, ALWAYS, 1));
        assertThrows(NullPointerException.class, () -> pair.client.writeAtomic(regions.remote, 0, null, 0, ALWAYS, 1));
        try (RpmaMrLocal other = pair.peer.register(regions.localMemory, RpmaMrUsage.SEND);
                RpmaMrRemote remote = Pair.remote(other)) {
            assertThrows(
                    IllegalArgumentException.class,
                    () -> pair.client.writeAtomic(regions.remote, 0, other, 0, ALWAYS, 1));
            assertThrows(
                    IllegalArgumentException.class,
                    () -> pair.client.writeAtomic(remote, 0, regions.local, 0, ALWAYS, 1));
        }
    }

    @Test
    void closedObjects() {
        regions.local.close();
        String message = assertThrows(IllegalStateException.class, () -> writeAtomic(0, 0))
                .getMessage();
        assertTrue(message.contains("RpmaMrLocal#") && message.contains("is closed"), message);
        pair.client.close();
        assertThrows(IllegalStateException.class, () -> writeAtomic(0, 0));
    }

    /** Only half of the 8 bytes are there. The kernel reads this half and reports no error. */
    @Test
    void refusesWhatIsHalfGone() throws IOException {
        int page = 4096;
        Path file = Files.createTempFile(Path.of("/dev/shm"), "rpma-java-", ".test");
        try (RpmaMemory memory = RpmaMemory.map(file, 2 * page);
                RpmaMrLocal source = pair.peer.register(memory, RpmaMrUsage.WRITE_SRC)) {
            try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
                channel.truncate(page);
            }
            RpmaException e = assertThrows(
                    RpmaException.class, () -> pair.client.writeAtomic(regions.remote, 0, source, page - 4, ALWAYS, 1));
            assertTrue(e.detail().contains("Bad address"), e.getMessage());
        } finally {
            Files.delete(file);
        }
    }

    /** A direct access to the part that is gone would end the process. */
    @Test
    void refusesWhatIsGoneOfAFileThatWasMadeShorter() throws IOException {
        Path file = Files.createTempFile(Path.of("/dev/shm"), "rpma-java-", ".test");
        try (RpmaMemory memory = RpmaMemory.map(file, SIZE);
                RpmaMrLocal source = pair.peer.register(memory, RpmaMrUsage.WRITE_SRC)) {
            try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
                channel.truncate(0);
            }
            RpmaException e = assertThrows(
                    RpmaException.class, () -> pair.client.writeAtomic(regions.remote, 0, source, 0, ALWAYS, 1));
            assertEquals(RpmaError.PROVIDER, e.error());
            assertTrue(e.detail().contains("Bad address"), e.getMessage());
        } finally {
            Files.delete(file);
        }
    }
}
