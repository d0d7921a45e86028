// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.rdmacm;

import static io.rpma.testing.Failures.assertFails;
import static io.rpma.testing.Limit.WAIT_S;
import static io.rpma.testing.RdmaPair.address;
import static io.rpma.testing.RdmaPair.awaitEvent;
import static io.rpma.testing.RdmaPair.listen;
import static io.rpma.testing.RdmaPair.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.rpma.RpmaException;
import io.rpma.testing.RdmaPair;
import io.rpma.testing.TestDevice;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Addresses that ids are bound to, listen on and connect to. */
class RdmaAddressIT {
    /** Reserved for documentation (RFC 5737): no machine has it. */
    private static final String NO_DEVICE = "203.0.113.1";

    @BeforeAll
    static void findDevice() {
        TestDevice.address();
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
        assertFails("rdma_create_ep", errno, () -> RdmaId.createEp(info, RdmaPair.attr()));
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
        // the errno depends on whether there is a name server
        assertThatExceptionOfType(RpmaException.class)
                .isThrownBy(() -> RdmaAddrInfo.active("no-such-host.invalid", 1, RdmaPortSpace.TCP))
                .satisfies(e -> assertThat(e.errnoName()).isIn("EADDRNOTAVAIL", "EAGAIN"));
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
            client.resolveAddr(address(source), address(port), 1000 * WAIT_S);
            awaitEvent(client, RdmaEventType.ADDR_RESOLVED);
            assertThat(client.localAddr()).contains(address(source));
            assertThat(client.peerAddr()).contains(address(port));
        }
    }

    @Test
    void nobodyAnswers() throws InterruptedException {
        try (RdmaId client = RdmaId.create(RdmaPortSpace.TCP)) {
            client.resolveAddr(null, new InetSocketAddress(TestDevice.silentAddress(), 7), 100);
            assertThat(client.nextEvent(WAIT_S, TimeUnit.SECONDS).orElseThrow().type())
                    .isSameAs(RdmaEventType.ADDR_ERROR);
        }
    }

    @Test
    void aPortIsListenedOnOnce() {
        int port = TestDevice.port();
        try (RdmaId first = listen(port);
                RdmaId second = RdmaId.create(RdmaPortSpace.TCP)) {
            assertFails("EADDRINUSE", () -> second.bindAddr(address(port)));
            assertThatIllegalStateException()
                    .isThrownBy(() -> first.listen(1))
                    .withMessage(first.object() + " listens already");
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
}
