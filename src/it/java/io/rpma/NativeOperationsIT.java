// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.rpma.testing.Pair;
import io.rpma.testing.Regions;
import io.rpma.testing.TestDevice;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Programs know in advance whether flushes and atomic writes are native. The stand-in has neither. */
@Tag("aarch64")
@Tag("stand-in")
class NativeOperationsIT {
    @Test
    void isKnownBeforeTheFirstFlush() throws InterruptedException {
        try (Pair pair = Pair.connect();
                Regions regions = new Regions(pair.peer, 64)) {
            boolean expected = pair.client.isFlushNative();
            assertEquals(expected, RpmaDevice.local(TestDevice.address()).isFlushNative());
            assertEquals(expected, pair.peer.device().isFlushNative());
            Pair.assertPosted(pair.client.flush(
                    regions.remote, 0, 64, RpmaFlushType.VISIBILITY, RpmaConn.F_COMPLETION_ALWAYS, 1));
            assertEquals(
                    expected ? RpmaWcOpcode.FLUSH : RpmaWcOpcode.RDMA_READ,
                    Pair.assertDone(pair.client.getCq(), 1).opcode(0));
        }
    }

    @Test
    void nativeAtomicWriteIsKnownBeforeTheFirstOne() throws InterruptedException {
        try (Pair pair = Pair.connect();
                Regions regions = new Regions(pair.peer, 64)) {
            boolean expected = pair.client.isAtomicWriteNative();
            assertEquals(expected, pair.peer.device().isAtomicWriteNative());
            Pair.assertPosted(pair.client.atomicWrite(regions.remote, 0, 1, RpmaConn.F_COMPLETION_ALWAYS, 1));
            assertEquals(
                    expected ? RpmaWcOpcode.ATOMIC_WRITE : RpmaWcOpcode.RDMA_WRITE,
                    Pair.assertDone(pair.client.getCq(), 1).opcode(0));
        }
    }

    @Test
    void aRegionOfFreshMemoryIsNotPersistent() {
        try (RpmaPeer peer = TestDevice.peer();
                Regions regions = new Regions(peer, 64)) {
            assertFalse(regions.local.isPersistent());
        }
    }
}
