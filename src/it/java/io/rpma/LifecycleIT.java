// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.rpma.rdmacm.RdmaAddrInfo;
import io.rpma.rdmacm.RdmaMr;
import io.rpma.rdmacm.RdmaPortSpace;
import io.rpma.testing.Blocked;
import io.rpma.testing.Limit;
import io.rpma.testing.Pair;
import io.rpma.testing.RdmaPair;
import io.rpma.testing.Readable;
import io.rpma.testing.Regions;
import io.rpma.testing.TestDevice;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The behaviour of objects in unusual states, such as not yet connected, disconnected, rejected or dropped. */
class LifecycleIT extends WithPeer {
    private static final int SIZE = 64;
    private static final int ALWAYS = RpmaConn.F_COMPLETION_ALWAYS;

    private RpmaConn connect() {
        return RpmaConnReq.create(peer, address, port, null).connect();
    }

    private static RpmaConnReq next(RpmaEp ep) throws InterruptedException {
        return ep.nextConnReq(null, Limit.WAIT_S, TimeUnit.SECONDS).orElseThrow();
    }

    private static void assertNoEvent(RpmaConn conn) throws InterruptedException {
        assertEquals(Optional.empty(), conn.nextEvent(0, TimeUnit.SECONDS));
    }

    /** Assumes that no device has an address in the loopback's network: the call would find this device. */
    @ParameterizedTest
    @CsvSource({
        "127.0.0.1, is the address of no device: it stands for this machine alone",
        "0.0.0.0, is the address of no device: it stands for all addresses"
    })
    void anAddressOfNoDeviceIsRefusedWithTheReason(String wrong, String reason) {
        RpmaException refused = assertThrows(RpmaException.class, () -> RpmaDevice.local(wrong));
        assertTrue(refused.getMessage().contains(reason), refused.getMessage());
    }

    @Tag("infiniband-cm")
    @Test
    void disconnectingIsAnsweredByTheOtherSide() throws InterruptedException {
        try (Pair pair = Pair.connect(peer, null, null)) {
            pair.client.disconnect();
            pair.client.disconnect();
            Pair.assertEvent(RpmaConnEvent.CLOSED, pair.server);
            assertNoEvent(pair.client);
            pair.server.disconnect();
            Pair.assertEvent(RpmaConnEvent.CLOSED, pair.client);
            pair.client.disconnect();
            pair.server.disconnect();
        }
    }

    @Test
    void closingAnswersToo() throws InterruptedException {
        try (Pair pair = Pair.connect(peer, null, null)) {
            pair.client.disconnect();
            Pair.assertEvent(RpmaConnEvent.CLOSED, pair.server);
            pair.server.close();
            Pair.assertEvent(RpmaConnEvent.CLOSED, pair.client);
        }
    }

    @Tag("infiniband-cm")
    @Test
    void disconnectingTooEarlyTellsNobody() throws InterruptedException {
        try (RpmaEp ep = RpmaEp.listen(peer, address, port);
                RpmaConn client = connect()) {
            client.disconnect();
            assertNoEvent(client);
            try (RpmaConn server = next(ep).connect()) {
                server.disconnect();
                assertNoEvent(server);
            }
        }
    }

    @Tag("completions-after-end")
    @Test
    void aConnectionThatIsRejected() throws InterruptedException {
        try (RpmaEp ep = RpmaEp.listen(peer, address, port);
                RpmaConn client = connect()) {
            next(ep).close();
            Pair.assertEvent(RpmaConnEvent.REJECTED, client);
            assertArrayEquals(new byte[0], client.getPrivateData());
            assertTrue(client.write(ALWAYS, 1));
            Pair.assertCompletion(client, 1, RpmaWcStatus.WR_FLUSH_ERR);
            client.disconnect();
            assertNoEvent(client);
        }
    }

    @Test
    void oneOfTwoWaitersGetsAnEvent() throws Exception {
        try (RpmaEp ep = RpmaEp.listen(peer, address, port);
                RpmaConn client = connect()) {
            Blocked first = new Blocked(() -> client.nextEvent(5, TimeUnit.SECONDS));
            Blocked second = new Blocked(() -> client.nextEvent(5, TimeUnit.SECONDS));
            try (RpmaConn server = next(ep).connect()) {
                List<Object> both = List.of(first.result(), second.result());
                assertTrue(both.contains(Optional.of(RpmaConnEvent.ESTABLISHED)), both.toString());
                assertTrue(both.contains(Optional.empty()), both.toString());
                Pair.assertEvent(RpmaConnEvent.ESTABLISHED, server);
            }
        }
    }

    @Tag("completions-after-end")
    @Test
    void postsAfterDisconnecting() throws InterruptedException {
        try (Pair pair = Pair.connect(peer, null, null)) {
            pair.client.disconnect();
            assertTrue(pair.client.write(ALWAYS, 1));
            Pair.assertCompletion(pair.client, 1, RpmaWcStatus.WR_FLUSH_ERR);
        }
    }

    @Test
    void aRequestThatNobodyHasTakenIsRejectedWithTheEndpoint() throws InterruptedException {
        RpmaEp ep = RpmaEp.listen(peer, address, port);
        try (RpmaConn client = connect()) {
            Readable.assertReadable(ep.getFd());
            ep.close();
            Pair.assertEvent(RpmaConnEvent.REJECTED, client);
        }
    }

    /** librpma has discarded the request, so it stays unanswered. */
    @Test
    void theEndpointGoesOnAfterARequestWhoseQueuesCantBeMade() throws InterruptedException {
        try (RpmaEp ep = RpmaEp.listen(peer, address, port);
                RpmaConnCfg tooLarge = RpmaConnCfg.create().setCqSize(Integer.MAX_VALUE);
                RpmaConn rejected = connect()) {
            assertThrows(RpmaException.class, () -> ep.nextConnReq(tooLarge, Limit.WAIT_S, TimeUnit.SECONDS));
            Pair.assertEvent(RpmaConnEvent.REJECTED, rejected);
            try (RpmaConn client = connect();
                    RpmaConn server = next(ep).connect()) {
                Pair.assertEvent(RpmaConnEvent.ESTABLISHED, client);
                Pair.assertEvent(RpmaConnEvent.ESTABLISHED, server);
            }
        }
    }

    /** The overflow that {@link RpmaConnCfg#setCqSize} warns of. Devices other than soft-RoCE break the connection. */
    @Test
    void aCompletionQueueThatOverflowsLosesCompletions() throws InterruptedException {
        assumeTrue(TestDevice.isSoft(), "not soft-RoCE");
        try (RpmaConnCfg cfg = RpmaConnCfg.create().setCqSize(1);
                Pair pair = Pair.connect(peer, cfg, null)) {
            int posted = 100;
            for (int i = 0; i < posted; i++) {
                // soft-RoCE makes room in the send queue without a poll, so most writes are done after the loop
                while (!pair.client.write(ALWAYS, i)) {
                    Thread.onSpinWait();
                }
            }
            RpmaCompletions completions = RpmaCompletions.create(1);
            int taken = 0;
            while (taken == 0 || completions.wrId(0) != posted) {
                pair.client.write(ALWAYS, posted);
                assertEquals(1, pair.client.getCq().await(completions, Limit.WAIT_S, TimeUnit.SECONDS));
                assertEquals(RpmaWcStatus.SUCCESS, completions.status(0));
                taken++;
            }
            assertTrue(taken < posted / 2, taken + " completions of " + posted + " writes");
        }
    }

    @Test
    void memoryOfARegisteredViewStaysMapped() throws InterruptedException {
        try (Pair pair = Pair.connect(peer, null, null);
                Regions regions = new Regions(peer, SIZE)) {
            RpmaMemory memory = RpmaMemory.allocate(SIZE);
            memory.buffer().putLong(0, 4711);
            try (RpmaMrLocal source = peer.register(memory.buffer(), RpmaMrUsage.WRITE_SRC)) {
                memory.close();
                for (int i = 0; i < 3; i++) {
                    System.gc();
                }
                Pair.assertPosted(pair.client.write(regions.remote, 0, source, 0, SIZE, ALWAYS, 1));
                Pair.assertDone(pair.client, 1);
                assertEquals(4711, regions.remoteMemory.buffer().getLong(0));
            }
        }
    }

    @Tag("infiniband-cm")
    @ParameterizedTest
    @ValueSource(strings = {"0.0.0.0", "::"})
    void anEndpointOnAllAddresses(String all) throws InterruptedException {
        try (RpmaEp ep = RpmaEp.listen(peer, all, port);
                RpmaConn client = connect();
                RpmaConn server = next(ep).connect()) {
            Pair.assertEvent(RpmaConnEvent.ESTABLISHED, client);
            Pair.assertEvent(RpmaConnEvent.ESTABLISHED, server);
        }
    }

    /** Objects that need a device, and that the test drops without a close. */
    private enum Dropped {
        PEER {
            @Override
            AutoCloseable create(LifecycleIT test) {
                return TestDevice.peer();
            }
        },
        REGION {
            @Override
            AutoCloseable create(LifecycleIT test) {
                return TestDevice.peer().register(RpmaMemory.allocate(SIZE), RpmaMrUsage.READ_SRC);
            }
        },
        ENDPOINT {
            @Override
            AutoCloseable create(LifecycleIT test) {
                return RpmaEp.listen(TestDevice.peer(), test.address, test.port);
            }
        },
        SRQ {
            @Override
            AutoCloseable create(LifecycleIT test) {
                return RpmaSrq.create(TestDevice.peer(), null);
            }
        },
        REQUEST {
            @Override
            AutoCloseable create(LifecycleIT test) {
                return RpmaConnReq.create(TestDevice.peer(), test.address, test.port, null);
            }
        },
        CONNECTION {
            @Override
            AutoCloseable create(LifecycleIT test) {
                return RpmaConnReq.create(TestDevice.peer(), test.address, test.port, null)
                        .connect();
            }
        },
        RDMA_ADDRESS {
            @Override
            AutoCloseable create(LifecycleIT test) {
                return RdmaAddrInfo.active(test.address, test.port, RdmaPortSpace.TCP);
            }
        },
        RDMA_ID {
            @Override
            AutoCloseable create(LifecycleIT test) {
                return RdmaPair.listen(test.port);
            }
        },
        RDMA_REGION {
            @Override
            AutoCloseable create(LifecycleIT test) {
                return RdmaMr.regMsgs(RdmaPair.listen(test.port), RpmaMemory.allocate(SIZE));
            }
        };

        abstract AutoCloseable create(LifecycleIT test);
    }

    @Tag("infiniband-cm")
    @ParameterizedTest
    @EnumSource
    void aDroppedObjectIsReported(Dropped dropped) {
        LeakTest.assertReported(() -> dropped.create(this));
    }
}
