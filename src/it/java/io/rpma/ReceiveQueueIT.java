// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rpma.testing.Blocked;
import io.rpma.testing.Pair;
import io.rpma.testing.TestDevice;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A completion queue for receives alone. */
class ReceiveQueueIT extends WithPeer {
    private static final int ALWAYS = RpmaConn.F_COMPLETION_ALWAYS;

    private Pair pair;
    private RpmaConn conn;
    private RpmaCq rcq;
    private final RpmaCompletions completions = RpmaCompletions.create(4);

    @BeforeEach
    void open() throws InterruptedException {
        try (RpmaConnCfg cfg = RpmaConnCfg.create().setRcqSize(10)) {
            pair = Pair.connect(peer, null, cfg);
        }
        conn = pair.server;
        rcq = conn.getRcq().orElseThrow();
    }

    @AfterEach
    void close() {
        if (pair != null) {
            pair.close();
        }
    }

    @Tag("empty-receives")
    @Test
    void receivesAndTheRestCompleteApart() throws InterruptedException {
        Pair.assertPosted(conn.recv(1));
        Pair.assertPosted(pair.client.send(ALWAYS, 2));
        Pair.assertPosted(conn.write(ALWAYS, 3));
        assertEquals(RpmaWcOpcode.RECV, Pair.assertDone(rcq, 1).opcode(0));
        Pair.assertDone(conn.getCq(), 3);
        assertEquals(0, rcq.poll(completions));
        assertEquals(0, conn.getCq().poll(completions));
    }

    @Tag("empty-receives")
    @Test
    void aConnectionHasNoneByDefault() throws InterruptedException {
        assertEquals(Optional.empty(), pair.client.getRcq());
        Pair.assertPosted(pair.client.recv(1));
        Pair.assertPosted(conn.send(ALWAYS, 2));
        Pair.assertDone(pair.client.getCq(), 1);
    }

    @Tag("empty-receives")
    @Test
    void eachQueueHasItsWaiter() throws Exception {
        Blocked receiver = new Blocked(() -> rcq.await(RpmaCompletions.create(1)));
        Blocked writer = new Blocked(() -> conn.getCq().await(RpmaCompletions.create(1)));
        Pair.assertPosted(conn.write(ALWAYS, 3));
        assertEquals(1, writer.result());
        Pair.assertPosted(conn.recv(1));
        Pair.assertPosted(pair.client.send(ALWAYS, 2));
        assertEquals(1, receiver.result());
    }

    @Test
    void waitsEndByTimeInterruptAndClose() throws InterruptedException {
        assertEquals(0, rcq.await(completions, 10, TimeUnit.MILLISECONDS));
        assertThrows(IllegalArgumentException.class, () -> rcq.await(completions, -1, TimeUnit.SECONDS));
        Blocked.assertWokenByInterrupt(() -> rcq.await(RpmaCompletions.create(1)));
        Blocked.assertWokenByClose(() -> rcq.await(RpmaCompletions.create(1)), conn::close);
        String message = assertThrows(IllegalStateException.class, () -> rcq.poll(completions))
                .getMessage();
        assertTrue(message.contains("is closed"), message);
    }

    @Tag("empty-receives")
    @Test
    void disconnectFlushesTheReceives() throws InterruptedException {
        Pair.assertPosted(conn.recv(1));
        Pair.assertPosted(conn.recv(2));
        conn.disconnect();
        Pair.assertCompletion(rcq, 1, RpmaWcStatus.WR_FLUSH_ERR);
        Pair.assertCompletion(rcq, 2, RpmaWcStatus.WR_FLUSH_ERR);
    }

    @Test
    void moreThanTheDeviceHas() {
        try (RpmaConnCfg cfg = RpmaConnCfg.create().setRcqSize(Integer.MAX_VALUE)) {
            RpmaException failure = assertThrows(
                    RpmaException.class, () -> RpmaConnReq.create(peer, TestDevice.address(), TestDevice.port(), cfg));
            assertTrue(failure.getMessage().contains("max_cqe="), failure.getMessage());
        }
    }
}
