// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.rdmacm;

import static io.rpma.testing.Failures.assertFails;
import static io.rpma.testing.Limit.WAIT_S;
import static io.rpma.testing.RdmaPair.address;
import static io.rpma.testing.RdmaPair.awaitEvent;
import static io.rpma.testing.RdmaPair.listen;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaException;
import io.rpma.testing.Blocked;
import io.rpma.testing.Name;
import io.rpma.testing.RdmaPair;
import io.rpma.testing.TestDevice;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Waits for events, requests and completions of ids, and calls on closed ids. */
class RdmaWaitIT {
    @BeforeAll
    static void findDevice() {
        TestDevice.address();
    }

    @Test
    void anotherEventThanTheAwaitedOneIsAFailure() throws InterruptedException {
        try (RdmaId client = RdmaId.create(RdmaPortSpace.TCP)) {
            client.resolveAddr(null, address(TestDevice.port()), 1000 * WAIT_S);
            assertThatExceptionOfType(RpmaException.class)
                    .isThrownBy(() -> awaitEvent(client, RdmaEventType.ROUTE_RESOLVED))
                    .withMessageContaining("ADDR_RESOLVED came instead of ROUTE_RESOLVED")
                    .satisfies(e -> {
                        assertThat(e.operation()).isEqualTo("rdma_get_cm_event");
                        assertThat(e.errnoName()).isEqualTo("EPROTO");
                    });
            // the event is consumed, and the id can continue
            client.resolveRoute(1000 * WAIT_S);
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
    void waitsForCompletionsEndWithTheConnection() throws InterruptedException {
        try (RdmaPair pair = RdmaPair.connect()) {
            RdmaQp qp = pair.client.qp();
            RpmaCompletions completions = RpmaCompletions.create(1);
            assertThat(qp.getSendCompWhileConnected(completions, 0, TimeUnit.SECONDS))
                    .isZero();
            assertThat(qp.getRecvCompWhileConnected(completions, 10, TimeUnit.MILLISECONDS))
                    .isZero();
            List<Blocked> waiters = List.of(
                    new Blocked(
                            () -> qp.getSendCompWhileConnected(RpmaCompletions.create(1), 1, TimeUnit.HOURS),
                            "awaitComp"),
                    new Blocked(
                            () -> qp.getRecvCompWhileConnected(RpmaCompletions.create(1), 1, TimeUnit.HOURS),
                            "awaitComp"));
            pair.server.disconnect();
            for (Blocked waiter : waiters) {
                assertThat(waiter.failure())
                        .isInstanceOf(RpmaException.class)
                        .hasMessageContaining(
                                "the connection of " + Name.name(pair.client) + " has ended: DISCONNECTED");
            }
            assertFails("ENOTCONN", () -> qp.getSendCompWhileConnected(completions, 1, TimeUnit.HOURS));
            awaitEvent(pair.client, RdmaEventType.DISCONNECTED);
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
        Blocked.assertWokenByClose(() -> listener.getRequest(WAIT_S, TimeUnit.SECONDS), listener::close);
        RdmaId id = RdmaId.create(RdmaPortSpace.TCP);
        Blocked.assertWokenByClose(() -> id.nextEvent(WAIT_S, TimeUnit.SECONDS), id::close);
        RdmaId second = RdmaId.create(RdmaPortSpace.TCP);
        Blocked.assertWokenByClose(() -> awaitEvent(second, RdmaEventType.ADDR_RESOLVED), second::close);
        var completions = RpmaCompletions.create(1);
        RdmaPair pair = RdmaPair.connect();
        RdmaQp qp = pair.client.qp();
        Blocked.assertWokenByClose(() -> qp.getSendComp(completions, WAIT_S, TimeUnit.SECONDS), pair::close);
        RdmaPair secondPair = RdmaPair.connect();
        RdmaQp secondQp = secondPair.client.qp();
        Blocked.assertWokenByClose(
                () -> secondQp.getRecvComp(completions, WAIT_S, TimeUnit.SECONDS), secondPair::close);
    }

    @Test
    void closedIdsAreRefused() throws InterruptedException {
        RdmaId id = RdmaId.create(RdmaPortSpace.TCP);
        id.close();
        id.close();
        for (ThrowingCallable call : new ThrowingCallable[] {
            () -> id.bindAddr(address(1)),
            () -> id.setReuseAddr(true),
            () -> id.setTos(1),
            () -> id.setAckTimeout(14),
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
                    .withMessageContaining(pair.client.object() + " can't be closed before " + pair.clientMr.object());
            assertThat(pair.client.qp().pollSendComp(RpmaCompletions.create(1))).isZero();
            assertThatIllegalStateException().isThrownBy(pair.clientMemory::close);
        }
    }
}
