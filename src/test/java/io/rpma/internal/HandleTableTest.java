// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.rpma.RpmaDevice;
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.RpmaMemory;
import io.rpma.RpmaPeerCfg;
import io.rpma.rdmacm.RdmaAccess;
import io.rpma.rdmacm.RdmaAddrInfo;
import io.rpma.rdmacm.RdmaEventType;
import io.rpma.rdmacm.RdmaId;
import io.rpma.rdmacm.RdmaMr;
import io.rpma.rdmacm.RdmaPortSpace;
import io.rpma.testing.RdmaDatagramPair;
import io.rpma.testing.RdmaPair;
import io.rpma.testing.TestDevice;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The limit of the table of native objects. */
class HandleTableTest {
    @BeforeAll
    static void load() {
        Loader.ensureLoaded();
    }

    private final long[] open = new long[Natives.handleLimit()];
    private int count;

    private long fill() {
        long made = Natives.peerCfgNew();
        while (made > 0) {
            open[count] = made;
            count++;
            made = Natives.peerCfgNew();
        }
        return made;
    }

    private void empty() {
        for (int i = 0; i < count; i++) {
            Natives.peerCfgDelete(open[i]);
        }
    }

    @Test
    void whatComesWhenItIsFullIsRefused() {
        int before = Natives.handleCount();
        try {
            assertThat(fill()).isEqualTo(RpmaError.NOMEM.code());
            assertThat(before + count).isEqualTo(1_048_575);
            assertThatExceptionOfType(RpmaException.class)
                    .isThrownBy(RpmaPeerCfg::create)
                    .withMessage(
                            "rpma_peer_cfg_new failed: Out of memory (NOMEM); 1048575 objects of the library are open, of"
                                    + " 1048575 at most: close what is not used any more; those that were dropped without close() are"
                                    + " in the log");
        } finally {
            empty();
        }
        assertThat(Natives.handleCount()).isEqualTo(before);
        RpmaPeerCfg.create().close();
    }

    @Test
    @Tag("stand-in")
    void theObjectsOfLibrdmacmAreRefusedToo() throws InterruptedException {
        int port = TestDevice.port();
        try (RpmaMemory memory = RpmaMemory.allocate(4096);
                RdmaId id = RdmaPair.resolved(TestDevice.port());
                RdmaId bound = RdmaId.create(RdmaPortSpace.TCP);
                RdmaId listener = RdmaPair.listen(port);
                RdmaId client = RdmaPair.connecting(port);
                RdmaAddrInfo here = RdmaAddrInfo.passive(TestDevice.address(), TestDevice.port(), RdmaPortSpace.TCP);
                RdmaDatagramPair datagrams = RdmaDatagramPair.connect()) {
            bound.bindAddr(RdmaPair.address(0));
            try {
                fill();
                // librpma's messages about this failure are not the reason of the next failure
                assertThatExceptionOfType(RpmaException.class).isThrownBy(() -> RpmaDevice.local("192.0.2.1"));
                assertRefused("rdma_create_id", () -> RdmaId.create(RdmaPortSpace.TCP));
                assertRefused("rdma_getaddrinfo", () -> RdmaAddrInfo.active("127.0.0.1", 7471, RdmaPortSpace.TCP));
                assertRefused("ibv_reg_mr", () -> RdmaMr.reg(id, memory, RdmaAccess.values()));
                assertRefused("rdma_create_qp", () -> id.createQp(RdmaPair.attr()));
                assertRefused("rdma_create_srq", () -> id.createSrq(1, 1));
                assertRefused("rdma_create_ep", () -> RdmaId.createEp(here, RdmaPair.attr()));
                assertRefused("rdma_listen", () -> bound.listen(0));
                assertRefused("rdma_get_request", () -> RdmaPair.request(listener));
                assertRefused("ibv_create_ah", () -> datagrams.client.createAh(datagrams.established));
            } finally {
                empty();
            }
            RdmaPair.awaitEvent(client, RdmaEventType.REJECTED);
            id.createQp(RdmaPair.attr());
            RdmaId.createEp(here, RdmaPair.attr()).close();
            bound.listen(0);
            datagrams.client.createAh(datagrams.established).close();
            RdmaPair.connecting(port).close();
            RdmaPair.request(listener).close();
        }
        RdmaPair.connect().close();
    }

    private static void assertRefused(String operation, ThrowingCallable creation) {
        assertThatExceptionOfType(RpmaException.class)
                .isThrownBy(creation)
                .withMessageStartingWith(operation
                        + " failed: Out of memory (NOMEM); 1048575 objects of the library are open, of 1048575");
    }
}
