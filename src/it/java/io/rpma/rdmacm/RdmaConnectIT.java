// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.rdmacm;

import static io.rpma.testing.Failures.assertFails;
import static io.rpma.testing.Limit.WAIT_S;
import static io.rpma.testing.RdmaPair.address;
import static io.rpma.testing.RdmaPair.awaitEvent;
import static io.rpma.testing.RdmaPair.connecting;
import static io.rpma.testing.RdmaPair.listen;
import static io.rpma.testing.RdmaPair.prepared;
import static io.rpma.testing.RdmaPair.request;
import static io.rpma.testing.RdmaPair.resolved;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.rpma.RpmaException;
import io.rpma.RpmaMemory;
import io.rpma.testing.Eventually;
import io.rpma.testing.RdmaPair;
import io.rpma.testing.TestDevice;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Ids that connect, reject and disconnect. */
class RdmaConnectIT {
    private static final int REQUESTS = 200;
    private static final int SPINS = 20_000;

    @BeforeAll
    static void findDevice() {
        TestDevice.address();
    }

    private static byte[] data(int length) {
        byte[] bytes = new byte[length];
        IntStream.range(0, length).forEach(i -> bytes[i] = (byte) (i + 1));
        return bytes;
    }

    @Tag("infiniband-cm")
    @Test
    void tellsBothSidesWhatTheyTell() throws InterruptedException {
        int port = TestDevice.port();
        try (RdmaId listener = listen(port);
                RdmaId client = prepared(port)) {
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

    @Tag("infiniband-cm")
    @Test
    void privateDataThatIsTooLongIsRefused() throws InterruptedException {
        int port = TestDevice.port();
        try (RdmaId listener = listen(port);
                RdmaId client = prepared(port)) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> client.connect(new RdmaConnParam().privateData(data(57))))
                    .withMessage("rdma_connect takes at most 56 bytes of private data here, not 57");
            // the id still connects, with private data that fits
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

    @Tag("infiniband-cm")
    @Test
    void privateDataIsFilledUpWithZeroes() throws InterruptedException {
        int port = TestDevice.port();
        try (RdmaId listener = listen(port);
                RdmaId client = prepared(port)) {
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
                RdmaId client = connecting(port)) {
            try (RdmaId server = request(listener)) {
                server.reject(data(148));
            }
            RdmaEvent event = client.nextEvent(WAIT_S, TimeUnit.SECONDS).orElseThrow();
            assertThat(event.type()).isSameAs(RdmaEventType.REJECTED);
            assertThat(event.privateData()).isEqualTo(data(148));
        }
    }

    /** If an id answered after it has sent a request or an acceptance, its close would take a minute, or Linux stop. */
    @Test
    void onlyARequestIsAnsweredAndOnlyOnce() throws InterruptedException {
        int port = TestDevice.port();
        try (RdmaId listener = listen(port);
                RdmaId client = prepared(port)) {
            assertHasNoRequest(client);
            client.connect(new RdmaConnParam());
            assertHasNoRequest(client);
            try (RdmaId server = request(listener)) {
                server.createQp(RdmaPair.attr());
                server.accept(new RdmaConnParam());
                assertHasNoRequest(server);
                awaitEvent(client, RdmaEventType.ESTABLISHED);
                awaitEvent(server, RdmaEventType.ESTABLISHED);
                assertHasNoRequest(server);
                assertHasNoRequest(client);
            }
        }
    }

    private static void assertHasNoRequest(RdmaId id) {
        assertThatIllegalStateException()
                .isThrownBy(() -> id.accept(new RdmaConnParam()))
                .withMessage(id.object() + " has no request to accept");
        assertThatIllegalStateException()
                .isThrownBy(() -> id.reject(new byte[0]))
                .withMessage(id.object() + " has no request to reject");
    }

    @Test
    void aRequestIsRejectedOnce() throws InterruptedException {
        int port = TestDevice.port();
        try (RdmaId listener = listen(port);
                RdmaId client = prepared(port)) {
            client.connect(new RdmaConnParam());
            try (RdmaId server = request(listener)) {
                server.reject(new byte[0]);
                assertFails("EINVAL", () -> server.reject(new byte[0]));
            }
        }
    }

    /** Each request is rejected: by the system before the id listens, and by the listener from then on. */
    @Tag("infiniband-cm")
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
                    return client.nextEvent(WAIT_S, TimeUnit.SECONDS).orElseThrow();
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
            try (RdmaId client = prepared(port)) {
                assertFails("EINVAL", () -> client.listen(0));
                assertThatIllegalStateException()
                        .isThrownBy(() -> client.getRequest())
                        .withMessage(client.object() + " does not listen");
                client.connect(new RdmaConnParam());
                request(listener).close();
                assertFails("ECONNREFUSED", () -> awaitEvent(client, RdmaEventType.ESTABLISHED));
            }
            second.listen(0);
            assertThat(second.localAddr().orElseThrow().getPort()).isEqualTo(taken);
        }
    }

    /** librdmacm would break the queue pair before the system reports that there is nothing to disconnect. */
    @Test
    void whatIsNotConnectedIsNotDisconnected() throws InterruptedException {
        int port = TestDevice.port();
        try (RdmaId listener = listen(port);
                RdmaId client = prepared(port)) {
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

    /** The last event means that no late packet of the connection can arrive any more. */
    @Tag("infiniband-cm")
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

    @Tag("infiniband-cm")
    @Test
    void whatIsDisconnectedBeforeItIsConnectedIsNeverConnected() throws InterruptedException {
        int port = TestDevice.port();
        try (RdmaId listener = listen(port);
                RdmaId client = connecting(port)) {
            client.disconnect();
            try (RdmaId server = request(listener)) {
                server.createQp(RdmaPair.attr());
                server.accept(new RdmaConnParam());
                assertThat(client.nextEvent(WAIT_S, TimeUnit.SECONDS)
                                .orElseThrow()
                                .type())
                        .isSameAs(RdmaEventType.CONNECT_ERROR);
            }
        }
    }

    private static void assertHasNoConnection(RdmaId id) {
        assertThatIllegalStateException().isThrownBy(id::disconnect).withMessage(id.object() + " has no connection");
    }

    /** The request of a client that is gone can't be rejected, which must not hide the first failure. */
    @Tag("infiniband-cm")
    @Test
    void aClientThatGaveUpDoesNotHideWhyThereIsNoQueuePair() throws InterruptedException {
        int port = TestDevice.port();
        RdmaQpInitAttr tooMuch = RdmaPair.attr().maxSendWr(1 << 30);
        try (RdmaAddrInfo there = RdmaAddrInfo.passive(TestDevice.address(), port, RdmaPortSpace.TCP);
                RdmaId listener = RdmaId.createEp(there, tooMuch)) {
            listener.listen(0);
            connecting(port).close();
            assertThatExceptionOfType(RpmaException.class)
                    .isThrownBy(() -> listener.getRequest(WAIT_S, TimeUnit.SECONDS))
                    .satisfies(e -> assertThat(e.operation()).isEqualTo("rdma_create_qp"));
        }
    }

    @Tag("infiniband-cm")
    @Test
    void nobodyListens() throws InterruptedException {
        try (RdmaId client = connecting(TestDevice.port())) {
            assertThatExceptionOfType(RpmaException.class)
                    .isThrownBy(() -> awaitEvent(client, RdmaEventType.ESTABLISHED))
                    .withMessageContaining("REJECTED (status 8) came instead of ESTABLISHED")
                    .satisfies(e -> assertThat(e.errnoName()).isEqualTo("ECONNREFUSED"));
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
                assertThatIllegalStateException()
                        .isThrownBy(call)
                        .withMessageContaining(id.object() + " has no device yet");
            }
            assertThatIllegalStateException()
                    .isThrownBy(() -> id.connect(new RdmaConnParam()))
                    .withMessage(id.object() + " has no queue pair");
            assertThatIllegalStateException().isThrownBy(() -> id.accept(new RdmaConnParam()));
            assertThatIllegalStateException().isThrownBy(id::qp);
            assertHasNoConnection(id);
            assertThatIllegalStateException()
                    .isThrownBy(() -> id.reject(new byte[0]))
                    .withMessage(id.object() + " has no request to reject");
            assertThatIllegalArgumentException().isThrownBy(() -> id.reject(new byte[256]));
            assertThatIllegalArgumentException().isThrownBy(() -> id.resolveRoute(-1));
            assertThatIllegalArgumentException().isThrownBy(() -> id.resolveAddr(null, address(1), -1));
        }
    }

    @Tag("infiniband-cm")
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
                    .withMessage(client.object() + " has a queue pair already");
            assertThatIllegalStateException().isThrownBy(() -> client.createSrq(1, 1));
            assertFails("EINVAL", () -> client.connect(new RdmaConnParam().initiatorDepth(254)));
            client.connect(new RdmaConnParam());
            assertFails("EINVAL", () -> client.connect(new RdmaConnParam()));
            assertThatIllegalStateException()
                    .isThrownBy(() -> listener.nextEvent())
                    .withMessage(listener.object() + " listens: see getRequest()");
            assertThatIllegalStateException()
                    .isThrownBy(() -> listener.disconnect())
                    .withMessage(listener.object() + " has no connection");
            assertThatIllegalStateException()
                    .isThrownBy(() -> client.getRequest())
                    .withMessage(client.object() + " does not listen");
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
                    .isThrownBy(() -> listener.getRequest(WAIT_S, TimeUnit.SECONDS))
                    .satisfies(e -> assertThat(e.operation()).isEqualTo("rdma_create_qp"));
            assertFails("ECONNREFUSED", () -> awaitEvent(client, RdmaEventType.ESTABLISHED));
            assertThat(listener.getRequest(0, TimeUnit.SECONDS)).isEmpty();
        }
    }

    @Tag("infiniband-cm")
    @Test
    void aClientThatGaveUpDoesNotHarmTheListener() throws InterruptedException {
        int port = TestDevice.port();
        try (RdmaId listener = listen(port)) {
            connecting(port).close();
            // the system may or may not report the request
            listener.getRequest(1, TimeUnit.SECONDS).ifPresent(RdmaId::close);
            try (RdmaId client = connecting(port)) {
                try (RdmaId server = request(listener)) {
                    server.createQp(RdmaPair.attr());
                    RdmaPair.accept(client, server);
                }
            }
        }
    }

    /** Repeats the answer to a client that has given up, until the kernel knows this. It does not report it. */
    private static void assertGone(RdmaId listener, Consumer<RdmaId> preparation, Consumer<RdmaId> answer) {
        AtomicReference<RpmaException> failure = new AtomicReference<>();
        Eventually.become("a failure of the answer", () -> {
            try {
                RdmaId client = connecting(listener.localAddr().orElseThrow().getPort());
                try (RdmaId server = request(listener)) {
                    preparation.accept(server);
                    client.close();
                    answer.accept(server);
                    return false;
                }
            } catch (RpmaException e) {
                failure.set(e);
                return true;
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        });
        assertThat(failure.get()).hasMessageContaining("; the client may have given up");
    }

    @Tag("infiniband-cm")
    @Test
    void theAnswersToAClientThatHasGivenUp() throws InterruptedException {
        Consumer<RdmaId> queues = server -> server.createQp(RdmaPair.attr());
        try (RdmaId listener = listen(TestDevice.port())) {
            assertGone(listener, queues, server -> server.accept(new RdmaConnParam()));
            assertGone(listener, queues, server -> server.reject(new byte[0]));
            assertGone(listener, server -> {}, queues);
        }
    }

    @Test
    void aRequestThatIsClosedIsRejected() throws InterruptedException {
        int port = TestDevice.port();
        try (RdmaId listener = listen(port);
                RdmaId client = connecting(port)) {
            request(listener).close();
            assertThat(client.nextEvent(WAIT_S, TimeUnit.SECONDS).orElseThrow().type())
                    .isSameAs(RdmaEventType.REJECTED);
        }
    }
}
