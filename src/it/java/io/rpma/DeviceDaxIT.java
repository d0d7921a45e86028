// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rpma.testing.Pair;
import io.rpma.testing.Regions;
import io.rpma.testing.TestDevice;
import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.Set;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Persistent memory as device DAX: mapped, registered, written, and flushed to persistence. */
@Tag("persistent-memory")
class DeviceDaxIT {
    private static final int SIZE = 1 << 20;
    private static final int ALWAYS = RpmaConn.F_COMPLETION_ALWAYS;
    private static final RpmaMrUsage[] TARGET = {
        RpmaMrUsage.WRITE_DST, RpmaMrUsage.READ_SRC, RpmaMrUsage.FLUSH_TYPE_PERSISTENT
    };

    private static Path device;

    @BeforeAll
    static void find() {
        TestDevice.address();
        device = TestDevice.pmem();
    }

    private static void allowPersistentFlush(RpmaConn conn) {
        try (RpmaPeerCfg cfg = RpmaPeerCfg.create().setDirectWriteToPmem(true)) {
            conn.applyRemotePeerCfg(cfg);
        }
    }

    @Test
    void theWholeDevice() throws IOException {
        try (RpmaMemory memory = RpmaMemory.map(device)) {
            assertEquals(RpmaMemory.Kind.DEVICE_DAX, memory.kind());
            assertTrue(memory.isPersistent());
            assertTrue(memory.size() >= 64L << 20, memory.toString());
            assertEquals(0, memory.address() % 4096);
        }
    }

    @Test
    void moreThanTheDeviceHas() throws IOException {
        long size;
        try (RpmaMemory memory = RpmaMemory.map(device)) {
            size = memory.size();
        }
        IOException failure = assertThrows(IOException.class, () -> RpmaMemory.map(device, size + 4096));
        assertTrue(failure.getMessage().contains(Long.toString(size)), failure.getMessage());
    }

    @Test
    void writeFlushAndCommit() throws IOException, InterruptedException {
        try (Pair pair = Pair.connect();
                RpmaMemory memory = RpmaMemory.map(device, SIZE);
                RpmaMrLocal region = pair.peer.register(memory, TARGET);
                RpmaMrRemote remote = Pair.remote(region);
                Regions regions = new Regions(pair.peer, SIZE)) {
            assertEquals(Set.of(RpmaFlushType.PERSISTENT), remote.getFlushType());
            regions.fillLocal(System.nanoTime());
            allowPersistentFlush(pair.client);
            int unsignalled = RpmaConn.F_COMPLETION_ON_ERROR;
            Pair.assertPosted(pair.client.write(remote, 8, regions.local, 8, SIZE - 8, unsignalled, 1));
            Pair.assertPosted(pair.client.flush(remote, 8, SIZE - 8, RpmaFlushType.PERSISTENT, unsignalled, 2));
            Pair.assertPosted(pair.client.atomicWrite(remote, 0, SIZE, unsignalled, 3));
            Pair.assertPosted(pair.client.flush(remote, 0, 8, RpmaFlushType.PERSISTENT, ALWAYS, 4));
            Pair.assertDone(pair.client, 4);
            try (RpmaMemory again = RpmaMemory.map(device, SIZE)) {
                assertEquals(SIZE, again.buffer().order(ByteOrder.nativeOrder()).getLong(0));
                assertEquals(regions.localMemory.buffer(8, SIZE - 8), again.buffer(8, SIZE - 8));
            }
        }
    }

    @Test
    void aPersistentFlushNeedsTheOtherSidesConfiguration() throws IOException, InterruptedException {
        try (Pair pair = Pair.connect();
                RpmaMemory memory = RpmaMemory.map(device, SIZE);
                RpmaMrLocal region = pair.peer.register(memory, TARGET);
                RpmaMrRemote remote = Pair.remote(region)) {
            RpmaException failure = assertThrows(
                    RpmaException.class, () -> pair.client.flush(remote, 0, 8, RpmaFlushType.PERSISTENT, ALWAYS, 1));
            assertEquals(RpmaError.NOSUPP, failure.error());
            allowPersistentFlush(pair.client);
            Pair.assertPosted(pair.client.flush(remote, 0, 8, RpmaFlushType.PERSISTENT, ALWAYS, 1));
            Pair.assertDone(pair.client, 1);
            assertThrows(
                    RpmaException.class,
                    () -> pair.client.flush(remote, 0, 8, RpmaFlushType.VISIBILITY, ALWAYS, 1),
                    "registered for persistence alone");
        }
    }

    @Test
    void nativeFlushWhereTheDeviceHasIt() throws IOException, InterruptedException {
        // soft-RoCE flushes natively in the newer guests only; on other machines, either opcode is right
        String image = System.getenv("RPMA_IMAGE");
        try (Pair pair = Pair.connect();
                RpmaMemory memory = RpmaMemory.map(device, SIZE);
                RpmaMrLocal region = pair.peer.register(memory, TARGET);
                RpmaMrRemote remote = Pair.remote(region)) {
            allowPersistentFlush(pair.client);
            Pair.assertPosted(pair.client.flush(remote, 0, SIZE, RpmaFlushType.PERSISTENT, ALWAYS, 1));
            RpmaWcOpcode flush =
                    Pair.assertCompletion(pair.client, 1, RpmaWcStatus.SUCCESS).opcode(0);
            assertEquals(flush == RpmaWcOpcode.FLUSH, pair.client.isFlushNative());
            assertTrue(region.isPersistent());
            Pair.assertPosted(pair.client.atomicWrite(remote, 0, 1, ALWAYS, 2));
            RpmaWcOpcode atomicWrite =
                    Pair.assertCompletion(pair.client, 2, RpmaWcStatus.SUCCESS).opcode(0);
            if (image != null && Set.of("trixie", "backports", "trixie-arm64").contains(image)) {
                assertEquals(RpmaWcOpcode.FLUSH, flush);
                assertEquals(RpmaWcOpcode.ATOMIC_WRITE, atomicWrite);
            } else if ("bookworm".equals(image)) {
                assertEquals(RpmaWcOpcode.RDMA_READ, flush);
                assertEquals(RpmaWcOpcode.RDMA_WRITE, atomicWrite);
            } else {
                assertTrue(Set.of(RpmaWcOpcode.FLUSH, RpmaWcOpcode.RDMA_READ).contains(flush), flush.toString());
                assertTrue(
                        Set.of(RpmaWcOpcode.ATOMIC_WRITE, RpmaWcOpcode.RDMA_WRITE)
                                .contains(atomicWrite),
                        atomicWrite.toString());
            }
        }
    }
}
