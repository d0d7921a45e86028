// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.rdmacm;

import static io.rpma.testing.Failures.assertFails;
import static io.rpma.testing.Limit.WAIT_S;
import static io.rpma.testing.RdmaDatagramPair.HEADER;
import static io.rpma.testing.RdmaDatagramPair.TOS;
import static io.rpma.testing.RdmaPair.address;
import static io.rpma.testing.RdmaPair.awaitEvent;
import static io.rpma.testing.RdmaPair.inline;
import static io.rpma.testing.RdmaPair.listen;
import static io.rpma.testing.RdmaPair.received;
import static io.rpma.testing.RdmaPair.request;
import static io.rpma.testing.RdmaPair.resolved;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.rpma.RpmaMemory;
import io.rpma.testing.RdmaDatagramPair;
import io.rpma.testing.RdmaPair;
import io.rpma.testing.TestDevice;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Options of ids. {@link RdmaQpAttributesIT} tests the options of connections. */
class RdmaOptionIT {
    @BeforeAll
    static void findDevice() {
        TestDevice.address();
    }

    private static RdmaId create() {
        return RdmaId.create(RdmaPortSpace.TCP);
    }

    private static RdmaId sharing(int port) {
        RdmaId id = create();
        id.setReuseAddr(true);
        id.bindAddr(address(port));
        return id;
    }

    private static void assertRefused(RdmaId id, String reason, ThrowingCallable call) {
        assertThatIllegalStateException().isThrownBy(call).withMessage(id.object() + " " + reason);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 31})
    void everyTimeoutOfTheRangeIsAccepted(int timeout) {
        try (RdmaId id = create()) {
            id.setAckTimeout(timeout);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 32, 256, Integer.MIN_VALUE})
    void otherTimeoutsAreRefused(int timeout) {
        try (RdmaId id = create()) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> id.setAckTimeout(timeout))
                    .withMessage("acknowledgement timeout must be 0 to 31, not " + timeout);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 255})
    void everyTypeOfServiceOfTheRangeIsAccepted(int tos) {
        try (RdmaId id = create()) {
            id.setTos(tos);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 256, Integer.MAX_VALUE})
    void otherTypesOfServiceAreRefused(int tos) {
        try (RdmaId id = create()) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> id.setTos(tos))
                    .withMessage("type of service must be 0 to 255, not " + tos);
        }
    }

    @Test
    void datagramsHaveNoTimeout() {
        try (RdmaId id = RdmaId.create(RdmaPortSpace.UDP)) {
            assertRefused(id, "is for datagrams, which are not acknowledged", () -> id.setAckTimeout(14));
        }
    }

    @Test
    void idsShareAPort() throws InterruptedException {
        int port = TestDevice.port();
        int there = TestDevice.port();
        try (RdmaId first = sharing(port);
                RdmaId second = sharing(port);
                RdmaId third = create()) {
            assertThat(first.localAddr()).isEqualTo(second.localAddr()).contains(address(port));
            third.setReuseAddr(true);
            third.resolveAddr(address(port), address(there), 1000 * WAIT_S);
            awaitEvent(third, RdmaEventType.ADDR_RESOLVED);
            assertThat(third.localAddr()).contains(address(port));
        }
    }

    @Test
    void aPortIsSharedIfBothIdsAgree() {
        int port = TestDevice.port();
        try (RdmaId alone = create();
                RdmaId sharing = create()) {
            alone.setReuseAddr(true);
            alone.setReuseAddr(false);
            alone.bindAddr(address(port));
            sharing.setReuseAddr(true);
            assertFails("rdma_bind_addr", "EADDRINUSE", () -> sharing.bindAddr(address(port)));
        }
        try (RdmaId sharing = sharing(port);
                RdmaId alone = create()) {
            assertFails("rdma_bind_addr", "EADDRINUSE", () -> alone.bindAddr(address(port)));
            assertThat(sharing.localAddr()).contains(address(port));
        }
    }

    @Test
    void aListenerSharesItsPortWithNobody() {
        int port = TestDevice.port();
        try (RdmaId listener = sharing(port)) {
            try (RdmaId other = sharing(port)) {
                assertThat(other.localAddr()).contains(address(port));
                assertFails("rdma_listen", "EADDRINUSE", () -> listener.listen(0));
            }
            listener.listen(0);
            try (RdmaId other = create()) {
                other.setReuseAddr(true);
                assertFails("rdma_bind_addr", "EADDRINUSE", () -> other.bindAddr(address(port)));
            }
        }
    }

    @Test
    void beforeTheAddressIsBound() throws InterruptedException {
        int port = TestDevice.port();
        try (RdmaId listener = listen(port);
                RdmaId bound = create();
                RdmaId resolved = resolved(port)) {
            bound.bindAddr(address(0));
            String late = ": it is too late for setReuseAddr()";
            assertRefused(bound, "is bound" + late, () -> bound.setReuseAddr(true));
            assertRefused(resolved, "has a route" + late, () -> resolved.setReuseAddr(false));
            assertRefused(listener, "listens" + late, () -> listener.setReuseAddr(true));
        }
    }

    @Test
    void beforeTheRouteIsResolved() throws InterruptedException {
        int port = TestDevice.port();
        try (RdmaId listener = listen(port);
                RdmaId client = resolved(port);
                RdmaAddrInfo there = RdmaAddrInfo.active(TestDevice.address(), port, RdmaPortSpace.TCP);
                RdmaId endpoint = RdmaId.createEp(there, null)) {
            String late = ": it is too late for setTos()";
            assertRefused(listener, "listens" + late, () -> listener.setTos(1));
            assertRefused(client, "has a route" + late, () -> client.setTos(1));
            assertRefused(endpoint, "has a route" + late, () -> endpoint.setTos(1));
            client.createQp(RdmaPair.attr());
            client.connect(new RdmaConnParam());
            assertRefused(client, "connects" + late, () -> client.setTos(1));
            try (RdmaId server = request(listener)) {
                assertRefused(server, "has a route" + late, () -> server.setTos(1));
                assertRefused(
                        server, "has a route: it is too late for setReuseAddr()", () -> server.setReuseAddr(true));
            }
        }
    }

    @Test
    void beforeTheConnectionBegins() throws InterruptedException {
        int port = TestDevice.port();
        String late = ": it is too late for setAckTimeout()";
        try (RdmaId listener = listen(port);
                RdmaId client = resolved(port)) {
            assertRefused(listener, "listens" + late, () -> listener.setAckTimeout(14));
            client.setAckTimeout(14);
            client.createQp(RdmaPair.attr());
            client.connect(new RdmaConnParam());
            assertRefused(client, "connects" + late, () -> client.setAckTimeout(14));
            try (RdmaId server = request(listener)) {
                server.setAckTimeout(14);
                server.createQp(RdmaPair.attr());
                server.accept(new RdmaConnParam());
                assertRefused(server, "connects" + late, () -> server.setAckTimeout(14));
            }
        }
    }

    /** A call that fails does not make a later option too late. */
    @Test
    void afterAFailure() {
        int port = TestDevice.port();
        try (RdmaId listener = listen(port);
                RdmaId id = create()) {
            assertFails("EADDRINUSE", () -> id.bindAddr(address(port)));
            id.setReuseAddr(true);
            assertThatIllegalStateException().isThrownBy(() -> id.resolveRoute(1));
            id.setTos(1);
            assertThat(listener.localAddr()).contains(address(port));
        }
    }

    @Tag("datagrams")
    @ParameterizedTest
    @ValueSource(ints = {0, 4, 104, 252})
    void aDatagramHasTheTypeOfService(int tos) throws InterruptedException {
        int port = TestDevice.port();
        try (RdmaId listener = RdmaDatagramPair.listen(port);
                RdmaId client = RdmaId.create(RdmaPortSpace.UDP)) {
            client.setTos(tos);
            client.resolveAddr(null, address(port), 1000 * WAIT_S);
            awaitEvent(client, RdmaEventType.ADDR_RESOLVED);
            client.resolveRoute(1000 * WAIT_S);
            awaitEvent(client, RdmaEventType.ROUTE_RESOLVED);
            client.createQp(RdmaPair.attr());
            client.connect(new RdmaConnParam());
            try (RdmaId server = request(listener)) {
                server.createQp(RdmaPair.attr());
                server.accept(new RdmaConnParam());
                RdmaEvent established = awaitEvent(client, RdmaEventType.ESTABLISHED);
                assertThat(sentFrom(client, established, server)).isEqualTo(tos);
            }
        }
    }

    /** Sends a datagram, and returns the type of service with which it arrives. */
    private static int sentFrom(RdmaId client, RdmaEvent established, RdmaId server) throws InterruptedException {
        try (RpmaMemory memory = RpmaMemory.allocate(HEADER + 1);
                RdmaMr region = RdmaMr.regMsgs(server, memory);
                RdmaAh there = client.createAh(established)) {
            server.qp().postRecv(region, 0, HEADER + 1, 1);
            client.qp().postUdSendInline(inline("x"), 1, RdmaQp.F_SIGNALED, there, established.qpNum(), 2);
            RdmaPair.sent(client.qp(), 2);
            received(server.qp(), 1);
            return Byte.toUnsignedInt(memory.buffer().get(TOS));
        }
    }
}
