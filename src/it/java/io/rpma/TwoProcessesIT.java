// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rpma.programs.TargetProgram;
import io.rpma.testing.Jvm;
import io.rpma.testing.Limit;
import io.rpma.testing.Pair;
import io.rpma.testing.Regions;
import io.rpma.testing.TestDevice;
import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The other side is another process, which works like a side in the same process, and may die. */
@Tag("processes")
class TwoProcessesIT {
    private static final int SIZE = TargetProgram.SIZE;
    private static final int ALWAYS = RpmaConn.F_COMPLETION_ALWAYS;

    private String address;
    private int port;
    private Jvm.Running target;
    private RpmaPeer peer;
    private RpmaConn conn;
    private RpmaMrRemote remote;
    private Regions regions;

    @BeforeEach
    void connect() throws InterruptedException {
        address = TestDevice.address();
        port = TestDevice.port();
        target = Jvm.likeThis().start(TargetProgram.class, address, Integer.toString(port));
        target.awaitLine(TargetProgram.LISTENING);
        peer = TestDevice.peer();
        regions = new Regions(peer, SIZE);
        regions.fillLocal(11);
        conn = RpmaConnReq.create(peer, address, port, null).connect();
        Pair.assertEvent(RpmaConnEvent.ESTABLISHED, conn);
        remote = RpmaMrRemote.fromDescriptor(conn.getPrivateData());
    }

    @AfterEach
    void close() {
        if (target != null) {
            target.close();
        }
        if (remote != null) {
            remote.close();
            conn.close();
            regions.close();
            peer.close();
        }
    }

    @Test
    void writesFlushesAndCommitsIntoTheOtherProcess() throws InterruptedException {
        Pair.assertPosted(conn.write(remote, 8, regions.local, 8, SIZE - 8, RpmaConn.F_COMPLETION_ON_ERROR, 1));
        Pair.assertPosted(conn.flush(remote, 8, SIZE - 8, RpmaFlushType.VISIBILITY, RpmaConn.F_COMPLETION_ON_ERROR, 2));
        Pair.assertPosted(conn.atomicWrite(remote, 0, 4711, ALWAYS, 3));
        Pair.assertDone(conn, 3);
        byte[] sent = new byte[SIZE - 8];
        regions.localMemory.buffer(8, SIZE - 8).get(sent);

        Pair.assertPosted(conn.read(regions.local, 0, remote, 0, SIZE, ALWAYS, 4));
        Pair.assertDone(conn, 4);
        byte[] read = new byte[SIZE - 8];
        regions.localMemory.buffer(8, SIZE - 8).get(read);
        assertTrue(Arrays.equals(sent, read), "what is read back is not what was written");

        conn.disconnect();
        Jvm.Finished end = target.awaitEnd();
        assertEquals(0, end.status(), end.toString());
        long checksum = TargetProgram.checksum(regions.localMemory.buffer(8, SIZE - 8));
        assertTrue(end.out().contains(TargetProgram.CHECKSUM + checksum + " 4711"), end.toString());
    }

    @Test
    void theDeathOfTheOtherProcessClosesTheConnection() throws InterruptedException {
        target.awaitLine(TargetProgram.CONNECTED);
        assertTrue(conn.recv(4));
        target.kill();
        RpmaConnEvent event = conn.nextEvent(Limit.WAIT_S, TimeUnit.SECONDS).orElseThrow();
        assertTrue(event == RpmaConnEvent.CLOSED || event == RpmaConnEvent.LOST, event.toString());
        // The kernel reports the death before it destroys the queue pair, which answers until then.
        target.awaitEnd();
        Pair.assertPosted(conn.write(remote, 0, regions.local, 0, 8, ALWAYS, 5));
        conn.disconnect();
        assertEquals(Set.of(4L, 5L), Set.of(takeFlushed(), takeFlushed()));
    }

    /** Takes the completion of an operation that the end of the connection has ended. */
    private long takeFlushed() throws InterruptedException {
        RpmaCompletions completions = RpmaCompletions.create(1);
        assertEquals(1, conn.getCq().await(completions, Limit.WAIT_S, TimeUnit.SECONDS), "no completion");
        assertEquals(RpmaWcStatus.WR_FLUSH_ERR, completions.status(0));
        return completions.wrId(0);
    }

    @Test
    void theOtherProcessHoldsItsPort() throws InterruptedException {
        try (Jvm.Running second = Jvm.likeThis().start(TargetProgram.class, address, Integer.toString(port))) {
            Jvm.Finished end = second.awaitEnd();
            assertEquals(1, end.status(), end.toString());
            assertTrue(end.err().contains("another endpoint listens"), end.toString());
        }
    }
}
