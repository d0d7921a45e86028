// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static io.rpma.testing.Name.name;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rpma.internal.Log;
import io.rpma.internal.Logged;
import io.rpma.internal.Natives;
import io.rpma.testing.Blocked;
import io.rpma.testing.Limit;
import io.rpma.testing.Pair;
import io.rpma.testing.Regions;
import io.rpma.testing.TestDevice;
import io.rpma.testing.Together;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** Receives that several connections share. */
class SharedReceiveQueueIT extends WithPeer {
    private static final int SIZE = 4096;
    private static final int ALWAYS = RpmaConn.F_COMPLETION_ALWAYS;

    private Regions regions;

    @BeforeEach
    void open() {
        regions = new Regions(peer, SIZE);
        regions.fillLocal(1);
    }

    @AfterEach
    void close() {
        if (regions != null) {
            regions.close();
        }
    }

    /**
     * Creates a shared receive queue without a completion queue: receives complete in the queues of the connections.
     */
    private RpmaSrq withoutRcq() {
        try (RpmaSrqCfg cfg = RpmaSrqCfg.create().setRcqSize(0)) {
            return RpmaSrq.create(peer, cfg);
        }
    }

    private static RpmaConnCfg using(RpmaSrq srq) {
        return RpmaConnCfg.create().setSrq(srq);
    }

    private Pair connect(RpmaConnCfg serverCfg) throws InterruptedException {
        return Pair.connect(peer, null, serverCfg);
    }

    private boolean recv(RpmaSrq srq, long wrId) {
        return srq.recv(regions.target, 64 * wrId, 64, wrId);
    }

    private boolean send(Pair pair, int length, long wrId) {
        return pair.client.send(regions.local, 0, length, ALWAYS, wrId);
    }

    private static void assertMessage(Class<? extends Throwable> type, Executable call, Object... words) {
        String message = assertThrows(type, call).getMessage();
        for (Object word : words) {
            assertTrue(message.contains(name(word)), message + ": no " + word);
        }
    }

    @Test
    void messagesOfSeveralConnectionsAreToldApart() throws InterruptedException {
        try (RpmaSrq srq = RpmaSrq.create(peer, null);
                RpmaConnCfg cfg = using(srq);
                Pair first = connect(cfg);
                Pair second = connect(cfg)) {
            assertNotEquals(first.server.getQpNum(), second.server.getQpNum());
            assertEquals(Optional.empty(), first.server.getRcq());
            RpmaCq rcq = srq.getRcq().orElseThrow();
            for (int i = 0; i < 4; i++) {
                Pair.assertPosted(recv(srq, i));
                Pair from = i % 2 == 0 ? first : second;
                Pair.assertPosted(send(from, i + 1, 10 + i));
                RpmaCompletions completions = Pair.assertDone(rcq, i);
                assertEquals(from.server.getQpNum(), completions.qpNum(0));
                assertEquals(i + 1, completions.byteLen(0));
                Pair.assertDone(from.client, 10 + i);
            }
            assertEquals(0, first.server.getCq().poll(RpmaCompletions.create(1)));
            assertEquals(regions.localMemory.buffer(0, 4), regions.remoteMemory.buffer(3 * 64, 4));
            assertEquals(ByteBuffer.allocate(60), regions.remoteMemory.buffer(3 * 64 + 4, 60));
        }
    }

    @Tag("immediate-data")
    @Test
    void bothSendAtOnce() throws InterruptedException {
        try (RpmaSrq srq = RpmaSrq.create(peer, null);
                RpmaConnCfg cfg = using(srq);
                Pair first = connect(cfg);
                Pair second = connect(cfg)) {
            int each = 5;
            for (int i = 0; i < 2 * each; i++) {
                Pair.assertPosted(recv(srq, i));
            }
            for (int i = 0; i < each; i++) {
                Pair.assertPosted(first.client.sendWithImm(regions.local, 0, 1, ALWAYS, i, 1));
                Pair.assertPosted(second.client.sendWithImm(regions.local, 0, 1, ALWAYS, i, 1));
            }
            RpmaCompletions completions = RpmaCompletions.create(1);
            Map<Integer, Integer> next = new HashMap<>();
            for (int i = 0; i < 2 * each; i++) {
                assertEquals(1, srq.getRcq().orElseThrow().await(completions, Limit.WAIT_S, TimeUnit.SECONDS));
                int messages = next.merge(completions.qpNum(0), 1, Integer::sum);
                assertEquals(messages - 1, completions.immData(0), "of one connection they come in order");
            }
            assertEquals(Map.of(first.server.getQpNum(), each, second.server.getQpNum(), each), next);
        }
    }

    @Test
    void withoutACompletionQueueOfItsOwnEachConnectionGetsItsMessages() throws InterruptedException {
        try (RpmaSrq srq = withoutRcq();
                RpmaConnCfg cfg = using(srq);
                Pair first = connect(cfg);
                Pair second = connect(cfg.setRcqSize(4))) {
            assertEquals(Optional.empty(), srq.getRcq());
            Pair.assertPosted(recv(srq, 1));
            Pair.assertPosted(send(first, 1, 2));
            Pair.assertDone(first.server.getCq(), 1);
            Pair.assertPosted(recv(srq, 3));
            Pair.assertPosted(send(second, 1, 4));
            Pair.assertDone(second.server.getRcq().orElseThrow(), 3);
        }
    }

    @Tag("empty-receives")
    @Test
    void itsCompletionQueueGoesBeforeThatOfTheConnection() throws InterruptedException {
        try (RpmaSrq srq = RpmaSrq.create(peer, null);
                RpmaConnCfg cfg = using(srq).setRcqSize(4);
                Pair pair = connect(cfg)) {
            assertEquals(Optional.empty(), pair.server.getRcq());
            Pair.assertPosted(srq.recv(1));
            Pair.assertPosted(pair.client.send(ALWAYS, 2));
            Pair.assertDone(srq.getRcq().orElseThrow(), 1);
        }
    }

    @Test
    void receivesGoToTheSharedQueueAlone() throws InterruptedException {
        try (RpmaSrq srq = RpmaSrq.create(peer, null);
                RpmaConnCfg cfg = using(srq);
                Pair pair = connect(cfg)) {
            assertMessage(
                    IllegalStateException.class, () -> pair.server.recv(regions.target, 0, 8, 1), "RpmaConn#", srq);
            assertMessage(IllegalStateException.class, () -> pair.server.recv(1), "RpmaConn#", srq);
            try (RpmaConnReq request = RpmaConnReq.create(peer, TestDevice.address(), TestDevice.port(), cfg)) {
                assertMessage(IllegalStateException.class, () -> request.recv(regions.target, 0, 8, 1), request, srq);
            }
            Pair.assertPosted(pair.client.recv(regions.local, 0, 8, 2));
        }
    }

    /** The library therefore refuses the post before it reaches the device. The provider of soft-iWARP crashes. */
    @Tag("empty-receives")
    @Test
    void theDeviceGivesNoUsefulReason() throws InterruptedException {
        try (RpmaSrq srq = RpmaSrq.create(peer, null);
                RpmaConnCfg cfg = using(srq);
                Pair pair = connect(cfg)) {
            int result = Natives.connRecv(pair.server.object().handle(), 0, 0, 0, 1);
            assertEquals(RpmaError.PROVIDER.code(), result);
            String reasons = Log.lastReasons();
            assertTrue(reasons.contains("ibv_post_recv failed: Invalid argument"), reasons);
        }
    }

    @Test
    void aQueueOfAnotherPeer() {
        try (RpmaPeer other = TestDevice.peer();
                RpmaSrq srq = RpmaSrq.create(other, null);
                RpmaConnCfg cfg = using(srq);
                RpmaEp ep = RpmaEp.listen(peer, TestDevice.address(), TestDevice.port())) {
            assertMessage(
                    IllegalArgumentException.class,
                    () -> RpmaConnReq.create(peer, TestDevice.address(), TestDevice.port(), cfg),
                    srq,
                    other,
                    peer);
            assertMessage(
                    IllegalArgumentException.class, () -> ep.nextConnReq(cfg, 0, TimeUnit.SECONDS), srq, other, peer);
        }
    }

    @Tag("empty-receives")
    @Test
    void isNotClosedBeforeWhatUsesIt() throws InterruptedException {
        RpmaSrq srq = RpmaSrq.create(peer, null);
        try (RpmaConnCfg cfg = using(srq)) {
            try (Pair pair = connect(cfg)) {
                assertMessage(IllegalStateException.class, srq::close, srq, pair.server.object());
                Pair.assertPosted(srq.recv(1));
                Pair.assertPosted(pair.client.send(ALWAYS, 2));
                Pair.assertDone(srq.getRcq().orElseThrow(), 1);
            }
            try (RpmaConnReq request = RpmaConnReq.create(peer, TestDevice.address(), TestDevice.port(), cfg)) {
                assertMessage(IllegalStateException.class, srq::close, srq, request);
            }
            assertMessage(IllegalStateException.class, peer::close, srq);
            Pair.assertPosted(recv(srq, 3));
            srq.close();
            srq.close();
        }
    }

    @Test
    void aClosedQueue() {
        RpmaSrq srq = RpmaSrq.create(peer, null);
        RpmaCq rcq = srq.getRcq().orElseThrow();
        try (RpmaConnCfg cfg = using(srq);
                RpmaEp ep = RpmaEp.listen(peer, TestDevice.address(), TestDevice.port())) {
            srq.close();
            for (Executable use : List.<Executable>of(
                    () -> srq.recv(1),
                    () -> recv(srq, 1),
                    () -> cfg.setSrq(srq),
                    () -> RpmaConnReq.create(peer, TestDevice.address(), TestDevice.port(), cfg),
                    () -> ep.nextConnReq(cfg, 0, TimeUnit.SECONDS))) {
                assertMessage(IllegalStateException.class, use, srq, "is closed");
            }
            assertMessage(IllegalStateException.class, () -> rcq.poll(RpmaCompletions.create(1)), "is closed");
            assertMessage(IllegalStateException.class, rcq::getFd, "is closed");
        }
    }

    @Test
    void theConfigurationKeepsTheLastOne() {
        try (RpmaSrq first = RpmaSrq.create(peer, null);
                RpmaSrq second = RpmaSrq.create(peer, null);
                RpmaConnCfg cfg = using(first)) {
            assertSame(first, cfg.getSrq().orElseThrow());
            assertSame(second, cfg.setSrq(second).getSrq().orElseThrow());
            assertThrows(NullPointerException.class, () -> cfg.setSrq(null));
            assertSame(second, cfg.getSrq().orElseThrow());
        }
    }

    @Tag("empty-receives")
    @Test
    void aSharedChannelNeedsTheConnectionsOwnQueues() throws InterruptedException {
        try (RpmaSrq srq = RpmaSrq.create(peer, null);
                RpmaConnCfg cfg = using(srq).setComplChannel(true);
                RpmaEp ep = RpmaEp.listen(peer, TestDevice.address(), TestDevice.port())) {
            assertMessage(
                    IllegalArgumentException.class,
                    () -> RpmaConnReq.create(peer, TestDevice.address(), TestDevice.port(), cfg),
                    "shared completion channel",
                    srq);
            assertMessage(IllegalArgumentException.class, () -> ep.nextConnReq(cfg, 0, TimeUnit.SECONDS), srq);
        }
        try (RpmaSrq srq = withoutRcq();
                RpmaConnCfg cfg = using(srq).setComplChannel(true).setRcqSize(4);
                Pair pair = connect(cfg)) {
            Pair.assertPosted(srq.recv(1));
            Pair.assertPosted(pair.client.send(ALWAYS, 2));
            RpmaCompletions completions = RpmaCompletions.create(1);
            assertSame(
                    pair.server.getRcq().orElseThrow(),
                    pair.server
                            .await(completions, Limit.WAIT_S, TimeUnit.SECONDS)
                            .orElseThrow());
            assertEquals(1, completions.wrId(0));
        }
    }

    @Tag("empty-receives")
    @Test
    void aFullQueue() throws InterruptedException {
        int size = 4;
        int limit = 512;
        try (RpmaSrqCfg srqCfg = RpmaSrqCfg.create().setRqSize(size);
                RpmaSrq srq = RpmaSrq.create(peer, srqCfg);
                RpmaConnCfg cfg = using(srq);
                Pair pair = connect(cfg)) {
            int posted = 0;
            try (Logged log = new Logged()) {
                while (posted < limit && srq.recv(posted)) {
                    posted++;
                }
                assertTrue(posted >= size && posted < limit, "room for " + posted);
                assertFalse(recv(srq, 1));
                assertEquals(List.of(), log.messages());
            }
            Pair.assertPosted(pair.client.send(ALWAYS, 1));
            Pair.assertDone(srq.getRcq().orElseThrow(), 0);
            Pair.assertPosted(srq.recv(posted));
            assertFalse(srq.recv(posted + 1));
        }
    }

    @Tag("remote-errors")
    @Test
    void aMessageThatIsTooLongBreaksItsConnectionAlone() throws InterruptedException {
        try (RpmaSrq srq = RpmaSrq.create(peer, null);
                RpmaConnCfg cfg = using(srq);
                Pair first = connect(cfg);
                Pair second = connect(cfg)) {
            RpmaCq rcq = srq.getRcq().orElseThrow();
            Pair.assertPosted(recv(srq, 1));
            Pair.assertPosted(recv(srq, 2));
            Pair.assertPosted(send(first, 65, 10));
            RpmaCompletions failed = Pair.assertTooLong(rcq, 1, first.client.getCq(), 10);
            assertEquals(first.server.getQpNum(), failed.qpNum(0));
            Pair.assertPosted(send(second, 64, 11));
            Pair.assertDone(rcq, 2);
            Pair.assertDone(second.client, 11);
        }
    }

    @Tag("empty-receives")
    @Test
    void receivesStayWhenAConnectionEnds() throws InterruptedException {
        try (RpmaSrq srq = RpmaSrq.create(peer, null);
                RpmaConnCfg cfg = using(srq)) {
            Pair.assertPosted(srq.recv(1));
            Pair ended = connect(cfg);
            ended.server.disconnect();
            ended.close();
            RpmaCq rcq = srq.getRcq().orElseThrow();
            assertEquals(0, rcq.poll(RpmaCompletions.create(1)));
            try (Pair pair = connect(cfg)) {
                Pair.assertPosted(pair.client.send(ALWAYS, 2));
                Pair.assertDone(rcq, 1);
            }
        }
    }

    @Test
    void waitsEndByTimeInterruptAndClose() throws InterruptedException {
        RpmaSrq srq = RpmaSrq.create(peer, null);
        RpmaCq rcq = srq.getRcq().orElseThrow();
        RpmaCompletions completions = RpmaCompletions.create(1);
        assertEquals(0, rcq.await(completions, 10, TimeUnit.MILLISECONDS));
        Blocked.assertWokenByInterrupt(() -> rcq.await(RpmaCompletions.create(1)));
        Blocked first = new Blocked(() -> rcq.await(RpmaCompletions.create(1)));
        Blocked second = new Blocked(() -> rcq.await(RpmaCompletions.create(1), 1, TimeUnit.HOURS));
        srq.close();
        first.assertClosed();
        second.assertClosed();
    }

    @Test
    void isClosedWhileAnotherThreadPosts() throws Exception {
        for (int round = 0; round < 20; round++) {
            RpmaSrq srq = RpmaSrq.create(peer, null);
            Together.run(2, thread -> {
                if (thread == 0) {
                    srq.close();
                    return;
                }
                assertMessage(
                        IllegalStateException.class,
                        () -> {
                            while (true) {
                                recv(srq, 1);
                            }
                        },
                        srq,
                        "is closed");
            });
        }
    }

    @Test
    void aLargerCompletionQueueThanTheDeviceHas() {
        try (RpmaSrqCfg cfg = RpmaSrqCfg.create().setRcqSize(Integer.MAX_VALUE)) {
            RpmaException failure = assertThrows(RpmaException.class, () -> RpmaSrq.create(peer, cfg));
            assertEquals("rpma_srq_new", failure.operation());
            assertEquals(RpmaError.PROVIDER, failure.error());
        }
    }

    @Test
    void wrongArguments() {
        RpmaSrqCfg closed = RpmaSrqCfg.create();
        closed.close();
        assertMessage(IllegalStateException.class, () -> RpmaSrq.create(peer, closed), closed, "is closed");
        assertThrows(NullPointerException.class, () -> RpmaSrq.create(null, null));
        try (RpmaSrq srq = RpmaSrq.create(peer, null);
                RpmaMrLocal other = peer.register(regions.localMemory, RpmaMrUsage.SEND)) {
            assertThrows(NullPointerException.class, () -> srq.recv(null, 0, 1, 1));
            assertMessage(IllegalArgumentException.class, () -> srq.recv(other, 0, 1, 1), "RECV");
            for (long[] bad : new long[][] {{-1, 1}, {SIZE, 1}, {0, -1}, {1, SIZE}, {Long.MAX_VALUE, 1}}) {
                assertThrows(IndexOutOfBoundsException.class, () -> srq.recv(regions.target, bad[0], bad[1], 1));
            }
            assertThrows(IllegalArgumentException.class, () -> srq.recv(regions.target, 0, 1L << 31, 1));
            regions.target.close();
            assertMessage(IllegalStateException.class, () -> recv(srq, 1), "RpmaMrLocal#", "is closed");
        }
    }
}
