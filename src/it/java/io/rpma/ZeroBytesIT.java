// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rpma.testing.Pair;
import io.rpma.testing.Regions;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** Operations of no bytes, for which neither side registers memory. */
class ZeroBytesIT {
    private static final int ALWAYS = RpmaConn.F_COMPLETION_ALWAYS;

    private Pair pair;

    @BeforeEach
    void open() throws InterruptedException {
        pair = Pair.connect();
    }

    @AfterEach
    void close() {
        if (pair != null) {
            pair.close();
        }
    }

    private void assertDone(long wrId, RpmaWcOpcode opcode) throws InterruptedException {
        assertEquals(opcode, Pair.assertDone(pair.client.getCq(), wrId).opcode(0));
    }

    private RpmaCompletions assertReceived(long wrId, RpmaWcOpcode opcode) throws InterruptedException {
        RpmaCompletions completions = Pair.assertDone(pair.server.getCq(), wrId);
        assertEquals(opcode, completions.opcode(0));
        assertEquals(0, completions.byteLen(0));
        return completions;
    }

    @Test
    void writeAndRead() throws InterruptedException {
        Pair.assertPosted(pair.client.write(ALWAYS, 1));
        Pair.assertPosted(pair.client.read(ALWAYS, 2));
        assertDone(1, RpmaWcOpcode.RDMA_WRITE);
        assertDone(2, RpmaWcOpcode.RDMA_READ);
    }

    @Tag("empty-receives")
    @Test
    void messages() throws InterruptedException {
        for (int i = 0; i < 3; i++) {
            Pair.assertPosted(pair.server.recv(10 + i));
        }
        Pair.assertPosted(pair.client.send(ALWAYS, 1));
        Pair.assertPosted(pair.client.sendWithImm(ALWAYS, -5, 2));
        Pair.assertPosted(pair.client.writeWithImm(ALWAYS, 6, 3));
        assertDone(1, RpmaWcOpcode.SEND);
        assertDone(2, RpmaWcOpcode.SEND);
        assertDone(3, RpmaWcOpcode.RDMA_WRITE);
        assertEquals(false, assertReceived(10, RpmaWcOpcode.RECV).hasImmData(0));
        assertEquals(-5, assertReceived(11, RpmaWcOpcode.RECV).immData(0));
        assertEquals(6, assertReceived(12, RpmaWcOpcode.RECV_RDMA_WITH_IMM).immData(0));
    }

    @Test
    void aReceiveWithMemoryTakesAMessageWithoutContent() throws InterruptedException {
        try (Regions regions = new Regions(pair.peer, 64)) {
            Pair.assertPosted(pair.server.recv(regions.target, 0, 64, 1));
            Pair.assertPosted(pair.client.send(ALWAYS, 2));
            assertReceived(1, RpmaWcOpcode.RECV);
        }
    }

    @Tag("empty-receives")
    @Test
    void aMessageWithContentBreaksAConnectionWhoseReceiveHasNoMemory() throws InterruptedException {
        try (Regions regions = new Regions(pair.peer, 64)) {
            Pair.assertPosted(pair.server.recv(1));
            Pair.assertPosted(pair.client.send(regions.local, 0, 1, ALWAYS, 2));
            Pair.assertTooLong(pair.server.getCq(), 1, pair.client.getCq(), 2);
        }
    }

    @Test
    void otherFlagsAndAClosedConnection() {
        for (int flags : new int[] {0, 2, 4, -1, 7}) {
            for (Executable post : posts(flags)) {
                assertThrows(IllegalArgumentException.class, post);
            }
        }
        pair.client.close();
        for (Executable post : posts(ALWAYS)) {
            String message = assertThrows(IllegalStateException.class, post).getMessage();
            assertTrue(message.contains("is closed"), message);
        }
        assertThrows(IllegalStateException.class, () -> pair.client.recv(1));
    }

    private List<Executable> posts(int flags) {
        return List.of(
                () -> pair.client.write(flags, 1),
                () -> pair.client.read(flags, 1),
                () -> pair.client.writeWithImm(flags, 1, 1),
                () -> pair.client.send(flags, 1),
                () -> pair.client.sendWithImm(flags, 1, 1));
    }
}
