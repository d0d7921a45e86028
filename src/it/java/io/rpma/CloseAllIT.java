// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static io.rpma.testing.Name.name;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rpma.internal.Loader;
import io.rpma.internal.Natives;
import io.rpma.rdmacm.RdmaId;
import io.rpma.rdmacm.RdmaPortSpace;
import io.rpma.testing.Blocked;
import io.rpma.testing.Limit;
import io.rpma.testing.Pair;
import io.rpma.testing.RdmaPair;
import io.rpma.testing.Readable;
import io.rpma.testing.Regions;
import io.rpma.testing.RunningLoop;
import io.rpma.testing.TestDevice;
import io.rpma.testing.Together;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Closes many objects at once. */
@Tag("stand-in")
class CloseAllIT {
    private static final int ROUNDS = 100;

    private int before;

    @BeforeEach
    void count() {
        Loader.ensureLoaded();
        before = Natives.handleCount();
    }

    @AfterEach
    void nothingIsLeft() {
        assertEquals(before, Natives.handleCount());
    }

    @Test
    void aPeerWithItsTree() throws Exception {
        RpmaPeer peer = TestDevice.peer();
        int port = TestDevice.port();
        try (RpmaPeer other = TestDevice.peer();
                RpmaMemory memory = RpmaMemory.allocate(4096)) {
            RpmaMrLocal region = peer.register(memory, Regions.ALL);
            RpmaSrq srq = RpmaSrq.create(peer, null);
            Pair pair = Pair.connect(peer, null, null);
            RpmaEp ep = RpmaEp.listen(peer, TestDevice.address(), port);
            RpmaConnReq unsent = RpmaConnReq.create(peer, TestDevice.address(), port, null);
            try (RpmaConn first = connect(other, port);
                    RpmaConn second = connect(other, port)) {
                RpmaConnReq taken =
                        ep.nextConnReq(null, Limit.WAIT_S, TimeUnit.SECONDS).orElseThrow();
                // soft-iWARP forgets a request that arrives while the endpoint closes
                Readable.assertReadable(ep.getFd());
                assertTrue(assertThrows(IllegalStateException.class, peer::close)
                        .getMessage()
                        .contains(name(region)));

                List<AutoCloseable> all = List.of(peer, region, srq, pair.client, pair.server, ep, unsent, taken);
                RpmaObjects.closeAll(all);
                RpmaObjects.closeAll(all);
                Pair.assertEvent(RpmaConnEvent.REJECTED, first);
                Pair.assertEvent(RpmaConnEvent.REJECTED, second);
                assertClosed(ep, ep::getFd);
                assertClosed(region, region::getDescriptor);
                assertClosed(srq, () -> srq.recv(1));
                assertClosed(taken, taken::getPrivateData);
                assertClosed(unsent, unsent::getPrivateData);
                assertClosed(pair.client.getCq(), () -> pair.client.getCq().poll(RpmaCompletions.create(1)));
                assertEquals(4096, memory.size());
            }
        }
    }

    private static RpmaConn connect(RpmaPeer peer, int port) {
        return RpmaConnReq.create(peer, TestDevice.address(), port, null).connect();
    }

    private static void assertClosed(Object object, org.junit.jupiter.api.function.Executable call) {
        String message = assertThrows(IllegalStateException.class, call).getMessage();
        assertTrue(message.contains(name(object) + " is closed"), message);
    }

    @Test
    void idsWithRegionsInAnyOrder() throws Exception {
        RdmaPair pair = RdmaPair.connect();
        RdmaId idle = RdmaId.create(RdmaPortSpace.TCP);
        List<AutoCloseable> all = new ArrayList<>(List.of(
                idle, pair.client, pair.clientMemory, pair.server, pair.clientMr, pair.serverMr, pair.serverMemory));
        String message = assertThrows(
                        IllegalStateException.class, () -> RpmaObjects.closeAll(List.of(idle, pair.client)))
                .getMessage();
        assertEquals(name(pair.client) + " can't be closed before " + name(pair.clientMr), message);
        idle.localAddr();
        pair.client.qp().qpNum();

        RpmaObjects.closeAll(all);
        for (RdmaId id : List.of(idle, pair.client, pair.server)) {
            assertClosed(id, id::localAddr);
        }
    }

    /** The list has a loop and the objects that it serves, and a listener in which another thread waits. */
    @Test
    void whatOthersWaitForAndServe() throws Exception {
        RdmaPair pair = RdmaPair.connect();
        RdmaId listener = RdmaPair.listen(TestDevice.port());
        Blocked waiting = new Blocked(listener::getRequest);
        try (RunningLoop running = new RunningLoop()) {
            pair.server.onEvent(running.loop, event -> {});
            pair.server.qp().onRecvComp(running.loop, 1, completions -> {});
            RpmaObjects.closeAll(List.of(
                    running.loop,
                    listener,
                    pair.server,
                    pair.serverMr,
                    pair.client,
                    pair.clientMr,
                    pair.clientMemory,
                    pair.serverMemory));
            waiting.assertClosed();
            running.awaitEnd();
        }
    }

    /** Some threads close the same tree, by lists and one by one, while others post, wait and connect. */
    @Test
    void manyThreadsUseAndCloseATree() throws Exception {
        long seed = new Random().nextLong();
        System.out.println("CloseAllIT: seed " + seed);
        for (int round = 0; round < ROUNDS; round++) {
            RpmaPeer peer = TestDevice.peer();
            RpmaMemory memory = RpmaMemory.allocate(64);
            RpmaMrLocal region = peer.register(memory, Regions.ALL);
            RpmaMrRemote remote = Pair.remote(region);
            Pair pair = Pair.connect(peer, null, null);
            List<AutoCloseable> all = new ArrayList<>(List.of(peer, memory, region, remote, pair.client, pair.server));
            Collections.shuffle(all, new Random(seed + round));
            int action = round;
            Together.run(5, thread -> {
                try {
                    act(thread, action, all, pair.client, region, remote, peer);
                } catch (IllegalStateException e) {
                    assertTrue(e.getMessage().matches("(?s).*( is closed| can't be closed before .*)"), e.getMessage());
                }
            });
            RpmaObjects.closeAll(all);
        }
    }

    private static void post(RpmaConn conn, RpmaMrLocal region, RpmaMrRemote remote) {
        conn.write(remote, 0, region, 0, 8, RpmaConn.F_COMPLETION_ALWAYS, 1);
        conn.send(region, 0, 8, RpmaConn.F_COMPLETION_ON_ERROR, 2);
    }

    private static void act(
            int thread,
            int round,
            List<AutoCloseable> all,
            RpmaConn conn,
            RpmaMrLocal region,
            RpmaMrRemote remote,
            RpmaPeer peer)
            throws Exception {
        if (thread == 0) {
            RpmaObjects.closeAll(all);
        } else if (thread == 1 && round % 2 == 0) {
            conn.close();
            region.close();
        } else if (thread <= 2) {
            post(conn, region, remote);
            conn.getCq().await(RpmaCompletions.create(1), Limit.WAIT_S, TimeUnit.SECONDS);
        } else if (thread == 3) {
            conn.nextEvent(Limit.WAIT_S, TimeUnit.SECONDS);
        } else {
            for (int i = 0; i < round; i++) {
                peer.register(java.nio.ByteBuffer.allocateDirect(64), Regions.ALL)
                        .close();
            }
            // a close that was refused because of such a region is repeated
            RpmaObjects.closeAll(all);
        }
    }
}
