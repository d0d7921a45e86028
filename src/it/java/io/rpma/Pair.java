package io.rpma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.TimeUnit;

/** Two connected sides in one JVM: the client posts, the server's memory is the target. */
final class Pair implements AutoCloseable {
    static final int TIMEOUT_S = 20;

    final RpmaPeer peer;
    final RpmaConn client;
    final RpmaConn server;

    private Pair(RpmaPeer peer, RpmaConn client, RpmaConn server) {
        this.peer = peer;
        this.client = client;
        this.server = server;
    }

    static Pair connect() throws InterruptedException {
        return connect(null);
    }

    static Pair connect(RpmaConnCfg cfg) throws InterruptedException {
        RpmaPeer peer = TestDevice.peer();
        int port = TestDevice.port();
        try (RpmaEp ep = RpmaEp.listen(peer, TestDevice.address(), port)) {
            RpmaConn client =
                    RpmaConnReq.create(peer, TestDevice.address(), port, cfg).connect();
            RpmaConn server = ep.nextConnReq(cfg, TIMEOUT_S, TimeUnit.SECONDS)
                    .orElseThrow()
                    .connect();
            assertEvent(RpmaConnEvent.ESTABLISHED, client);
            assertEvent(RpmaConnEvent.ESTABLISHED, server);
            return new Pair(peer, client, server);
        }
    }

    static void assertEvent(RpmaConnEvent expected, RpmaConn conn) throws InterruptedException {
        assertEquals(
                expected,
                conn.nextEvent(TIMEOUT_S, TimeUnit.SECONDS)
                        .orElseThrow(() -> new AssertionError(conn + ": no " + expected + " in " + TIMEOUT_S + " s")));
    }

    /** Waits for one completion and checks whose it is and how it ended. */
    static RpmaCompletions assertCompletion(RpmaConn conn, long wrId, RpmaWcStatus status) throws InterruptedException {
        RpmaCompletions completions = RpmaCompletions.create(1);
        assertEquals(1, conn.getCq().await(completions, TIMEOUT_S, TimeUnit.SECONDS), "no completion");
        assertEquals(wrId, completions.wrId(0));
        assertEquals(status, completions.status(0));
        return completions;
    }

    static void assertDone(RpmaConn conn, long wrId) throws InterruptedException {
        assertCompletion(conn, wrId, RpmaWcStatus.SUCCESS);
    }

    /** The view that the client has of a region of the server. */
    static RpmaMrRemote remote(RpmaMrLocal region) {
        return RpmaMrRemote.fromDescriptor(region.getDescriptor());
    }

    static void assertPosted(boolean posted) {
        assertTrue(posted, "the queue is full");
    }

    @Override
    public void close() {
        client.close();
        server.close();
        peer.close();
    }
}
