// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.abort;

import com.sun.nio.file.ExtendedOpenOption;
import io.rpma.internal.Errno;
import io.rpma.internal.Natives;
import io.rpma.testing.ArenaBuffer;
import io.rpma.testing.Pair;
import io.rpma.testing.Regions;
import io.rpma.testing.TestDevice;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.function.Function;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/** Registering memory of every kind. */
class RegistrationIT extends WithPeer {

    @Test
    void theRegionTellsWhatItIs() {
        try (RpmaMemory memory = RpmaMemory.allocate(8192);
                RpmaMrLocal region = peer.register(memory, RpmaMrUsage.READ_SRC, RpmaMrUsage.WRITE_DST)) {
            assertEquals(memory.address(), region.getPtr());
            assertEquals(8192, region.getSize());
            assertEquals(EnumSet.of(RpmaMrUsage.READ_SRC, RpmaMrUsage.WRITE_DST), region.usages());
            assertEquals(RpmaMrLocal.DESCRIPTOR_SIZE, region.getDescriptorSize());
        }
    }

    @Test
    void theDescriptorIsAsLibrpmaWritesIt() {
        try (RpmaMemory memory = RpmaMemory.allocate(4096);
                RpmaMrLocal region = peer.register(
                        memory, RpmaMrUsage.READ_SRC, RpmaMrUsage.FLUSH_TYPE_VISIBILITY, RpmaMrUsage.WRITE_DST)) {
            ByteBuffer descriptor = ByteBuffer.wrap(region.getDescriptor()).order(ByteOrder.LITTLE_ENDIAN);
            assertEquals(21, descriptor.remaining());
            assertEquals(memory.address(), descriptor.getLong(0));
            assertEquals(4096, descriptor.getLong(8));
            assertEquals(0x01 | 0x08 | 0x10, descriptor.get(20));
            try (RpmaMrRemote remote = RpmaMrRemote.fromDescriptor(descriptor)) {
                assertEquals(0, descriptor.remaining());
                assertEquals(4096, remote.getSize());
                assertEquals(Set.of(RpmaFlushType.VISIBILITY), remote.getFlushType());
                assertEquals(region.usages(), remote.usages());
            }
        }
    }

    @Test
    void theRemainingBytesOfADirectBuffer() {
        ByteBuffer buffer = ByteBuffer.allocateDirect(1000).position(100).limit(900);
        try (RpmaMrLocal region = peer.register(buffer, RpmaMrUsage.READ_SRC)) {
            assertEquals(800, region.getSize());
            assertEquals(Natives.bufferAddress(buffer) + 100, region.getPtr());
        }
    }

    @Test
    void aPartOfAMemory() throws InterruptedException {
        try (Pair pair = Pair.connect();
                RpmaMemory memory = RpmaMemory.allocate(16384);
                RpmaMrLocal part = pair.peer.register(memory, 5001, 10, RpmaMrUsage.WRITE_DST);
                RpmaMrRemote remote = Pair.remote(part);
                Regions regions = new Regions(pair.peer, 64)) {
            assertEquals(memory.address() + 5001, part.getPtr());
            assertEquals(10, part.getSize());
            assertEquals(10, remote.getSize());
            regions.localMemory.buffer().put(0, new byte[] {1, 2, 3});
            Pair.assertPosted(pair.client.write(remote, 7, regions.local, 0, 3, RpmaConn.F_COMPLETION_ALWAYS, 1));
            Pair.assertDone(pair.client, 1);
            ByteBuffer written = ByteBuffer.allocate(16384).put(5001 + 7, new byte[] {1, 2, 3});
            assertEquals(written, memory.buffer());
            assertThrows(
                    IndexOutOfBoundsException.class,
                    () -> pair.client.write(remote, 8, regions.local, 0, 3, RpmaConn.F_COMPLETION_ALWAYS, 1));
            String refusal =
                    assertThrows(IllegalStateException.class, memory::close).getMessage();
            assertTrue(refusal.contains("RpmaMrLocal#"), refusal);
        }
    }

    @Test
    void aPartIsASource() throws InterruptedException {
        try (Pair pair = Pair.connect();
                RpmaMemory memory = RpmaMemory.allocate(16384);
                RpmaMrLocal part = pair.peer.register(memory, 8192, 8192, RpmaMrUsage.WRITE_SRC);
                Regions regions = new Regions(pair.peer, 64)) {
            memory.buffer().put(8192 + 100, (byte) 7);
            Pair.assertPosted(pair.client.write(regions.remote, 0, part, 100, 1, RpmaConn.F_COMPLETION_ALWAYS, 1));
            Pair.assertDone(pair.client, 1);
            assertEquals(7, regions.remoteMemory.buffer().get(0));
        }
    }

    @Test
    void partsThatAreNotInTheMemory() {
        long most = Long.MAX_VALUE;
        long least = Long.MIN_VALUE;
        long[][] bad = {
            {-1, 1},
            {0, -1},
            {0, 4097},
            {1, 4096},
            {4096, 1},
            {4097, 0},
            {1L << 32, 1},
            {most, 1},
            {1, most},
            {most, most},
            {least, least}
        };
        try (RpmaMemory memory = RpmaMemory.allocate(4096)) {
            for (long[] part : bad) {
                String message = assertThrows(
                                IndexOutOfBoundsException.class,
                                () -> peer.register(memory, part[0], part[1], RpmaMrUsage.READ_SRC))
                        .getMessage();
                assertTrue(message.contains(part[0] + "") && message.contains(part[1] + ""), message);
                assertTrue(message.contains("4096"), message);
            }
            for (long offset : new long[] {0, 1, 4096}) {
                assertRefused(
                        "at least 1 byte and ends before 2^63: 0 bytes",
                        () -> peer.register(memory, offset, 0, RpmaMrUsage.READ_SRC));
            }
        }
    }

    private static void assertRefused(String words, Executable registration) {
        String message =
                assertThrows(IllegalArgumentException.class, registration).getMessage();
        assertTrue(message.contains(words), message);
    }

    @Test
    void buffersThatCantBeRegistered() {
        assertRefused("direct buffer", () -> peer.register(ByteBuffer.allocate(8), RpmaMrUsage.READ_SRC));
        assertRefused("at least 1 byte", () -> peer.register(ByteBuffer.allocateDirect(0), RpmaMrUsage.READ_SRC));
        ByteBuffer spent = ByteBuffer.allocateDirect(8).position(8);
        assertRefused("at least 1 byte", () -> peer.register(spent, RpmaMrUsage.READ_SRC));
        ByteBuffer readOnly = ByteBuffer.allocateDirect(8).asReadOnlyBuffer();
        for (RpmaMrUsage usage :
                EnumSet.of(RpmaMrUsage.READ_DST, RpmaMrUsage.WRITE_SRC, RpmaMrUsage.WRITE_DST, RpmaMrUsage.RECV)) {
            assertRefused("read-only", () -> peer.register(readOnly, RpmaMrUsage.SEND, usage));
        }
        peer.register(readOnly, RpmaMrUsage.READ_SRC).close();
    }

    @Test
    @Tag("newer-jdk")
    @EnabledForJreRange(min = JRE.JAVA_22, disabledReason = "arenas came with JDK 22")
    void aBufferOfAClosedArena() throws ReflectiveOperationException {
        ArenaBuffer ofArena = new ArenaBuffer(4096);
        peer.register(ofArena.buffer(), RpmaMrUsage.READ_SRC).close();
        ofArena.closeArena();
        assertThrows(IllegalStateException.class, () -> peer.register(ofArena.buffer(), RpmaMrUsage.READ_SRC));
    }

    @Test
    void nothingAndNoUsages() {
        assertThrows(NullPointerException.class, () -> peer.register((ByteBuffer) null, RpmaMrUsage.READ_SRC));
        assertThrows(NullPointerException.class, () -> peer.register((RpmaMemory) null, RpmaMrUsage.READ_SRC));
        assertThrows(NullPointerException.class, () -> peer.register((RpmaMemory) null, 0, 1, RpmaMrUsage.READ_SRC));
        ByteBuffer buffer = ByteBuffer.allocateDirect(8);
        try (RpmaMemory memory = RpmaMemory.allocate(4096)) {
            for (Function<RpmaMrUsage[], RpmaMrLocal> registration : List.<Function<RpmaMrUsage[], RpmaMrLocal>>of(
                    usages -> peer.register(memory, usages),
                    usages -> peer.register(memory, 8, 64, usages),
                    usages -> peer.register(buffer, usages),
                    usages -> peer.register(buffer.asReadOnlyBuffer(), usages),
                    usages -> peer.register(memory.address(), 4096, memory, usages))) {
                assertRefused("at least one usage", () -> registration.apply(new RpmaMrUsage[0]));
                assertThrows(NullPointerException.class, () -> registration.apply(null));
                assertThrows(
                        NullPointerException.class,
                        () -> registration.apply(new RpmaMrUsage[] {RpmaMrUsage.READ_SRC, null}));
            }
        }
    }

    @Test
    void addresses() {
        try (RpmaMemory memory = RpmaMemory.allocate(4096)) {
            long address = memory.address();
            peer.register(address, 4096, memory, RpmaMrUsage.READ_SRC).close();
            for (long bad : new long[] {0, -1, Long.MIN_VALUE}) {
                assertRefused("address must be positive", () -> peer.register(bad, 1, memory, RpmaMrUsage.READ_SRC));
            }
            for (long bad : new long[] {0, -1, Long.MIN_VALUE, Long.MAX_VALUE - address + 1, Long.MAX_VALUE}) {
                assertRefused(
                        bad + " bytes at address", () -> peer.register(address, bad, memory, RpmaMrUsage.READ_SRC));
            }
            assertEquals(
                    "owner",
                    assertThrows(
                                    NullPointerException.class,
                                    () -> peer.register(address, 4096, null, RpmaMrUsage.READ_SRC))
                            .getMessage());
        }
    }

    @Test
    void memoryThatIsNotMapped() {
        RpmaException failure =
                assertThrows(RpmaException.class, () -> peer.register(4096, 4096, "nothing", RpmaMrUsage.WRITE_DST));
        assertEquals("rpma_mr_reg", failure.operation());
        assertEquals(RpmaError.PROVIDER, failure.error());
        assertTrue(failure.detail().contains("ibv_reg_mr"), failure.detail());
    }

    @Test
    void memoryIsNotClosedBeforeItsRegions() {
        RpmaMemory memory = RpmaMemory.allocate(4096);
        RpmaMrLocal region = peer.register(memory, RpmaMrUsage.READ_SRC);
        IllegalStateException refusal = assertThrows(IllegalStateException.class, memory::close);
        assertTrue(refusal.getMessage().contains("RpmaMrLocal#"), refusal.getMessage());
        assertThrows(IllegalStateException.class, peer::close);
        region.close();
        region.close();
        memory.close();
        for (Executable use : List.<Executable>of(
                region::getDescriptor, region::getDescriptorSize, region::getSize, region::getPtr)) {
            assertClosed("RpmaMrLocal#", use);
        }
        assertClosed("RpmaMemory#", () -> peer.register(memory, RpmaMrUsage.READ_SRC));
        assertClosed("RpmaMemory#", () -> peer.register(memory, 8, 64, RpmaMrUsage.READ_SRC));
        assertClosed("RpmaMemory#", () -> peer.register(memory.address(), 4096, memory, RpmaMrUsage.READ_SRC));
    }

    private static void assertClosed(String closed, Executable use) {
        String message = assertThrows(IllegalStateException.class, use).getMessage();
        assertTrue(message.contains(closed) && message.contains("is closed"), message);
    }

    private static Path file(Path directory, byte[] content) throws IOException {
        new Random(7).nextBytes(content);
        return Files.write(directory.resolve("file"), content);
    }

    @Test
    void aReadOnlyMappingOfAFileIsASource(@TempDir Path directory) throws IOException, InterruptedException {
        byte[] content = new byte[10_000];
        Path file = file(directory, content);
        if (!TestDevice.kernelIsAtLeast(6, 2)) {
            try (RpmaMemory source = RpmaMemory.mapReadOnly(file)) {
                RpmaException failure =
                        assertThrows(RpmaException.class, () -> peer.register(source, RpmaMrUsage.READ_SRC));
                assertTrue(failure.getMessage().contains("before 6.2"), failure.getMessage());
            }
            return;
        }
        try (Pair pair = Pair.connect();
                RpmaMemory source = RpmaMemory.mapReadOnly(file);
                RpmaMrLocal region = pair.peer.register(source, RpmaMrUsage.READ_SRC);
                RpmaMrRemote remote = Pair.remote(region);
                Regions regions = new Regions(pair.peer, content.length)) {
            assertThrows(IllegalArgumentException.class, () -> pair.peer.register(source, RpmaMrUsage.WRITE_DST));
            assertThrows(IllegalArgumentException.class, () -> pair.peer.register(source, 0, 8, RpmaMrUsage.WRITE_DST));
            Pair.assertPosted(
                    pair.client.read(regions.local, 0, remote, 0, content.length, RpmaConn.F_COMPLETION_ALWAYS, 1));
            Pair.assertDone(pair.client, 1);
            byte[] read = new byte[content.length];
            regions.localMemory.buffer().get(read);
            assertArrayEquals(content, read);
        }
    }

    @Test
    void aFileInMemoryIsATarget() throws IOException, InterruptedException {
        Path file = Files.createTempFile(Path.of("/dev/shm"), "rpma-java-", ".test");
        try (Pair pair = Pair.connect();
                RpmaMemory memory = RpmaMemory.map(file, 4096)) {
            assertWritten(pair, memory, file);
        } finally {
            Files.delete(file);
        }
    }

    /** A file on a disk: kernels from 6.5 on don't let a device write into the pages of its mapping. */
    @Test
    void anOrdinaryFileIsATargetOfOlderKernels() throws IOException, InterruptedException {
        Path file = Files.createTempFile(ordinaryDirectory(), "rpma-java-", ".test");
        try (Pair pair = Pair.connect();
                RpmaMemory memory = RpmaMemory.map(file, 4096)) {
            assertEquals(RpmaMemory.Kind.FILE, memory.kind());
            if (TestDevice.kernelIsAtLeast(6, 5)) {
                RpmaException failure = assertThrows(
                        RpmaException.class,
                        () -> pair.peer.register(memory, RpmaMrUsage.WRITE_DST, RpmaMrUsage.FLUSH_TYPE_VISIBILITY));
                assertEquals("rpma_mr_reg", failure.operation());
                assertEquals(RpmaError.PROVIDER, failure.error());
                assertTrue(failure.detail().contains(Errno.message(Errno.EFAULT)), failure.detail());
                assertTrue(
                        failure.getMessage()
                                .contains(
                                        "kernels from 6.5 on refuse remote writes into a mapping of an ordinary file (use"
                                                + " device DAX, tmpfs, hugetlbfs or anonymous memory)"),
                        failure.getMessage());
            } else {
                assertWritten(pair, memory, file);
            }
        } finally {
            Files.delete(file);
        }
    }

    static Path ordinaryDirectory() throws IOException {
        String configured = System.getenv("RPMA_EXT4");
        if (configured == null || configured.isEmpty()) {
            String reason = "no directory of an ordinary file system: set RPMA_EXT4 to one, or use 'native/rxe test'";
            String bed = System.getenv("RPMA_BED");
            boolean inGuest = bed != null && !bed.equals("host");
            if (Boolean.getBoolean("rpma.device.required") && inGuest) {
                fail(reason);
            }
            abort(reason);
        }
        Path directory = Path.of(configured);
        assertTrue(Files.getFileStore(directory).type().startsWith("ext"), directory + " is not of ext4");
        return directory;
    }

    private static void assertWritten(Pair pair, RpmaMemory memory, Path file)
            throws IOException, InterruptedException {
        try (RpmaMrLocal region = pair.peer.register(memory, RpmaMrUsage.WRITE_DST);
                RpmaMrRemote remote = Pair.remote(region);
                Regions regions = new Regions(pair.peer, 4096)) {
            // after the first write-back, the kernel does not notice later writes of the device by itself
            for (int round = 1; round <= 3; round++) {
                regions.fillLocal(round);
                Pair.assertPosted(
                        pair.client.write(remote, 0, regions.local, 0, 4096, RpmaConn.F_COMPLETION_ALWAYS, round));
                Pair.assertDone(pair.client, round);
                assertEquals(regions.localMemory.buffer(), ByteBuffer.wrap(Files.readAllBytes(file)));
                memory.persist();
                if (!inMemory(file)) {
                    assertEquals(regions.localMemory.buffer(), onDisk(file));
                }
            }
        }
    }

    private static boolean inMemory(Path file) throws IOException {
        return Files.getFileStore(file).type().equals("tmpfs");
    }

    static ByteBuffer onDisk(Path file) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, ExtendedOpenOption.DIRECT)) {
            ByteBuffer content =
                    ByteBuffer.allocateDirect(2 * 4096).alignedSlice(4096).limit(4096);
            assertEquals(4096, channel.read(content));
            return content.flip();
        }
    }
}
