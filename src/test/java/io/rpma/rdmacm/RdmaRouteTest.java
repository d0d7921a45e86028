// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.rdmacm;

import static io.rpma.testing.Limit.WAIT_S;
import static io.rpma.testing.RdmaPair.address;
import static io.rpma.testing.RdmaPair.awaitEvent;
import static io.rpma.testing.RdmaPair.listen;

import io.rpma.testing.TestDevice;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Resolved routes. On a device, the moment at which an address is resolved is not known. */
@Tag("stand-in")
class RdmaRouteTest {
    /** With sanitizers, a path that librdmacm or the stand-in leaks is a failure of the run. */
    @Test
    void aRouteIsResolvedBeforeTheEventOfTheAddressIsTaken() throws InterruptedException {
        int port = TestDevice.port();
        try (RdmaId listener = listen(port);
                RdmaId client = RdmaId.create(RdmaPortSpace.TCP)) {
            client.bindAddr(address(TestDevice.port()));
            client.resolveAddr(null, listener.localAddr().orElseThrow(), 1000 * WAIT_S);
            client.resolveRoute(1000 * WAIT_S);
            awaitEvent(client, RdmaEventType.ADDR_RESOLVED);
            awaitEvent(client, RdmaEventType.ROUTE_RESOLVED);
        }
    }
}
