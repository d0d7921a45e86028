// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rpma.testing.Blocked;
import io.rpma.testing.Limit;
import io.rpma.testing.Pair;
import io.rpma.testing.TestDevice;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** An endpoint that several threads use at once. */
class AcceptIT extends WithPeer {
    private static final int ROUNDS = 60;

    /** The duration of a resolution that nobody answers: longer than all that the test does meanwhile. */
    private static final int SLOW_MS = 8000;

    private final ExecutorService threads = Executors.newCachedThreadPool();
    private RpmaEp ep;

    @BeforeEach
    void listen() {
        ep = RpmaEp.listen(peer, address, port);
    }

    @AfterEach
    void close() throws InterruptedException {
        threads.shutdownNow();
        assertTrue(threads.awaitTermination(Limit.WAIT_S, TimeUnit.SECONDS));
        if (ep != null) {
            ep.close();
        }
    }

    /** While a connection is accepted, its events arrive in the queue of the endpoint. */
    @Test
    void anAcceptorTakesNoEventsOfConnections() throws Exception {
        BlockingQueue<RpmaConnReq> requests = new LinkedBlockingQueue<>();
        Future<?> acceptor = threads.submit(() -> {
            while (true) {
                requests.add(ep.nextConnReq(null));
            }
        });
        for (int i = 0; i < ROUNDS; i++) {
            try (RpmaConn client = RpmaConnReq.create(peer, address, port, null).connect()) {
                CompletableFuture<RpmaConn> accepted = CompletableFuture.supplyAsync(() -> take(requests), threads);
                Pair.assertEvent(RpmaConnEvent.ESTABLISHED, client);
                try (RpmaConn server = accepted.get(Limit.WAIT_S, TimeUnit.SECONDS)) {
                    Pair.assertEvent(RpmaConnEvent.ESTABLISHED, server);
                }
            }
        }
        acceptor.cancel(true);
    }

    private static RpmaConn take(BlockingQueue<RpmaConnReq> requests) {
        try {
            return requests.take().connect();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void aSlowResolutionDoesNotHoldUpAccepting() throws Exception {
        try (RpmaConnCfg slow = RpmaConnCfg.create().setTimeout(SLOW_MS)) {
            Blocked resolution =
                    new Blocked(() -> RpmaConnReq.create(peer, TestDevice.silentAddress(), port, slow), "connReqNew");
            for (int i = 0; i < 3; i++) {
                try (RpmaConn client =
                                RpmaConnReq.create(peer, address, port, null).connect();
                        RpmaConn server = ep.nextConnReq(null, Limit.WAIT_S, TimeUnit.SECONDS)
                                .orElseThrow()
                                .connect()) {
                    Pair.assertEvent(RpmaConnEvent.ESTABLISHED, client);
                    Pair.assertEvent(RpmaConnEvent.ESTABLISHED, server);
                }
            }
            assertFalse(resolution.isDone());
            assertEquals(RpmaException.class, resolution.failure().getClass());
        }
    }

    /**
     * The change waits until the request is made; calls that only read the configuration do not wait for the change.
     */
    @Test
    void aChangeThatWaitsForASlowResolutionHoldsUpNobody() throws Exception {
        try (RpmaSrq srq = RpmaSrq.create(peer, null);
                RpmaConnCfg slow = RpmaConnCfg.create().setTimeout(SLOW_MS)) {
            Blocked resolution =
                    new Blocked(() -> RpmaConnReq.create(peer, TestDevice.silentAddress(), port, slow), "connReqNew");
            Blocked change = new Blocked(() -> slow.setSrq(srq));
            assertEquals(Optional.empty(), ep.nextConnReq(slow, 0, TimeUnit.SECONDS));
            assertEquals(Optional.empty(), slow.getSrq());
            RpmaEp.listen(peer, address, TestDevice.port()).close();
            ep.close();
            assertFalse(resolution.isDone());
            assertFalse(change.isDone());
            assertEquals(RpmaException.class, resolution.failure().getClass());
            assertSame(slow, change.result());
        }
    }

    /** Waiters that got no request must not count as open requests. */
    @Test
    void anEndpointWithWaitersAndWithoutRequestsCloses() throws Exception {
        for (int i = 0; i < ROUNDS; i++) {
            RpmaEp contended = RpmaEp.listen(peer, address, TestDevice.port());
            AtomicInteger woken = new AtomicInteger();
            Future<?> first = threads.submit(() -> awaitClose(contended, woken));
            Future<?> second = threads.submit(() -> awaitClose(contended, woken));
            contended.close();
            first.get(Limit.WAIT_S, TimeUnit.SECONDS);
            second.get(Limit.WAIT_S, TimeUnit.SECONDS);
            assertEquals(2, woken.get());
        }
    }

    private static Void awaitClose(RpmaEp ep, AtomicInteger woken) {
        assertThrows(IllegalStateException.class, () -> ep.nextConnReq(null));
        woken.incrementAndGet();
        return null;
    }

    @Test
    void oneOfTwoWaitersGetsARequest() throws Exception {
        Future<Optional<RpmaConnReq>> first = threads.submit(() -> ep.nextConnReq(null, 5, TimeUnit.SECONDS));
        Future<Optional<RpmaConnReq>> second = threads.submit(() -> ep.nextConnReq(null, 5, TimeUnit.SECONDS));
        try (RpmaConn client = RpmaConnReq.create(peer, address, port, null).connect()) {
            Optional<RpmaConnReq> one = first.get(Limit.WAIT_S, TimeUnit.SECONDS);
            Optional<RpmaConnReq> other = second.get(Limit.WAIT_S, TimeUnit.SECONDS);
            assertTrue(one.isPresent() ^ other.isPresent());
            one.or(() -> other).orElseThrow().close();
            Pair.assertEvent(RpmaConnEvent.REJECTED, client);
            assertFalse(client.nextEvent(0, TimeUnit.SECONDS).isPresent());
        }
    }
}
