// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.rpma.rdmacm.RdmaAddrInfo;
import io.rpma.rdmacm.RdmaConnParam;
import io.rpma.rdmacm.RdmaEventType;
import io.rpma.rdmacm.RdmaId;
import io.rpma.rdmacm.RdmaPortSpace;
import io.rpma.rdmacm.RdmaQpInitAttr;
import io.rpma.testing.Limit;
import io.rpma.testing.Pair;
import io.rpma.testing.RdmaPair;
import io.rpma.testing.StandIn;
import io.rpma.testing.TestDevice;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A device whose node GUID is 0, so that librdmacm does not know it. */
@Tag("stand-in")
class NodeGuidTest {
    private static final String ADDRESS = TestDevice.address();
    private static final long GUID = 0x524d41;

    private final StandIn standIn = StandIn.open();
    private final int port = TestDevice.port();

    @AfterEach
    void close() {
        StandIn.setNodeGuid(GUID);
        standIn.close();
    }

    private static void assertUnknown(ThrowingCallable call) {
        assertThatExceptionOfType(RpmaException.class)
                .isThrownBy(call)
                .satisfies(e -> assertThat(e.errnoName()).isEqualTo("ENXIO"))
                .withMessageContaining("the node GUID of the device is 0")
                .withMessageContaining("node_guid GUID");
    }

    private static InetSocketAddress remote(int port) {
        return new InetSocketAddress(ADDRESS, port);
    }

    @Test
    void noCallFindsTheDevice() throws Exception {
        try (RpmaPeer peer = TestDevice.peer();
                RdmaAddrInfo info = RdmaAddrInfo.active(ADDRESS, port, RdmaPortSpace.TCP)) {
            StandIn.setNodeGuid(0);
            assertUnknown(() -> RpmaDevice.local(ADDRESS));
            assertUnknown(() -> RpmaDevice.remote(ADDRESS));
            assertUnknown(() -> RpmaConnReq.create(peer, ADDRESS, port, null));
            assertUnknown(() -> RdmaId.createEp(info, null));
            assertUnknown(() -> RdmaId.createEp(info, new RdmaQpInitAttr()));
        }
    }

    /** librdmacm takes the event of an id with a channel of its own only when the program does. */
    @Test
    void anAddressOfTheDeviceIsNotResolved() throws Exception {
        try (RdmaId client = RdmaId.create(RdmaPortSpace.TCP)) {
            StandIn.setNodeGuid(0);
            client.resolveAddr(null, remote(port), 1000);
            assertUnknown(() -> client.awaitEvent(RdmaEventType.ADDR_RESOLVED, Limit.WAIT_S, TimeUnit.SECONDS));
        }
        StandIn.setNodeGuid(GUID);
        try (RdmaId client = RdmaId.create(RdmaPortSpace.TCP)) {
            client.resolveAddr(null, remote(port), 1000);
            client.awaitEvent(RdmaEventType.ADDR_RESOLVED, Limit.WAIT_S, TimeUnit.SECONDS);
        }
    }

    @Test
    void aRequestThatComesByTheDeviceIsRejected() throws Exception {
        try (RpmaPeer peer = TestDevice.peer();
                RpmaEp ep = RpmaEp.listen(peer, ADDRESS, port);
                RpmaConnReq request = RpmaConnReq.create(peer, ADDRESS, port, null);
                RpmaConn client = request.connect()) {
            StandIn.setNodeGuid(0);
            assertUnknown(() -> ep.nextConnReq(null, Limit.WAIT_S, TimeUnit.SECONDS));
            Pair.assertEvent(RpmaConnEvent.REJECTED, client);
        }
    }

    @Test
    void aRequestOfLibrdmacmThatComesByTheDeviceIsRejected() throws Exception {
        try (RdmaId listener = RdmaPair.listen(port);
                RdmaAddrInfo info = RdmaAddrInfo.active(ADDRESS, port, RdmaPortSpace.TCP);
                RdmaId client = RdmaId.createEp(info, new RdmaQpInitAttr())) {
            client.connect(new RdmaConnParam());
            StandIn.setNodeGuid(0);
            assertUnknown(() -> listener.getRequest(Limit.WAIT_S, TimeUnit.SECONDS));
            RdmaPair.awaitEvent(client, RdmaEventType.REJECTED);
        }
    }
}
