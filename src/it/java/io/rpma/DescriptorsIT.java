// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static io.rpma.testing.Readable.assertNotReadable;
import static io.rpma.testing.Readable.assertReadable;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rpma.testing.Pair;
import io.rpma.testing.TestDevice;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** The descriptors for epoll(7) and the like: their files and flags, and when they are readable. */
class DescriptorsIT extends WithPeer {
    private static final int ALWAYS = RpmaConn.F_COMPLETION_ALWAYS;
    private static final int O_NONBLOCK = 04000;
    private static final int O_CLOEXEC = 02000000;

    private final RpmaCompletions completions = RpmaCompletions.create(4);

    private static void assertDescriptor(String what, int fd) throws IOException {
        assertEquals(
                what, Files.readSymbolicLink(Path.of("/proc/self/fd/" + fd)).toString());
        String info = Files.readString(Path.of("/proc/self/fdinfo/" + fd));
        String flags = info.replaceAll("(?s).*flags:\\s*(\\d+).*", "$1");
        int both = O_NONBLOCK | O_CLOEXEC;
        assertEquals(both, Integer.parseInt(flags, 8) & both, info);
    }

    @Test
    void theyAreThoseOfTheDevice() throws Exception {
        try (RpmaEp ep = RpmaEp.listen(peer, TestDevice.address(), TestDevice.port());
                RpmaConnCfg cfg = RpmaConnCfg.create().setRcqSize(4);
                RpmaSrq srq = RpmaSrq.create(peer, null);
                Pair pair = Pair.connect(peer, null, cfg)) {
            assertDescriptor("/dev/infiniband/rdma_cm", ep.getFd());
            assertDescriptor("/dev/infiniband/rdma_cm", pair.client.getEventFd());
            assertNotEquals(pair.client.getEventFd(), pair.server.getEventFd());
            String channel = "anon_inode:[infinibandevent]";
            int cq = pair.server.getCq().getFd();
            int rcq = pair.server.getRcq().orElseThrow().getFd();
            assertDescriptor(channel, cq);
            assertDescriptor(channel, rcq);
            assertDescriptor(channel, srq.getRcq().orElseThrow().getFd());
            assertNotEquals(cq, rcq);
        }
    }

    @Test
    void theQueuesOfASharedChannelHaveOne() throws Exception {
        try (RpmaConnCfg cfg = RpmaConnCfg.create().setRcqSize(4).setComplChannel(true);
                Pair pair = Pair.connect(peer, cfg, null)) {
            int fd = pair.client.getComplFd();
            assertDescriptor("anon_inode:[infinibandevent]", fd);
            assertEquals(fd, pair.client.getCq().getFd());
            assertEquals(fd, pair.client.getRcq().orElseThrow().getFd());
            RpmaException failure = assertThrows(RpmaException.class, pair.server::getComplFd);
            assertEquals(RpmaError.NOT_SHARED_CHNL, failure.error());
            assertEquals("rpma_conn_get_compl_fd", failure.operation());
        }
    }

    @Test
    void anEndpointsIsReadableWhenSomebodyAsks() throws InterruptedException {
        try (RpmaEp ep = RpmaEp.listen(peer, TestDevice.address(), port)) {
            assertNotReadable(ep.getFd());
            try (RpmaConn client =
                    RpmaConnReq.create(peer, TestDevice.address(), port, null).connect()) {
                assertReadable(ep.getFd());
                try (RpmaConnReq request =
                        ep.nextConnReq(null, 0, TimeUnit.SECONDS).orElseThrow()) {
                    assertNotReadable(ep.getFd());
                    assertTrue(request.toString().contains("RpmaConnReq"));
                }
                assertReadable(client.getEventFd());
                Pair.assertEvent(RpmaConnEvent.REJECTED, client);
            }
        }
    }

    @Test
    void aConnectionsIsReadableWhenThereIsAnEvent() throws InterruptedException {
        try (Pair pair = Pair.connect(peer, null, null)) {
            int fd = pair.server.getEventFd();
            assertNotReadable(fd);
            pair.client.disconnect();
            assertReadable(fd);
            assertReadable(fd);
            assertEquals(
                    RpmaConnEvent.CLOSED,
                    pair.server.nextEvent(0, TimeUnit.SECONDS).orElseThrow());
        }
    }

    @Test
    void aQueuesIsReadableUntilItIsWaitedFor() throws InterruptedException {
        try (Pair pair = Pair.connect(peer, null, null)) {
            RpmaCq cq = pair.client.getCq();
            for (int i = 0; i < 3; i++) {
                assertNotReadable(cq.getFd());
                Pair.assertPosted(pair.client.write(ALWAYS, 1));
                assertReadable(cq.getFd());
                assertEquals(1, cq.poll(completions));
                assertReadable(cq.getFd());
                assertEquals(0, cq.await(completions, 0, TimeUnit.SECONDS));
            }
        }
    }

    /** Waits until the descriptor is readable and then takes all completions, as an event loop does. */
    @Test
    void noCompletionIsLostByTheReadinessOfAQueue() throws InterruptedException {
        try (Pair pair = Pair.connect(peer, null, null)) {
            RpmaCq cq = pair.client.getCq();
            for (long next = 0, posted = 0; next < 60; ) {
                while (posted < next + 4) {
                    Pair.assertPosted(pair.client.write(ALWAYS, posted++));
                }
                assertReadable(cq.getFd());
                for (int taken = -1; taken != 0; ) {
                    taken = cq.await(completions, 0, TimeUnit.SECONDS);
                    for (int i = 0; i < taken; i++) {
                        assertEquals(next++, completions.wrId(i));
                    }
                }
            }
        }
    }

    @Tag("empty-receives")
    @Test
    void aSharedChannelsIsReadableForBothQueues() throws InterruptedException {
        try (RpmaConnCfg cfg = RpmaConnCfg.create().setRcqSize(4).setComplChannel(true);
                Pair pair = Pair.connect(peer, cfg, null)) {
            int fd = pair.client.getComplFd();
            assertNotReadable(fd);
            Pair.assertPosted(pair.client.write(ALWAYS, 1));
            assertReadable(fd);
            assertEquals(
                    pair.client.getCq(),
                    pair.client.await(completions, 0, TimeUnit.SECONDS).orElseThrow());
            assertTrue(pair.client.await(completions, 0, TimeUnit.SECONDS).isEmpty());
            assertNotReadable(fd);
            Pair.assertPosted(pair.client.recv(2));
            Pair.assertPosted(pair.server.send(ALWAYS, 3));
            assertReadable(fd);
        }
    }

    @Test
    void closedObjectsLendNone() throws Exception {
        RpmaEp ep = RpmaEp.listen(peer, TestDevice.address(), TestDevice.port());
        int epFd = ep.getFd();
        ep.close();
        Pair pair = Pair.connect(peer, null, null);
        int eventFd = pair.client.getEventFd();
        int cqFd = pair.client.getCq().getFd();
        pair.close();
        for (Executable use : List.<Executable>of(
                ep::getFd, pair.client::getEventFd, pair.client::getComplFd, pair.client.getCq()::getFd)) {
            String message = assertThrows(IllegalStateException.class, use).getMessage();
            assertTrue(message.contains("is closed"), message);
        }
        for (int fd : new int[] {epFd, eventFd, cqFd}) {
            Path link = Path.of("/proc/self/fd/" + fd);
            assertTrue(
                    Files.notExists(link)
                            || !Files.readSymbolicLink(link).toString().contains("infiniband"),
                    () -> link + " is open still");
        }
    }
}
