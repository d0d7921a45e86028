// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.programs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.rpma.RpmaConn;
import io.rpma.RpmaConnEvent;
import io.rpma.RpmaConnReq;
import io.rpma.RpmaDevice;
import io.rpma.RpmaEp;
import io.rpma.RpmaException;
import io.rpma.RpmaPeer;
import io.rpma.rdmacm.RdmaId;
import io.rpma.rdmacm.RdmaPortSpace;
import io.rpma.rdmacm.RdmaQpInitAttr;
import io.rpma.testing.Limit;
import io.rpma.testing.Pair;
import io.rpma.testing.TestDevice;
import io.rpma.testing.Tool;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;

/** Adds a second device of soft-RoCE, and uses a peer of one device with the address of the other. */
public final class TwoDevicesProgram {
    private static final String OTHER = "10.0.1.1";

    private final String address = TestDevice.address();
    private final RpmaDevice device = RpmaDevice.local(address);
    private final RpmaDevice added = RpmaDevice.local(OTHER);

    /**
     * @param arguments a network interface without an RDMA device
     */
    public static void main(String[] arguments) throws Exception {
        Tool.run("ip", "address", "add", OTHER + "/24", "dev", arguments[0]);
        Tool.run("ip", "address", "add", "fd99::1/64", "dev", arguments[0], "nodad");
        Tool.run("rdma", "link", "add", "added", "type", "rxe", "netdev", arguments[0]);
        new TwoDevicesProgram().run();
    }

    private void run() throws InterruptedException {
        for (InetAddress own : added.addresses()) {
            assertThat(RpmaDevice.local(own.getHostAddress())).isEqualTo(added);
        }
        assertThat(added.addresses()).map(InetAddress::getHostAddress).contains(OTHER, "fd99:0:0:0:0:0:0:1");
        try (RpmaPeer peer = RpmaPeer.create(device);
                RpmaPeer other = RpmaPeer.create(added)) {
            assertOther(
                    () -> RpmaConnReq.create(peer, OTHER, TestDevice.port(), null),
                    "the address is reached by another device than that of the peer");
            refuseTheQueueOfTheOther();
            int port = TestDevice.port();
            try (RpmaEp ep = RpmaEp.listen(peer, "0.0.0.0", port);
                    RpmaConn refused =
                            RpmaConnReq.create(other, OTHER, port, null).connect();
                    RpmaConn client =
                            RpmaConnReq.create(peer, address, port, null).connect()) {
                assertOther(
                        () -> ep.nextConnReq(null, Limit.WAIT_S, TimeUnit.SECONDS),
                        "the client came by another device than that of the peer, and is rejected");
                Pair.assertEvent(RpmaConnEvent.REJECTED, refused);
                try (RpmaConn server = ep.nextConnReq(null).connect()) {
                    Pair.assertEvent(RpmaConnEvent.ESTABLISHED, client);
                    Pair.assertEvent(RpmaConnEvent.ESTABLISHED, server);
                }
            }
        }
    }

    private void refuseTheQueueOfTheOther() {
        try (RdmaId owner = RdmaId.create(RdmaPortSpace.TCP);
                RdmaId id = RdmaId.create(RdmaPortSpace.TCP)) {
            owner.bindAddr(new InetSocketAddress(OTHER, 0));
            id.bindAddr(new InetSocketAddress(address, 0));
            RdmaQpInitAttr attr = new RdmaQpInitAttr().srq(owner.createSrq(1, 1));
            assertThatExceptionOfType(RpmaException.class)
                    .isThrownBy(() -> id.createQp(attr))
                    .satisfies(e -> assertThat(e.errnoName()).isEqualTo("EXDEV"))
                    .withMessageContaining("different devices");
        }
    }

    private void assertOther(ThrowingCallable call, String hint) {
        assertThatExceptionOfType(RpmaException.class)
                .isThrownBy(call)
                .satisfies(e -> assertThat(e.errnoName()).isEqualTo("EXDEV"))
                .withMessageContaining("device=" + added.name() + ", pd=" + device.name())
                .withMessageContaining(hint);
    }
}
