// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.rpma.internal.Natives;
import io.rpma.testing.Pair;
import io.rpma.testing.Regions;
import io.rpma.testing.TestDevice;
import io.rpma.testing.Tool;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Huge pages, which the test reserves if it is permitted to. */
@Tag("huge-pages")
class HugePagesIT {
    private static final Path SET_ASIDE = Path.of("/proc/sys/vm/nr_hugepages");
    private static final long PAGE = 2L << 20;
    private static final int PAGES = 8;

    private static String before;

    @BeforeAll
    static void setAside() throws IOException {
        TestDevice.address();
        assumeTrue(Files.isWritable(SET_ASIDE), SET_ASIDE + " is for root");
        before = Files.readString(SET_ASIDE);
        Files.writeString(SET_ASIDE, Integer.toString(PAGES));
        assertEquals(PAGES, free(), "the system has not as many huge pages");
    }

    @AfterAll
    static void giveBack() throws IOException {
        if (before != null) {
            Files.writeString(SET_ASIDE, before);
        }
    }

    private static int free() throws IOException {
        return Integer.parseInt(Files.readString(Path.of("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages"))
                .strip());
    }

    @Test
    void aTargetInHugePages() throws IOException, InterruptedException {
        int size = (int) (2 * PAGE);
        try (Pair pair = Pair.connect();
                Regions regions = new Regions(pair.peer, size);
                RpmaMemory memory = RpmaMemory.allocateHuge(size, PAGE);
                RpmaMrLocal region = pair.peer.register(memory, Regions.ALL);
                RpmaMrRemote remote = Pair.remote(region)) {
            assertEquals(0, memory.address() % PAGE);
            assertEquals(PAGES - 2, free(), "registered, so that all its pages are there");
            regions.fillLocal(5);
            Pair.assertPosted(pair.client.write(remote, 0, regions.local, 0, size, RpmaConn.F_COMPLETION_ALWAYS, 1));
            Pair.assertDone(pair.client, 1);
            assertEquals(regions.localMemory.buffer(), memory.buffer());
            String message =
                    assertThrows(IllegalStateException.class, memory::close).getMessage();
            assertTrue(message.contains("RpmaMrLocal#"), message);
        }
    }

    /** The test makes no buffer of the file: its mapping would keep the pages until the buffer is collected. */
    @Test
    void aFileOfHugetlbfsSurvivesItsMapping(@TempDir Path directory) throws Exception {
        Tool.run("mount", "-t", "hugetlbfs", "-o", "pagesize=2M", "none", directory.toString());
        Path file = directory.resolve("data");
        try (Pair pair = Pair.connect();
                Regions regions = new Regions(pair.peer, 4096)) {
            regions.fillLocal(6);
            try (RpmaMemory memory = RpmaMemory.map(file, 2 * PAGE);
                    RpmaMrLocal region = pair.peer.register(memory, Regions.ALL);
                    RpmaMrRemote remote = Pair.remote(region)) {
                Pair.assertPosted(
                        pair.client.write(remote, PAGE, regions.local, 0, 4096, RpmaConn.F_COMPLETION_ALWAYS, 1));
                Pair.assertDone(pair.client, 1);
            }
            ByteBuffer written = ByteBuffer.allocate(4096).put(regions.localMemory.buffer());
            regions.fillLocal(7);
            try (RpmaMemory memory = RpmaMemory.map(file);
                    RpmaMrLocal region = pair.peer.register(memory, Regions.ALL);
                    RpmaMrRemote remote = Pair.remote(region)) {
                assertEquals(2 * PAGE, memory.size());
                Pair.assertPosted(
                        pair.client.read(regions.local, 0, remote, PAGE, 4096, RpmaConn.F_COMPLETION_ALWAYS, 2));
                Pair.assertDone(pair.client, 2);
            }
            assertEquals(written.flip(), regions.localMemory.buffer());
        } finally {
            Tool.run("umount", directory.toString());
        }
    }

    @Test
    void wholePagesThatAreGivenBack() throws IOException {
        int free = free();
        RpmaMemory memory = RpmaMemory.allocateHuge(1, PAGE);
        assertEquals(PAGE, memory.size());
        assertEquals(RpmaMemory.Kind.ANONYMOUS, memory.kind());
        assertEquals(0, Natives.memoryPersist(memory.address(), 0, PAGE));
        memory.close();
        assertEquals(free, free());
        try (RpmaMemory whole = RpmaMemory.allocateHuge(PAGE + 1, PAGE)) {
            assertEquals(2 * PAGE, whole.size());
        }
    }

    @Test
    void moreThanThereAre() {
        OutOfMemoryError error =
                assertThrows(OutOfMemoryError.class, () -> RpmaMemory.allocateHuge((PAGES + 1) * PAGE, PAGE));
        assertTrue(error.getMessage().contains(SET_ASIDE.toString()), error.getMessage());
        assertTrue(error.getMessage().contains("Cannot allocate memory"), error.getMessage());
    }

    @Test
    void aSizeThatTheSystemDoesNotHave() {
        OutOfMemoryError error = assertThrows(OutOfMemoryError.class, () -> RpmaMemory.allocateHuge(PAGE, 2 * PAGE));
        assertTrue(error.getMessage().contains("/sys/kernel/mm/hugepages"), error.getMessage());
    }
}
