// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaConn;
import io.rpma.RpmaConnCfg;
import io.rpma.RpmaConnEvent;
import io.rpma.RpmaConnReq;
import io.rpma.RpmaCq;
import io.rpma.RpmaEp;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrRemote;
import io.rpma.RpmaPeer;
import io.rpma.RpmaWcStatus;
import java.util.concurrent.TimeUnit;

/** Two connected sides in one JVM: the client posts, the server's memory is the target. */
public final class Pair implements AutoCloseable {
    /** The peer of both sides. */
    public final RpmaPeer peer;
    /** The side that connects, and posts. */
    public final RpmaConn client;
    /** The side that accepts. */
    public final RpmaConn server;

    private final boolean ownsPeer;

    private Pair(RpmaPeer peer, boolean ownsPeer, RpmaConn client, RpmaConn server) {
        this.peer = peer;
        this.ownsPeer = ownsPeer;
        this.client = client;
        this.server = server;
    }

    /** Connects two sides on a peer of their own. */
    public static Pair connect() throws InterruptedException {
        return connect(null);
    }

    /** Connects two sides with the same configuration on a peer of their own. */
    public static Pair connect(RpmaConnCfg cfg) throws InterruptedException {
        return connect(TestDevice.peer(), true, cfg, cfg);
    }

    /** Connects two sides, each with its own configuration, on a peer that stays open. */
    public static Pair connect(RpmaPeer peer, RpmaConnCfg clientCfg, RpmaConnCfg serverCfg)
            throws InterruptedException {
        return connect(peer, false, clientCfg, serverCfg);
    }

    private static Pair connect(RpmaPeer peer, boolean ownsPeer, RpmaConnCfg clientCfg, RpmaConnCfg serverCfg)
            throws InterruptedException {
        int port = TestDevice.port();
        try (RpmaEp ep = RpmaEp.listen(peer, TestDevice.address(), port)) {
            RpmaConn client = RpmaConnReq.create(peer, TestDevice.address(), port, clientCfg)
                    .connect();
            RpmaConn server = ep.nextConnReq(serverCfg, Limit.WAIT_S, TimeUnit.SECONDS)
                    .orElseThrow()
                    .connect();
            assertEvent(RpmaConnEvent.ESTABLISHED, client);
            assertEvent(RpmaConnEvent.ESTABLISHED, server);
            return new Pair(peer, ownsPeer, client, server);
        }
    }

    /** Waits for the next event and checks it. */
    public static void assertEvent(RpmaConnEvent expected, RpmaConn conn) throws InterruptedException {
        assertEquals(
                expected,
                conn.nextEvent(Limit.WAIT_S, TimeUnit.SECONDS)
                        .orElseThrow(
                                () -> new AssertionError(conn + ": no " + expected + " in " + Limit.WAIT_S + " s")));
    }

    /** Waits for one completion of the connection and checks its context and its status. */
    public static RpmaCompletions assertCompletion(RpmaConn conn, long wrId, RpmaWcStatus status)
            throws InterruptedException {
        return assertCompletion(conn.getCq(), wrId, status);
    }

    /** Waits for one completion of a queue and checks its context and its status. */
    public static RpmaCompletions assertCompletion(RpmaCq cq, long wrId, RpmaWcStatus status)
            throws InterruptedException {
        RpmaCompletions completions = RpmaCompletions.create(1);
        assertEquals(1, cq.await(completions, Limit.WAIT_S, TimeUnit.SECONDS), "no completion");
        assertEquals(wrId, completions.wrId(0));
        assertEquals(status, completions.status(0));
        return completions;
    }

    /** Waits for one completion of the connection and checks its context and that it is a success. */
    public static void assertDone(RpmaConn conn, long wrId) throws InterruptedException {
        assertDone(conn.getCq(), wrId);
    }

    /** Waits for one completion of a queue and checks its context and that it is a success. */
    public static RpmaCompletions assertDone(RpmaCq cq, long wrId) throws InterruptedException {
        return assertCompletion(cq, wrId, RpmaWcStatus.SUCCESS);
    }

    /**
     * Checks the completions of a message longer than its receive. soft-RoCE does not report the statuses of the
     * standard.
     */
    public static RpmaCompletions assertTooLong(RpmaCq receiver, long recvId, RpmaCq sender, long sendId)
            throws InterruptedException {
        RpmaCompletions received = RpmaCompletions.create(1);
        assertEquals(1, receiver.await(received, Limit.WAIT_S, TimeUnit.SECONDS), "no completion");
        assertEquals(recvId, received.wrId(0));
        boolean soft = received.status(0) == RpmaWcStatus.LOC_QP_OP_ERR;
        assertEquals(soft ? RpmaWcStatus.LOC_QP_OP_ERR : RpmaWcStatus.LOC_LEN_ERR, received.status(0));
        assertCompletion(sender, sendId, soft ? RpmaWcStatus.REM_OP_ERR : RpmaWcStatus.REM_INV_REQ_ERR);
        return received;
    }

    /** The remote region by which the client uses a region of the server. */
    public static RpmaMrRemote remote(RpmaMrLocal region) {
        return RpmaMrRemote.fromDescriptor(region.getDescriptor());
    }

    /** Checks that a post found room in its queue. */
    public static void assertPosted(boolean posted) {
        assertTrue(posted, "the queue is full");
    }

    @Override
    public void close() {
        client.close();
        server.close();
        if (ownsPeer) {
            peer.close();
        }
    }
}
