// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static io.rpma.testing.Name.name;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rpma.testing.Limit;
import io.rpma.testing.Pair;
import io.rpma.testing.TestDevice;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** Making connections: the requests, their private data, and each way to fail. */
@Tag("aarch64")
class ConnectIT extends WithPeer {
    /** The private data of two clients. */
    private static final byte[] FIRST = {1};

    private static final byte[] SECOND = {2};

    private static final int REQUEST_DATA = 56;
    private static final int ANSWER_DATA = 196;

    private static RpmaConnReq next(RpmaEp ep) throws InterruptedException {
        return ep.nextConnReq(null, Limit.WAIT_S, TimeUnit.SECONDS).orElseThrow();
    }

    @Test
    void bothSidesGetEstablishedAndThenClosed() throws InterruptedException {
        try (Pair pair = Pair.connect()) {
            pair.client.disconnect();
            Pair.assertEvent(RpmaConnEvent.CLOSED, pair.server);
            pair.server.disconnect();
            Pair.assertEvent(RpmaConnEvent.CLOSED, pair.client);
        }
    }

    @Test
    void closingOneSideIsSeenByTheOther() throws InterruptedException {
        try (Pair pair = Pair.connect()) {
            pair.client.close();
            Pair.assertEvent(RpmaConnEvent.CLOSED, pair.server);
        }
    }

    @Tag("infiniband-cm")
    @Test
    void privateDataGoesBothWays() throws InterruptedException {
        byte[] question = "who are you?".getBytes(StandardCharsets.UTF_8);
        byte[] answer = "a server".getBytes(StandardCharsets.UTF_8);
        try (RpmaEp ep = RpmaEp.listen(peer, address, port);
                RpmaConn client = RpmaConnReq.create(peer, address, port, null).connect(question);
                RpmaConnReq request = next(ep)) {
            assertArrayEquals(Arrays.copyOf(question, REQUEST_DATA), request.getPrivateData());
            assertEquals(0, client.getPrivateData().length, "nothing is there before ESTABLISHED");
            try (RpmaConn server = request.connect(answer)) {
                Pair.assertEvent(RpmaConnEvent.ESTABLISHED, client);
                Pair.assertEvent(RpmaConnEvent.ESTABLISHED, server);
                assertArrayEquals(Arrays.copyOf(question, REQUEST_DATA), server.getPrivateData());
                assertArrayEquals(Arrays.copyOf(answer, ANSWER_DATA), client.getPrivateData());
            }
        }
    }

    @Test
    void theMostPrivateDataFits() throws InterruptedException {
        byte[] question = new byte[REQUEST_DATA];
        byte[] answer = new byte[ANSWER_DATA];
        Arrays.fill(question, (byte) 7);
        Arrays.fill(answer, (byte) 9);
        try (RpmaEp ep = RpmaEp.listen(peer, address, port);
                RpmaConn client = RpmaConnReq.create(peer, address, port, null).connect(question);
                RpmaConn server = next(ep).connect(answer)) {
            Pair.assertEvent(RpmaConnEvent.ESTABLISHED, client);
            assertArrayEquals(question, server.getPrivateData());
            assertArrayEquals(answer, client.getPrivateData());
        }
    }

    @Tag("infiniband-cm")
    @Test
    void tooMuchPrivateDataIsRefused() throws InterruptedException {
        try (RpmaEp ep = RpmaEp.listen(peer, address, port);
                RpmaConnReq request = RpmaConnReq.create(peer, address, port, null)) {
            assertThrows(IllegalArgumentException.class, () -> request.connect(new byte[256]));
            IllegalArgumentException failure =
                    assertThrows(IllegalArgumentException.class, () -> request.connect(new byte[REQUEST_DATA + 1]));
            assertEquals(
                    "rpma_conn_req_connect takes at most 56 bytes of private data here, not 57", failure.getMessage());
            assertFalse(ep.nextConnReq(null, 0, TimeUnit.SECONDS).isPresent());
            try (RpmaConn client = request.connect(new byte[REQUEST_DATA]);
                    RpmaConn server = next(ep).connect()) {
                Pair.assertEvent(RpmaConnEvent.ESTABLISHED, client);
                Pair.assertEvent(RpmaConnEvent.ESTABLISHED, server);
            }
        }
    }

    @Test
    void anOutgoingRequestHasNoPrivateData() {
        try (RpmaConnReq request = RpmaConnReq.create(peer, address, port, null)) {
            assertEquals(0, request.getPrivateData().length);
        }
    }

    @Test
    void aCallWaitsUntilTheConnectionIsEstablished() throws Exception {
        byte[] answer = {1, 2, 3};
        try (RpmaEp ep = RpmaEp.listen(peer, address, port)) {
            FutureTask<RpmaConn> accepting =
                    new FutureTask<>(() -> next(ep).connect(answer, Limit.WAIT_S, TimeUnit.SECONDS));
            new Thread(accepting).start();
            try (RpmaConn client =
                            RpmaConnReq.create(peer, address, port, null).connect(Limit.WAIT_S, TimeUnit.SECONDS);
                    RpmaConn server = accepting.get(Limit.WAIT_S, TimeUnit.SECONDS)) {
                assertArrayEquals(answer, Arrays.copyOf(client.getPrivateData(), answer.length));
                Pair.assertPosted(client.write(RpmaConn.F_COMPLETION_ALWAYS, 1));
                Pair.assertDone(client, 1);
                Pair.assertPosted(server.write(RpmaConn.F_COMPLETION_ALWAYS, 2));
                Pair.assertDone(server, 2);
            }
        }
    }

    @Test
    void aCallThatWaitsForTheConnectionTellsWhyThereIsNone() throws Exception {
        assertConnectFails(port, "ECONNREFUSED", Limit.WAIT_S);
        // a request that was given up can still arrive, so that the port needs to be of this endpoint only
        int silentPort = TestDevice.port();
        RpmaEp silent = RpmaEp.listen(peer, address, silentPort);
        try {
            assertConnectFails(silentPort, "ETIMEDOUT", 0);
        } finally {
            silent.close();
        }
        try (RpmaEp ep = RpmaEp.listen(peer, address, port)) {
            FutureTask<Void> rejecting = new FutureTask<>(() -> {
                next(ep).close();
                return null;
            });
            new Thread(rejecting).start();
            assertConnectFails(port, "ECONNREFUSED", Limit.WAIT_S);
            rejecting.get(Limit.WAIT_S, TimeUnit.SECONDS);
        }
    }

    /** The failure has closed the connection: the peer can be closed. */
    private void assertConnectFails(int toPort, String errno, int seconds) {
        try (RpmaPeer own = TestDevice.peer()) {
            RpmaConnReq request = RpmaConnReq.create(own, address, toPort, null);
            RpmaException failure = assertThrows(RpmaException.class, () -> request.connect(seconds, TimeUnit.SECONDS));
            assertEquals(errno, failure.errnoName(), failure.getMessage());
            assertTrue(failure.getMessage().contains("rpma_conn_req_connect"), failure.getMessage());
        }
    }

    @Test
    void closingARequestRejectsIt() throws InterruptedException {
        try (RpmaEp ep = RpmaEp.listen(peer, address, port);
                RpmaConn client = RpmaConnReq.create(peer, address, port, null).connect()) {
            next(ep).close();
            Pair.assertEvent(RpmaConnEvent.REJECTED, client);
        }
    }

    @Tag("infiniband-cm")
    @Test
    void nobodyListening() throws InterruptedException {
        try (RpmaConn client = RpmaConnReq.create(peer, address, port, null).connect()) {
            Pair.assertEvent(RpmaConnEvent.REJECTED, client);
        }
    }

    @Test
    void anAddressThatNobodyHasCantBeResolved() {
        String network = address.substring(0, address.lastIndexOf('.') + 1);
        try (RpmaConnCfg cfg = RpmaConnCfg.create().setTimeout(100)) {
            RpmaException failure =
                    assertThrows(RpmaException.class, () -> RpmaConnReq.create(peer, network + "253", port, cfg));
            assertEquals("rpma_conn_req_new", failure.operation());
            assertEquals(RpmaError.PROVIDER, failure.error());
        }
    }

    private static void assertFails(String operation, Executable call) {
        RpmaException failure = assertThrows(RpmaException.class, call);
        assertEquals(operation, failure.operation());
        assertEquals(RpmaError.PROVIDER, failure.error());
    }

    @Test
    void anAddressOfNoDevice() {
        for (String bad : List.of("no.such.host.invalid", address + "\0", "x".repeat(255))) {
            assertFails("rpma_conn_req_new", () -> RpmaConnReq.create(peer, bad, port, null));
            assertFails("rpma_ep_listen", () -> RpmaEp.listen(peer, bad, port));
        }
        assertFails("rpma_ep_listen", () -> RpmaEp.listen(peer, "192.0.2.1", port));
    }

    @Test
    void aPortThatIsTaken() {
        try (RpmaEp ep = RpmaEp.listen(peer, address, port)) {
            RpmaException failure = assertThrows(RpmaException.class, () -> RpmaEp.listen(peer, address, port));
            assertTrue(failure.getMessage().contains("another endpoint listens"), failure.getMessage());
            assertThrows(IllegalStateException.class, peer::close, ep + " is open");
        }
    }

    /** The kernel reports the error of an address of no device. */
    @Test
    void aPortThatIsTakenAtAllAddresses() {
        try (RpmaEp ep = RpmaEp.listen(peer, "0.0.0.0", port)) {
            RpmaException failure = assertThrows(RpmaException.class, () -> RpmaEp.listen(peer, address, port));
            assertTrue(failure.getMessage().contains("another endpoint listens on this port"), failure.getMessage());
            assertTrue(failure.getMessage().contains("addr=" + address + ")"), failure.getMessage());
            assertThrows(IllegalStateException.class, peer::close, ep + " is open");
        }
    }

    @Test
    void badPorts() {
        for (int bad : new int[] {-1, 0, 65536}) {
            assertThrows(IllegalArgumentException.class, () -> RpmaEp.listen(peer, address, bad));
            assertThrows(IllegalArgumentException.class, () -> RpmaConnReq.create(peer, address, bad, null));
        }
        assertThrows(IllegalArgumentException.class, () -> RpmaEp.listen(peer, "", port));
        assertThrows(NullPointerException.class, () -> RpmaEp.listen(peer, null, port));
        assertThrows(NullPointerException.class, () -> RpmaConnReq.create(peer, null, port, null));
    }

    @Tag("infiniband-cm")
    @Test
    void aClientThatGivesUpDoesNotEndTheEndpoint() throws InterruptedException {
        try (RpmaEp ep = RpmaEp.listen(peer, address, port)) {
            RpmaConnReq.create(peer, address, port, null).connect(FIRST).close();
            try (RpmaConn client = RpmaConnReq.create(peer, address, port, null).connect(SECOND)) {
                while (!isEstablished(ep, client)) {
                    assertTrue(client.nextEvent(0, TimeUnit.SECONDS).isEmpty(), "the second client lost its turn");
                }
            }
        }
    }

    /** Serves one request. If it is from the client that gave up, a step can fail. */
    private static boolean isEstablished(RpmaEp ep, RpmaConn client) throws InterruptedException {
        boolean second = false;
        try {
            RpmaConnReq request = next(ep);
            second = request.getPrivateData()[0] == SECOND[0];
            try (RpmaConn server = request.connect()) {
                if (second) {
                    Pair.assertEvent(RpmaConnEvent.ESTABLISHED, client);
                    Pair.assertEvent(RpmaConnEvent.ESTABLISHED, server);
                }
            }
        } catch (RpmaException e) {
            assertFalse(second, e.toString());
            assertEquals(RpmaError.PROVIDER, e.error());
        }
        return second;
    }

    /** The end of the client may arrive before or after the request is closed. */
    @Tag("infiniband-cm")
    @Test
    void aRequestWhoseClientHasGoneIsClosed() throws InterruptedException {
        try (RpmaEp ep = RpmaEp.listen(peer, address, port)) {
            for (int i = 0; i < 20; i++) {
                RpmaConn client = RpmaConnReq.create(peer, address, port, null).connect();
                RpmaConnReq request = next(ep);
                client.close();
                request.close();
            }
        }
    }

    @Test
    void aRequestIsConsumedByConnect() throws InterruptedException {
        try (RpmaEp ep = RpmaEp.listen(peer, address, port)) {
            RpmaConnReq request = RpmaConnReq.create(peer, address, port, null);
            try (RpmaConn client = request.connect()) {
                request.close();
                assertThrows(IllegalStateException.class, request::connect);
                assertThrows(IllegalStateException.class, request::getPrivateData);
                next(ep).connect().close();
                assertNotEquals(0, client.getQpNum(), "the connection is open");
            }
        }
    }

    @Test
    void anEndpointIsNotClosedBeforeItsRequests() throws InterruptedException {
        RpmaEp ep = RpmaEp.listen(peer, address, port);
        try (RpmaConn client = RpmaConnReq.create(peer, address, port, null).connect()) {
            RpmaConnReq request = next(ep);
            IllegalStateException refusal = assertThrows(IllegalStateException.class, ep::close);
            assertTrue(refusal.getMessage().contains(name(request)), refusal.getMessage());
            try (RpmaConn server = request.connect()) {
                ep.close();
                Pair.assertEvent(RpmaConnEvent.ESTABLISHED, client);
                Pair.assertEvent(RpmaConnEvent.ESTABLISHED, server);
            }
        }
    }

    @Tag("infiniband-cm")
    @Test
    void aConnectionThatWasNeverEstablishedCanBeClosed() {
        RpmaConn client = RpmaConnReq.create(peer, address, port, null).connect();
        client.close();
        assertThrows(IllegalStateException.class, client::disconnect);
    }

    @Test
    void aQueueForARequestThatTheDeviceDoesNotHave() {
        try (RpmaConnCfg cfg = RpmaConnCfg.create().setCqSize(Integer.MAX_VALUE);
                RpmaEp ep = RpmaEp.listen(peer, address, port);
                RpmaConn client = RpmaConnReq.create(peer, address, port, null).connect()) {
            RpmaException failure = assertThrows(
                    RpmaException.class, () -> ep.nextConnReq(cfg, Limit.WAIT_S, TimeUnit.SECONDS), client::toString);
            assertEquals("rpma_ep_next_conn_req", failure.operation());
            assertEquals(RpmaError.PROVIDER, failure.error());
            assertTrue(failure.detail().contains("ibv_create_cq"), failure.getMessage());
            assertTrue(failure.getMessage().contains("max_cqe="), failure.getMessage());
        }
    }

    @Test
    void aClosedConfigurationIsRefused() {
        RpmaConnCfg cfg = RpmaConnCfg.create();
        cfg.close();
        assertClosed(cfg, () -> RpmaConnReq.create(peer, address, port, cfg));
        try (RpmaEp ep = RpmaEp.listen(peer, address, port)) {
            assertClosed(cfg, () -> ep.nextConnReq(cfg));
            assertClosed(cfg, () -> ep.nextConnReq(cfg, 0, TimeUnit.SECONDS));
        }
    }

    @Test
    void aClosedPeerIsRefused() {
        RpmaPeer closed = TestDevice.peer();
        closed.close();
        closed.close();
        try (RpmaMemory memory = RpmaMemory.allocate(1)) {
            for (Executable use : List.<Executable>of(
                    () -> RpmaConnReq.create(closed, address, port, null),
                    () -> RpmaEp.listen(closed, address, port),
                    () -> RpmaSrq.create(closed, null),
                    () -> closed.register(memory, RpmaMrUsage.READ_SRC),
                    () -> closed.register(memory.buffer(), RpmaMrUsage.READ_SRC),
                    () -> closed.register(memory.address(), 1, memory, RpmaMrUsage.READ_SRC))) {
                assertClosed(closed, use);
            }
        }
    }

    private static void assertClosed(Object closed, Executable use) {
        String message = assertThrows(IllegalStateException.class, use).getMessage();
        assertTrue(message.contains(name(closed) + " is closed"), message);
    }

    @Test
    void aClosedEndpointIsRefused() {
        RpmaEp ep = RpmaEp.listen(peer, address, port);
        ep.close();
        ep.close();
        assertClosed(ep, () -> ep.nextConnReq(null));
        assertClosed(ep, () -> ep.nextConnReq(null, 0, TimeUnit.SECONDS));
        assertClosed(ep, ep::getFd);
    }

    @Test
    void connectionsAreChildrenOfThePeer() throws InterruptedException {
        try (Pair pair = Pair.connect()) {
            IllegalStateException refusal = assertThrows(IllegalStateException.class, pair.peer::close);
            assertTrue(refusal.getMessage().contains("RpmaConn#"), refusal.getMessage());
        }
    }
}
