package io.rpma.rdmacm;

import static io.rpma.rdmacm.RdmaPair.TIMEOUT_S;
import static io.rpma.rdmacm.RdmaPair.address;
import static io.rpma.rdmacm.RdmaPair.awaitEvent;
import static io.rpma.rdmacm.RdmaPair.listen;
import static io.rpma.rdmacm.RdmaPair.request;
import static io.rpma.rdmacm.RdmaPair.resolved;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import io.rpma.Blocked;
import io.rpma.RpmaCompletions;
import io.rpma.RpmaException;
import io.rpma.RpmaMemory;
import io.rpma.TestDevice;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** How ids find each other and part. */
@Timeout(60)
class RdmaConnectIT {
    @BeforeAll
    static void findDevice() {
        TestDevice.address();
    }

    private static byte[] data(int length) {
        byte[] bytes = new byte[length];
        IntStream.range(0, length).forEach(i -> bytes[i] = (byte) (i + 1));
        return bytes;
    }

    /** Kept for documentation: no machine has it. */
    private static final String NO_DEVICE = "203.0.113.1";

    private static final int REQUESTS = 200;
    private static final int SPINS = 20_000;

    private static void assertFails(String errno, ThrowingCallable call) {
        assertThatExceptionOfType(RpmaException.class)
                .isThrownBy(call)
                .satisfies(e -> assertThat(e.errnoName()).as(e.getMessage()).isEqualTo(errno));
    }

    @Test
    void tellsBothSidesWhatTheyTell() throws InterruptedException {
        int port = TestDevice.port();
        try (RdmaId listener = listen(port);
                RdmaId client = resolved(port)) {
            client.createQp(RdmaPair.attr());
            client.connect(new RdmaConnParam()
                    .privateData(data(56))
                    .retryCount(5)
                    .rnrRetryCount(6)
                    .initiatorDepth(3)
                    .responderResources(2));
            try (RdmaId server = request(listener)) {
                RdmaEvent asked = server.request().orElseThrow();
                assertThat(asked.type()).isSameAs(RdmaEventType.CONNECT_REQUEST);
                assertThat(asked.privateData()).isEqualTo(data(56));
                assertThat(asked.retryCount()).isEqualTo(5);
                assertThat(asked.rnrRetryCount()).isEqualTo(6);
                assertThat(asked.responderResources()).isEqualTo(3);
                assertThat(asked.initiatorDepth()).isEqualTo(2);
                assertThat(asked.qpNum()).isEqualTo(client.qp().qpNum());

                server.createQp(RdmaPair.attr());
                server.accept(new RdmaConnParam().privateData(data(196)));
                RdmaEvent established = awaitEvent(client, RdmaEventType.ESTABLISHED);
                assertThat(established.privateData()).isEqualTo(data(196));
                assertThat(established.qpNum()).isEqualTo(server.qp().qpNum());
                awaitEvent(server, RdmaEventType.ESTABLISHED);

                assertThat(server.localAddr()).contains(address(port));
                assertThat(client.peerAddr()).contains(address(port));
                assertThat(server.peerAddr()).isEqualTo(client.localAddr());

                client.disconnect();
                awaitEvent(server, RdmaEventType.DISCONNECTED);
                server.disconnect();
                awaitEvent(client, RdmaEventType.DISCONNECTED);
            }
        }
    }

    @Test
    void connectsByEndpoints() throws InterruptedException {
        int port = TestDevice.port();
        try (RdmaAddrInfo there = RdmaAddrInfo.passive(TestDevice.address(), port, RdmaPortSpace.TCP);
                RdmaAddrInfo here = RdmaAddrInfo.active(TestDevice.address(), port, RdmaPortSpace.TCP)) {
            assertThat(there.isPassive()).isTrue();
            assertThat(here.isPassive()).isFalse();
            assertThat(there.address()).isEqualTo(address(port));
            assertThat(here.address()).isEqualTo(address(port));
            try (RdmaId listener = RdmaId.createEp(there, RdmaPair.attr());
                    RdmaId client = RdmaId.createEp(here, RdmaPair.attr())) {
                listener.listen(4);
                client.connect(new RdmaConnParam());
                try (RdmaId server = request(listener)) {
                    assertThat(server.qp().maxInlineData()).isGreaterThanOrEqualTo(64);
                    RdmaPair.accept(client, server);
                }
            }
        }
    }

    @Test
    void endpointsAreOfAddressesThatCanBeUsed() {
        int port = TestDevice.port();
        try (RdmaAddrInfo foreign = RdmaAddrInfo.passive(NO_DEVICE, port, RdmaPortSpace.TCP);
                RdmaAddrInfo taken = RdmaAddrInfo.passive(TestDevice.address(), port, RdmaPortSpace.TCP);
                RdmaAddrInfo silent = RdmaAddrInfo.active(TestDevice.silentAddress(), port, RdmaPortSpace.TCP);
                RdmaId listener = listen(port)) {
            assertThat(listener.localAddr()).contains(address(port));
            assertEndpointFails("EADDRNOTAVAIL", foreign);
            assertEndpointFails("EADDRINUSE", taken);
            assertEndpointFails("ETIMEDOUT", silent);
        }
    }

    private static void assertEndpointFails(String errno, RdmaAddrInfo info) {
        assertThatExceptionOfType(RpmaException.class)
                .isThrownBy(() -> RdmaId.createEp(info, RdmaPair.attr()))
                .satisfies(e -> {
                    assertThat(e.operation()).isEqualTo("rdma_create_ep");
                    assertThat(e.errnoName()).as(e.getMessage()).isEqualTo(errno);
                });
    }

    @Test
    void anEndpointIsClosedWhoseQueuePairIsBeyondTheDevice() {
        try (RdmaAddrInfo here = RdmaAddrInfo.active(TestDevice.address(), TestDevice.port(), RdmaPortSpace.TCP)) {
            assertThatExceptionOfType(RpmaException.class)
                    .isThrownBy(() -> RdmaId.createEp(here, RdmaPair.attr().maxSendWr(1 << 30)))
                    .withMessageContaining("ibv_devinfo")
                    .withNoCause()
                    .satisfies(e -> {
                        assertThat(e.operation()).isEqualTo("rdma_create_qp");
                        assertThat(e.getSuppressed()).isEmpty();
                    });
            RdmaId.createEp(here, RdmaPair.attr()).close();
        }
    }

    @Test
    void namesAreResolved() {
        RdmaAddrInfo any = RdmaAddrInfo.passive(null, 0, RdmaPortSpace.UDP);
        assertThat(any.address().getPort()).isZero();
        assertThat(any.address().getAddress().isAnyLocalAddress()).isTrue();
        assertThat(any.portSpace()).isSameAs(RdmaPortSpace.UDP);
        any.close();
        any.close();
        assertThatIllegalStateException().isThrownBy(any::address).withMessageContaining("is closed");
        assertThatIllegalStateException().isThrownBy(() -> RdmaId.createEp(any, null));
        // without a name server it is not known either
        assertThatExceptionOfType(RpmaException.class)
                .isThrownBy(() -> RdmaAddrInfo.active("no-such-host.invalid", 1, RdmaPortSpace.TCP))
                .satisfies(e -> assertThat(e.errnoName()).isIn("EADDRNOTAVAIL", "EAGAIN"));
    }

    @Test
    void privateDataThatIsTooLongIsRefused() throws InterruptedException {
        int port = TestDevice.port();
        try (RdmaId listener = listen(port);
                RdmaId client = resolved(port)) {
            client.createQp(RdmaPair.attr());
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> client.connect(new RdmaConnParam().privateData(data(57))))
                    .withMessage("rdma_connect takes at most 56 bytes of private data here, not 57");
            // with what fits it goes on
            client.connect(new RdmaConnParam());
            try (RdmaId server = request(listener)) {
                assertThatIllegalArgumentException()
                        .isThrownBy(() -> server.reject(data(149)))
                        .withMessage("rdma_reject takes at most 148 bytes of private data here, not 149");
                server.createQp(RdmaPair.attr());
                assertThatIllegalArgumentException()
                        .isThrownBy(() -> server.accept(new RdmaConnParam().privateData(data(197))))
                        .withMessage("rdma_accept takes at most 196 bytes of private data here, not 197");
                RdmaPair.accept(client, server);
            }
        }
    }

    @Test
    void privateDataIsFilledUpWithZeroes() throws InterruptedException {
        int port = TestDevice.port();
        try (RdmaId listener = listen(port);
                RdmaId client = resolved(port)) {
            client.createQp(RdmaPair.attr());
            client.connect(new RdmaConnParam().privateData(data(3)));
            try (RdmaId server = request(listener)) {
                assertThat(server.request().orElseThrow().privateData()).isEqualTo(Arrays.copyOf(data(3), 56));
                server.createQp(RdmaPair.attr());
                server.accept(new RdmaConnParam().privateData(data(4)));
                assertThat(awaitEvent(client, RdmaEventType.ESTABLISHED).privateData())
                        .isEqualTo(Arrays.copyOf(data(4), 196));
            }
        }
    }

    @Test
    void aRejectionHasPrivateDataToo() throws InterruptedException {
        int port = TestDevice.port();
        try (RdmaId listener = listen(port);
                RdmaId client = resolved(port)) {
            client.createQp(RdmaPair.attr());
            client.connect(new RdmaConnParam());
            try (RdmaId server = request(listener)) {
                server.reject(data(148));
            }
            RdmaEvent event = client.nextEvent(TIMEOUT_S, TimeUnit.SECONDS).orElseThrow();
            assertThat(event.type()).isSameAs(RdmaEventType.REJECTED);
            assertThat(event.privateData()).isEqualTo(data(148));
        }
    }

    /** Linux would wait for the answer to what has been sent before, at the close and for a minute. */
    @Test
    void onlyARequestCanBeRejected() throws InterruptedException {
        int port = TestDevice.port();
        try (RdmaId listener = listen(port);
                RdmaId client = resolved(port)) {
            client.createQp(RdmaPair.attr());
            client.connect(new RdmaConnParam());
            assertThatIllegalStateException()
                    .isThrownBy(() -> client.reject(new byte[0]))
                    .withMessage(client + " has no request to reject");
            try (RdmaId server = request(listener)) {
                server.createQp(RdmaPair.attr());
                server.accept(new RdmaConnParam());
                assertThatIllegalStateException()
                        .isThrownBy(() -> server.reject(new byte[0]))
                        .withMessage(server + " has no request to reject");
                awaitEvent(client, RdmaEventType.ESTABLISHED);
                awaitEvent(server, RdmaEventType.ESTABLISHED);
            }
        }
    }

    @Test
    void aRequestIsRejectedOnce() throws InterruptedException {
        int port = TestDevice.port();
        try (RdmaId listener = listen(port);
                RdmaId client = resolved(port)) {
            client.createQp(RdmaPair.attr());
            client.connect(new RdmaConnParam());
            try (RdmaId server = request(listener)) {
                server.reject(new byte[0]);
                assertFails("EINVAL", () -> server.reject(new byte[0]));
            }
        }
    }

    /** Each request is answered: by the device before anybody listens, and by the listener from then on. */
    @Test
    void noRequestIsLostWhileListeningBegins() throws Exception {
        int port = TestDevice.port();
        SplittableRandom random = new SplittableRandom(1);
        for (int i = 0; i < REQUESTS; i++) {
            try (RdmaId listener = RdmaId.create(RdmaPortSpace.TCP);
                    RdmaId client = resolved(port)) {
                listener.bindAddr(address(port));
                client.createQp(RdmaPair.attr());
                FutureTask<RdmaEvent> connecting = new FutureTask<>(() -> {
                    client.connect(new RdmaConnParam());
                    return client.nextEvent(TIMEOUT_S, TimeUnit.SECONDS).orElseThrow();
                });
                new Thread(connecting, "connecting").start();
                for (int spins = random.nextInt(SPINS); spins > 0; spins--) {
                    Thread.onSpinWait();
                }
                listener.listen(0);
                while (!connecting.isDone()) {
                    listener.getRequest(1, TimeUnit.MILLISECONDS).ifPresent(RdmaId::close);
                }
                assertThat(connecting.get().type()).as("request " + i).isSameAs(RdmaEventType.REJECTED);
            }
        }
    }

    @Test
    void anIdThatCouldNotListenCanConnect() throws InterruptedException {
        int port = TestDevice.port();
        try (RdmaId listener = listen(port);
                RdmaId second = RdmaId.create(RdmaPortSpace.TCP)) {
            second.bindAddr(address(0));
            int taken = second.localAddr().orElseThrow().getPort();
            try (RdmaId client = resolved(port)) {
                client.createQp(RdmaPair.attr());
                assertFails("EINVAL", () -> client.listen(0));
                assertThatIllegalStateException()
                        .isThrownBy(() -> client.getRequest())
                        .withMessage(client + " does not listen");
                client.connect(new RdmaConnParam());
                request(listener).close();
                assertFails("ECONNREFUSED", () -> awaitEvent(client, RdmaEventType.ESTABLISHED));
            }
            second.listen(0);
            assertThat(second.localAddr().orElseThrow().getPort()).isEqualTo(taken);
        }
    }

    /** librdmacm would break the queue pair before the system says that there is nothing to disconnect. */
    @Test
    void whatIsNotConnectedIsNotDisconnected() throws InterruptedException {
        int port = TestDevice.port();
        try (RdmaId listener = listen(port);
                RdmaId client = resolved(port)) {
            client.createQp(RdmaPair.attr());
            assertHasNoConnection(client);
            client.connect(new RdmaConnParam());
            try (RdmaId server = request(listener)) {
                server.createQp(RdmaPair.attr());
                assertHasNoConnection(server);
                RdmaPair.accept(client, server);
                client.disconnect();
                awaitEvent(server, RdmaEventType.DISCONNECTED);
            }
        }
    }

    /** The last event tells that no late packet of the connection can come any more. */
    @Test
    void whatIsDisconnectedMayBeDisconnectedAgain() throws InterruptedException {
        try (RdmaPair pair = RdmaPair.connect()) {
            pair.client.disconnect();
            awaitEvent(pair.server, RdmaEventType.DISCONNECTED);
            pair.server.disconnect();
            awaitEvent(pair.client, RdmaEventType.DISCONNECTED);
            pair.client.disconnect();
            pair.server.disconnect();
            awaitEvent(pair.client, RdmaEventType.TIMEWAIT_EXIT);
            awaitEvent(pair.server, RdmaEventType.TIMEWAIT_EXIT);
            pair.client.disconnect();
            assertThat(pair.client.nextEvent(0, TimeUnit.SECONDS)).isEmpty();
        }
    }

    @Test
    void whatIsDisconnectedBeforeItIsConnectedIsNeverConnected() throws InterruptedException {
        int port = TestDevice.port();
        try (RdmaId listener = listen(port);
                RdmaId client = resolved(port)) {
            client.createQp(RdmaPair.attr());
            client.connect(new RdmaConnParam());
            client.disconnect();
            try (RdmaId server = request(listener)) {
                server.createQp(RdmaPair.attr());
                server.accept(new RdmaConnParam());
                assertThat(client.nextEvent(TIMEOUT_S, TimeUnit.SECONDS)
                                .orElseThrow()
                                .type())
                        .isSameAs(RdmaEventType.CONNECT_ERROR);
            }
        }
    }

    private static void assertHasNoConnection(RdmaId id) {
        assertThatIllegalStateException().isThrownBy(id::disconnect).withMessage(id + " has no connection");
    }

    /** Of a client that has gone there is nothing to reject. */
    @Test
    void aClientThatGaveUpDoesNotHideWhyThereIsNoQueuePair() throws InterruptedException {
        int port = TestDevice.port();
        RdmaQpInitAttr tooMuch = RdmaPair.attr().maxSendWr(1 << 30);
        try (RdmaAddrInfo there = RdmaAddrInfo.passive(TestDevice.address(), port, RdmaPortSpace.TCP);
                RdmaId listener = RdmaId.createEp(there, tooMuch)) {
            listener.listen(0);
            try (RdmaId client = resolved(port)) {
                client.createQp(RdmaPair.attr());
                client.connect(new RdmaConnParam());
            }
            assertThatExceptionOfType(RpmaException.class)
                    .isThrownBy(() -> listener.getRequest(TIMEOUT_S, TimeUnit.SECONDS))
                    .satisfies(e -> assertThat(e.operation()).isEqualTo("rdma_create_qp"));
        }
    }

    @Test
    void nobodyListens() throws InterruptedException {
        try (RdmaId client = resolved(TestDevice.port())) {
            client.createQp(RdmaPair.attr());
            client.connect(new RdmaConnParam());
            assertThatExceptionOfType(RpmaException.class)
                    .isThrownBy(() -> awaitEvent(client, RdmaEventType.ESTABLISHED))
                    .withMessageContaining("REJECTED (status 8) came instead of ESTABLISHED")
                    .satisfies(e -> assertThat(e.errnoName()).isEqualTo("ECONNREFUSED"));
        }
    }

    @Test
    void anotherEventThanTheAwaitedOneIsAFailure() throws InterruptedException {
        try (RdmaId client = RdmaId.create(RdmaPortSpace.TCP)) {
            client.resolveAddr(null, address(TestDevice.port()), 1000 * TIMEOUT_S);
            assertThatExceptionOfType(RpmaException.class)
                    .isThrownBy(() -> awaitEvent(client, RdmaEventType.ROUTE_RESOLVED))
                    .withMessageContaining("ADDR_RESOLVED came instead of ROUTE_RESOLVED")
                    .satisfies(e -> {
                        assertThat(e.operation()).isEqualTo("rdma_get_cm_event");
                        assertThat(e.errnoName()).isEqualTo("EPROTO");
                    });
            // it is taken, and the id goes on
            client.resolveRoute(1000 * TIMEOUT_S);
            awaitEvent(client, RdmaEventType.ROUTE_RESOLVED);
        }
    }

    @Test
    void theFailureOfWhatCameInsteadIsTold() throws InterruptedException {
        try (RdmaId client = RdmaId.create(RdmaPortSpace.TCP)) {
            client.resolveAddr(null, new InetSocketAddress(TestDevice.silentAddress(), 7), 100);
            assertThatExceptionOfType(RpmaException.class)
                    .isThrownBy(() -> awaitEvent(client, RdmaEventType.ADDR_RESOLVED))
                    .withMessageContaining("ADDR_ERROR (status -110) came instead of ADDR_RESOLVED")
                    .satisfies(e -> assertThat(e.errnoName()).isEqualTo("ETIMEDOUT"));
        }
    }

    @Test
    void nobodyAnswers() throws InterruptedException {
        try (RdmaId client = RdmaId.create(RdmaPortSpace.TCP)) {
            client.resolveAddr(null, new InetSocketAddress(TestDevice.silentAddress(), 7), 100);
            assertThat(client.nextEvent(TIMEOUT_S, TimeUnit.SECONDS)
                            .orElseThrow()
                            .type())
                    .isSameAs(RdmaEventType.ADDR_ERROR);
        }
    }

    @Test
    void addressesOfNoDeviceAreRefused() {
        try (RdmaId id = RdmaId.create(RdmaPortSpace.TCP)) {
            assertFails("EADDRNOTAVAIL", () -> id.bindAddr(new InetSocketAddress(NO_DEVICE, 7)));
            assertThat(id.localAddr()).isEmpty();
            assertThat(id.peerAddr()).isEmpty();
        }
    }

    @Test
    void anIdIsBoundOnce() {
        try (RdmaId id = RdmaId.create(RdmaPortSpace.TCP)) {
            id.bindAddr(address(0));
            InetSocketAddress bound = id.localAddr().orElseThrow();
            assertFails("EINVAL", () -> id.bindAddr(address(0)));
            assertThat(id.localAddr()).contains(bound);
            id.listen(0);
        }
    }

    @Test
    void connectsFromTheSource() throws InterruptedException {
        int port = TestDevice.port();
        int source = TestDevice.port();
        try (RdmaId client = RdmaId.create(RdmaPortSpace.TCP)) {
            assertFails(
                    "EADDRNOTAVAIL",
                    () -> client.resolveAddr(new InetSocketAddress(NO_DEVICE, source), address(port), 1));
            client.resolveAddr(address(source), address(port), 1000 * TIMEOUT_S);
            awaitEvent(client, RdmaEventType.ADDR_RESOLVED);
            assertThat(client.localAddr()).contains(address(source));
            assertThat(client.peerAddr()).contains(address(port));
        }
    }

    @Test
    void aPortIsListenedOnOnce() {
        int port = TestDevice.port();
        try (RdmaId first = listen(port);
                RdmaId second = RdmaId.create(RdmaPortSpace.TCP)) {
            assertFails("EADDRINUSE", () -> second.bindAddr(address(port)));
            assertThatIllegalStateException().isThrownBy(() -> first.listen(1)).withMessage(first + " listens already");
            assertThatIllegalArgumentException().isThrownBy(() -> second.listen(-1));
        }
    }

    @Test
    void aFreePortCanBeAskedFor() {
        try (RdmaId id = RdmaId.create(RdmaPortSpace.TCP)) {
            id.bindAddr(address(0));
            id.listen(0);
            assertThat(id.localAddr().orElseThrow().getPort()).isPositive();
        }
    }

    @Test
    void withoutADeviceThereIsNothing() {
        try (RdmaId id = RdmaId.create(RdmaPortSpace.TCP);
                RpmaMemory memory = RpmaMemory.allocate(64)) {
            for (ThrowingCallable call : new ThrowingCallable[] {
                () -> id.resolveRoute(1),
                () -> id.createQp(RdmaPair.attr()),
                () -> id.createSrq(1, 1),
                () -> RdmaMr.regMsgs(id, memory)
            }) {
                assertThatIllegalStateException().isThrownBy(call).withMessageContaining(id + " has no device yet");
            }
            assertThatIllegalStateException()
                    .isThrownBy(() -> id.connect(new RdmaConnParam()))
                    .withMessage(id + " has no queue pair");
            assertThatIllegalStateException().isThrownBy(() -> id.accept(new RdmaConnParam()));
            assertThatIllegalStateException().isThrownBy(id::qp);
            assertHasNoConnection(id);
            assertThatIllegalStateException()
                    .isThrownBy(() -> id.reject(new byte[0]))
                    .withMessage(id + " has no request to reject");
            assertThatIllegalArgumentException().isThrownBy(() -> id.reject(new byte[256]));
            assertThatIllegalArgumentException().isThrownBy(() -> id.resolveRoute(-1));
            assertThatIllegalArgumentException().isThrownBy(() -> id.resolveAddr(null, address(1), -1));
        }
    }

    @Test
    void theOrderOfCallsIsKept() throws InterruptedException {
        int port = TestDevice.port();
        try (RdmaId listener = listen(port);
                RdmaId client = resolved(port)) {
            assertFails("EINVAL", () -> client.resolveAddr(null, address(port), 100));
            assertFails("EINVAL", () -> client.resolveRoute(100));
            client.createQp(RdmaPair.attr());
            assertThatIllegalStateException()
                    .isThrownBy(() -> client.createQp(RdmaPair.attr()))
                    .withMessage(client + " has a queue pair already");
            assertThatIllegalStateException().isThrownBy(() -> client.createSrq(1, 1));
            assertFails("EINVAL", () -> client.accept(new RdmaConnParam()));
            assertFails("EINVAL", () -> client.connect(new RdmaConnParam().initiatorDepth(254)));
            client.connect(new RdmaConnParam());
            assertFails("EINVAL", () -> client.connect(new RdmaConnParam()));
            assertThatIllegalStateException()
                    .isThrownBy(() -> listener.nextEvent())
                    .withMessage(listener + " listens: see getRequest()");
            assertThatIllegalStateException()
                    .isThrownBy(() -> listener.disconnect())
                    .withMessage(listener + " has no connection");
            assertThatIllegalStateException()
                    .isThrownBy(() -> client.getRequest())
                    .withMessage(client + " does not listen");
        }
    }

    @Test
    void aQueuePairBeyondTheDeviceRejectsTheRequest() throws InterruptedException {
        int port = TestDevice.port();
        RdmaQpInitAttr tooMuch = RdmaPair.attr().maxSendWr(1 << 30);
        try (RdmaAddrInfo there = RdmaAddrInfo.passive(TestDevice.address(), port, RdmaPortSpace.TCP);
                RdmaId listener = RdmaId.createEp(there, tooMuch);
                RdmaId client = resolved(port)) {
            tooMuch.maxSendWr(1);
            listener.listen(0);
            assertThatExceptionOfType(RpmaException.class)
                    .isThrownBy(() -> client.createQp(RdmaPair.attr().maxSendWr(1 << 30)))
                    .withMessageContaining("ibv_devinfo");
            client.createQp(RdmaPair.attr());
            client.connect(new RdmaConnParam());
            assertThatExceptionOfType(RpmaException.class)
                    .isThrownBy(() -> listener.getRequest(TIMEOUT_S, TimeUnit.SECONDS))
                    .satisfies(e -> assertThat(e.operation()).isEqualTo("rdma_create_qp"));
            assertFails("ECONNREFUSED", () -> awaitEvent(client, RdmaEventType.ESTABLISHED));
            assertThat(listener.getRequest(0, TimeUnit.SECONDS)).isEmpty();
        }
    }

    @Test
    void aClientThatGaveUpDoesNotHarmTheListener() throws InterruptedException {
        int port = TestDevice.port();
        try (RdmaId listener = listen(port)) {
            try (RdmaId client = resolved(port)) {
                client.createQp(RdmaPair.attr());
                client.connect(new RdmaConnParam());
            }
            // whether it is still told of is the system's affair
            listener.getRequest(1, TimeUnit.SECONDS).ifPresent(RdmaId::close);
            try (RdmaId client = resolved(port)) {
                client.createQp(RdmaPair.attr());
                client.connect(new RdmaConnParam());
                try (RdmaId server = request(listener)) {
                    server.createQp(RdmaPair.attr());
                    RdmaPair.accept(client, server);
                }
            }
        }
    }

    @Test
    void aRequestThatIsClosedIsRejected() throws InterruptedException {
        int port = TestDevice.port();
        try (RdmaId listener = listen(port);
                RdmaId client = resolved(port)) {
            client.createQp(RdmaPair.attr());
            client.connect(new RdmaConnParam());
            request(listener).close();
            assertThat(client.nextEvent(TIMEOUT_S, TimeUnit.SECONDS)
                            .orElseThrow()
                            .type())
                    .isSameAs(RdmaEventType.REJECTED);
        }
    }

    @Test
    void waitsEndInTime() throws InterruptedException {
        try (RdmaPair pair = RdmaPair.connect();
                RdmaId listener = listen(TestDevice.port())) {
            assertThat(listener.getRequest(0, TimeUnit.SECONDS)).isEmpty();
            assertThat(listener.getRequest(10, TimeUnit.MILLISECONDS)).isEmpty();
            assertThat(pair.client.nextEvent(0, TimeUnit.SECONDS)).isEmpty();
            assertThat(pair.client.nextEvent(10, TimeUnit.MILLISECONDS)).isEmpty();
            assertFails(
                    "ETIMEDOUT", () -> pair.client.awaitEvent(RdmaEventType.DISCONNECTED, 10, TimeUnit.MILLISECONDS));
            var completions = RpmaCompletions.create(1);
            assertThat(pair.client.qp().getSendComp(completions, 0, TimeUnit.SECONDS))
                    .isZero();
            assertThat(pair.client.qp().getRecvComp(completions, 10, TimeUnit.MILLISECONDS))
                    .isZero();
            assertThatIllegalArgumentException().isThrownBy(() -> listener.getRequest(-1, TimeUnit.SECONDS));
            assertThatIllegalArgumentException().isThrownBy(() -> pair.client.nextEvent(-1, TimeUnit.SECONDS));
            assertThatNullPointerException().isThrownBy(() -> pair.client.awaitEvent(null, 0, TimeUnit.SECONDS));
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> pair.client.awaitEvent(RdmaEventType.DISCONNECTED, -1, TimeUnit.SECONDS));
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> pair.client.qp().getSendComp(completions, -1, TimeUnit.SECONDS));
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> pair.client.qp().getRecvComp(completions, -1, TimeUnit.SECONDS));
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> pair.client.qp().getSolicitedRecvComp(completions, -1, TimeUnit.SECONDS));
        }
    }

    @Test
    void waitsEndByInterruption() throws InterruptedException {
        try (RdmaPair pair = RdmaPair.connect();
                RdmaId listener = listen(TestDevice.port())) {
            Blocked.assertWokenByInterrupt(listener::getRequest);
            Blocked.assertWokenByInterrupt(pair.client::nextEvent);
            Blocked.assertWokenByInterrupt(() -> awaitEvent(pair.client, RdmaEventType.DISCONNECTED));
            var completions = RpmaCompletions.create(1);
            Blocked.assertWokenByInterrupt(() -> pair.client.qp().getSendComp(completions));
            Blocked.assertWokenByInterrupt(() -> pair.client.qp().getRecvComp(completions));
            Blocked.assertWokenByInterrupt(() -> pair.client.qp().getSolicitedRecvComp(completions));
            Thread.currentThread().interrupt();
            assertThatExceptionOfType(InterruptedException.class)
                    .isThrownBy(() -> pair.client.awaitEvent(RdmaEventType.DISCONNECTED, 0, TimeUnit.SECONDS));
        }
    }

    @Test
    void waitsEndByClosing() throws InterruptedException {
        RdmaId listener = listen(TestDevice.port());
        Blocked.assertWokenByClose(listener::getRequest, listener::close);
        RdmaId id = RdmaId.create(RdmaPortSpace.TCP);
        Blocked.assertWokenByClose(id::nextEvent, id::close);
        var completions = RpmaCompletions.create(1);
        RdmaPair pair = RdmaPair.connect();
        RdmaQp qp = pair.client.qp();
        Blocked.assertWokenByClose(() -> qp.getSendComp(completions), pair::close);
        RdmaPair second = RdmaPair.connect();
        RdmaQp secondQp = second.client.qp();
        Blocked.assertWokenByClose(() -> secondQp.getRecvComp(completions), second::close);
        RdmaPair third = RdmaPair.connect();
        RdmaQp thirdQp = third.client.qp();
        Blocked.assertWokenByClose(() -> thirdQp.getSolicitedRecvComp(completions), third::close);
    }

    @Test
    void waitsWithATimeoutEndByClosing() throws InterruptedException {
        RdmaId listener = listen(TestDevice.port());
        Blocked.assertWokenByClose(() -> listener.getRequest(TIMEOUT_S, TimeUnit.SECONDS), listener::close);
        RdmaId id = RdmaId.create(RdmaPortSpace.TCP);
        Blocked.assertWokenByClose(() -> id.nextEvent(TIMEOUT_S, TimeUnit.SECONDS), id::close);
        RdmaId second = RdmaId.create(RdmaPortSpace.TCP);
        Blocked.assertWokenByClose(() -> awaitEvent(second, RdmaEventType.ADDR_RESOLVED), second::close);
        var completions = RpmaCompletions.create(1);
        RdmaPair pair = RdmaPair.connect();
        RdmaQp qp = pair.client.qp();
        Blocked.assertWokenByClose(() -> qp.getSendComp(completions, TIMEOUT_S, TimeUnit.SECONDS), pair::close);
        RdmaPair secondPair = RdmaPair.connect();
        RdmaQp secondQp = secondPair.client.qp();
        Blocked.assertWokenByClose(
                () -> secondQp.getRecvComp(completions, TIMEOUT_S, TimeUnit.SECONDS), secondPair::close);
    }

    @Test
    void closedIdsAreRefused() throws InterruptedException {
        RdmaId id = RdmaId.create(RdmaPortSpace.TCP);
        id.close();
        id.close();
        for (ThrowingCallable call : new ThrowingCallable[] {
            () -> id.bindAddr(address(1)),
            () -> id.resolveAddr(null, address(1), 1),
            () -> id.resolveRoute(1),
            () -> id.listen(0),
            () -> id.getRequest(),
            () -> id.createQp(RdmaPair.attr()),
            () -> id.createSrq(1, 1),
            () -> id.qp(),
            () -> id.connect(new RdmaConnParam()),
            () -> id.accept(new RdmaConnParam()),
            () -> id.reject(new byte[0]),
            () -> id.disconnect(),
            () -> id.nextEvent(),
            () -> id.nextEvent(0, TimeUnit.SECONDS),
            () -> id.awaitEvent(RdmaEventType.ADDR_RESOLVED, 0, TimeUnit.SECONDS),
            () -> id.localAddr(),
            () -> id.peerAddr(),
            () -> RdmaMr.regMsgs(id, ByteBuffer.allocateDirect(1))
        }) {
            assertThatIllegalStateException().isThrownBy(call).withMessageContaining("is closed");
        }
    }

    @Test
    void closesAfterItsRegions() throws InterruptedException {
        try (RdmaPair pair = RdmaPair.connect()) {
            assertThatIllegalStateException()
                    .isThrownBy(pair.client::close)
                    .withMessageContaining(pair.client + " can't be closed before " + pair.clientMr.object());
            assertThat(pair.client.qp().pollSendComp(RpmaCompletions.create(1))).isZero();
            assertThatIllegalStateException().isThrownBy(pair.clientMemory::close);
        }
    }
}
