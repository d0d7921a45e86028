// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rpma.testing.Blocked;
import io.rpma.testing.Limit;
import io.rpma.testing.Pair;
import io.rpma.testing.Readable;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** Waits for both queues of a connection at once. */
class SharedChannelIT extends WithPeer {
    private static final int QUEUE = 64;
    private static final int ALWAYS = RpmaConn.F_COMPLETION_ALWAYS;

    private Pair pair;
    private RpmaConn conn;
    private RpmaCq rcq;
    private final RpmaCompletions completions = RpmaCompletions.create(1);

    @BeforeEach
    void open() throws InterruptedException {
        try (RpmaConnCfg withoutRcq = cfg();
                RpmaConnCfg withRcq = cfg().setRcqSize(QUEUE)) {
            pair = Pair.connect(peer, withoutRcq, withRcq);
        }
        conn = pair.server;
        rcq = conn.getRcq().orElseThrow();
    }

    private static RpmaConnCfg cfg() {
        return RpmaConnCfg.create()
                .setSqSize(QUEUE)
                .setRqSize(QUEUE)
                .setCqSize(QUEUE)
                .setComplChannel(true);
    }

    @AfterEach
    void close() {
        if (pair != null) {
            pair.close();
        }
    }

    private RpmaCq await() throws InterruptedException {
        return conn.await(completions, Limit.WAIT_S, TimeUnit.SECONDS)
                .orElseThrow(() -> new AssertionError("no completion"));
    }

    /** Returns once the completion of the receive is in its queue. */
    private void receive(long wrId) throws InterruptedException {
        Pair.assertPosted(conn.recv(wrId));
        Pair.assertPosted(pair.client.send(ALWAYS, wrId));
        assertSame(
                pair.client.getCq(),
                pair.client
                        .await(RpmaCompletions.create(1), Limit.WAIT_S, TimeUnit.SECONDS)
                        .orElseThrow());
    }

    private void write(long wrId) {
        Pair.assertPosted(conn.write(ALWAYS, wrId));
    }

    @Tag("empty-receives")
    @Test
    void tellsWhoseTheCompletionIs() throws InterruptedException {
        for (int i = 0; i < 10; i++) {
            write(1);
            assertSame(conn.getCq(), await());
            assertEquals(1, completions.wrId(0));
            receive(2);
            assertSame(rcq, await());
            assertEquals(2, completions.wrId(0));
        }
        assertEquals(Optional.empty(), conn.await(completions, 0, TimeUnit.SECONDS));
        assertEquals(0, completions.count());
    }

    @Test
    void oneQueueIsEnough() throws InterruptedException {
        assertEquals(Optional.empty(), pair.client.getRcq());
        Pair.assertPosted(pair.client.write(ALWAYS, 7));
        assertSame(pair.client.getCq(), pair.client.await(completions));
        assertEquals(7, completions.wrId(0));
        assertSharedChannel(() -> pair.client.getCq().await(completions));
    }

    @Tag("empty-receives")
    @Test
    void nothingIsLostAmongPollsAndWaits() throws InterruptedException {
        for (int i = 0; i < 100; i++) {
            write(i);
            receive(i);
            if (i % 3 == 0) {
                while (rcq.poll(completions) == 0) {
                    Thread.onSpinWait();
                }
                assertSame(conn.getCq(), await());
            } else {
                assertTrue(await() != await(), "one of each queue");
            }
            assertEquals(i, completions.wrId(0));
            assertEquals(Optional.empty(), conn.await(completions, 0, TimeUnit.SECONDS), "a spurious event");
        }
    }

    private void assertSharedChannel(Executable wait) {
        RpmaException failure = assertThrows(RpmaException.class, wait);
        assertEquals(RpmaError.SHARED_CHANNEL, failure.error());
        assertEquals("rpma_cq_wait", failure.operation());
        assertTrue(failure.getMessage().contains("awaitWhileConnected() of the connection"), failure.getMessage());
    }

    @Test
    void aQueueAloneCantBeWaitedFor() throws InterruptedException {
        write(1);
        for (RpmaCq cq : List.of(conn.getCq(), rcq)) {
            assertSharedChannel(() -> cq.await(completions));
            assertSharedChannel(() -> cq.await(completions, 0, TimeUnit.SECONDS));
            assertSharedChannel(() -> cq.awaitWhileConnected(completions, 0, TimeUnit.SECONDS));
        }
        assertSame(conn.getCq(), await());
        assertEquals(1, completions.wrId(0));
    }

    @Test
    void aConnectionWithoutOneCantBeWaitedFor() throws InterruptedException {
        try (Pair other = Pair.connect(peer, null, null)) {
            for (Executable use : List.<Executable>of(
                    () -> other.client.await(completions),
                    () -> other.client.await(completions, 0, TimeUnit.SECONDS),
                    () -> other.client.awaitWhileConnected(completions, 0, TimeUnit.SECONDS),
                    other.client::getComplFd)) {
                RpmaException failure = assertThrows(RpmaException.class, use);
                assertEquals(RpmaError.NOT_SHARED_CHNL, failure.error());
                assertTrue(failure.getMessage().contains("of getCq() or getRcq()"), failure.getMessage());
            }
        }
    }

    @Test
    void waitsEndByTime() throws InterruptedException {
        long start = System.nanoTime();
        assertEquals(Optional.empty(), conn.await(completions, 50, TimeUnit.MILLISECONDS));
        assertTrue(System.nanoTime() - start >= TimeUnit.MILLISECONDS.toNanos(50), "came back too early");
        assertThrows(IllegalArgumentException.class, () -> conn.await(completions, -1, TimeUnit.SECONDS));
        assertThrows(NullPointerException.class, () -> conn.await(completions, 1, null));
        assertThrows(NullPointerException.class, () -> conn.await(null));
    }

    @Tag("empty-receives")
    @Test
    void waitsEndByInterruptAndTheConnectionWorksOn() throws InterruptedException {
        Blocked.assertWokenByInterrupt(() -> conn.await(RpmaCompletions.create(1)));
        Blocked.assertWokenByInterrupt(() -> conn.await(RpmaCompletions.create(1), 1, TimeUnit.HOURS));
        receive(3);
        assertSame(rcq, await());
    }

    @Test
    void anInterruptionComesBeforeWhatIsThereAlready() throws InterruptedException {
        write(3);
        Readable.assertReadable(conn.getComplFd());
        Thread.currentThread().interrupt();
        assertThrows(InterruptedException.class, () -> conn.await(completions));
        Thread.currentThread().interrupt();
        assertThrows(InterruptedException.class, () -> conn.await(completions, 0, TimeUnit.SECONDS));
        assertSame(conn.getCq(), await());
        assertEquals(3, completions.wrId(0));
    }

    @Test
    void closeWakesAllThatWait() {
        Blocked first = new Blocked(() -> conn.await(RpmaCompletions.create(1)));
        Blocked second = new Blocked(() -> conn.await(RpmaCompletions.create(1)));
        Blocked third = new Blocked(() -> conn.await(RpmaCompletions.create(1), 1, TimeUnit.HOURS));
        conn.close();
        first.assertClosed();
        second.assertClosed();
        third.assertClosed();
        assertThrows(IllegalStateException.class, () -> conn.await(completions));
        assertThrows(IllegalStateException.class, () -> conn.await(completions, 0, TimeUnit.SECONDS));
        assertThrows(IllegalStateException.class, conn::getComplFd);
    }

    @Tag("empty-receives")
    @Test
    void twoWaitersGetOneCompletionEach() throws Exception {
        Blocked first = new Blocked(() -> conn.await(RpmaCompletions.create(1)));
        Blocked second = new Blocked(() -> conn.await(RpmaCompletions.create(1)));
        receive(1);
        write(2);
        assertEquals(Set.of(conn.getCq(), rcq), Set.of(first.result(), second.result()));
    }

    @Test
    void aSecondWaiterKeepsItsTimeAndCanBeInterrupted() throws Exception {
        Blocked first = new Blocked(() -> conn.await(RpmaCompletions.create(1)));
        assertEquals(Optional.empty(), conn.await(completions, 20, TimeUnit.MILLISECONDS));
        Blocked.assertWokenByInterrupt(() -> conn.await(RpmaCompletions.create(1)));
        Blocked.assertWokenByInterrupt(() -> conn.await(RpmaCompletions.create(1), 1, TimeUnit.HOURS));
        write(1);
        assertSame(conn.getCq(), first.result());
    }

    @Tag("empty-receives")
    @Test
    void disconnectWakesAWaiterForWhatIsOutstanding() throws Exception {
        Pair.assertPosted(conn.recv(5));
        RpmaCompletions flushed = RpmaCompletions.create(1);
        Blocked waiter = new Blocked(() -> conn.await(flushed));
        conn.disconnect();
        assertSame(rcq, waiter.result());
        assertEquals(5, flushed.wrId(0));
        assertEquals(RpmaWcStatus.WR_FLUSH_ERR, flushed.status(0));
    }
}
