// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rpma.testing.Limit;
import io.rpma.testing.Pair;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Completions: none is lost, however many a call takes, and a full queue is no failure. */
class CompletionIT extends WithConnection {
    private static final int SIZE = 1 << 18;
    private static final int SQ_SIZE = 16;

    /**
     * Larger than any send queue that the device makes for SQ_SIZE: the send queue fills up before this one overflows.
     */
    private static final int CQ_SIZE = 512;

    private static final int ALWAYS = RpmaConn.F_COMPLETION_ALWAYS;

    CompletionIT() {
        super(SIZE);
    }

    @Override
    RpmaConnCfg cfg() {
        return RpmaConnCfg.create().setSqSize(SQ_SIZE).setCqSize(CQ_SIZE);
    }

    private boolean write(long context) {
        return pair.client.write(regions.remote, 0, regions.local, 0, SIZE, ALWAYS, context);
    }

    private boolean writeOneByte(long context) {
        return pair.client.write(regions.remote, 0, regions.local, 0, 1, ALWAYS, context);
    }

    @Test
    void anEmptyQueueHasNoCompletion() {
        RpmaCompletions completions = RpmaCompletions.create(4);
        assertEquals(0, pair.client.getCq().poll(completions));
        assertEquals(0, completions.count());
        assertThrows(IndexOutOfBoundsException.class, () -> completions.wrId(0));
        assertThrows(NullPointerException.class, () -> pair.client.getCq().poll(null));
    }

    @Test
    void completionsComeInTheOrderOfThePosts() throws InterruptedException {
        for (long i = 0; i < SQ_SIZE; i++) {
            Pair.assertPosted(write(i));
        }
        RpmaCompletions completions = RpmaCompletions.create(7);
        long next = 0;
        while (next < SQ_SIZE) {
            int taken = pair.client.getCq().await(completions, Limit.WAIT_S, TimeUnit.SECONDS);
            assertTrue(taken > 0, "only " + next + " completions came");
            assertEquals(taken, completions.count());
            for (int i = 0; i < taken; i++) {
                assertEquals(next++, completions.wrId(i));
                assertTrue(completions.isSuccess(i));
                assertEquals(RpmaWcStatus.SUCCESS, completions.status(i));
                assertEquals(RpmaWcOpcode.RDMA_WRITE, completions.opcode(i));
            }
            int beyond = taken;
            assertThrows(IndexOutOfBoundsException.class, () -> completions.status(beyond));
        }
        assertEquals(0, pair.client.getCq().poll(completions));
    }

    @Test
    void waitsSurviveEventsOfCompletionsThatWerePolled() throws InterruptedException {
        RpmaCompletions completions = RpmaCompletions.create(4);
        for (int round = 0; round < 100; round++) {
            Pair.assertPosted(writeOneByte(round));
            while (pair.client.getCq().poll(completions) == 0) {
                Thread.onSpinWait();
            }
            assertEquals(0, pair.client.getCq().await(completions, 0, TimeUnit.SECONDS), "a spurious event");
            Pair.assertPosted(writeOneByte(round));
            assertEquals(1, pair.client.getCq().await(completions, Limit.WAIT_S, TimeUnit.SECONDS));
            assertEquals(round, completions.wrId(0));
        }
    }

    @Test
    void severalWaitersGetEveryCompletionOnce() throws Exception {
        int rounds = 300;
        int waiters = 3;
        AtomicInteger left = new AtomicInteger(rounds);
        ExecutorService threads = Executors.newFixedThreadPool(waiters);
        try {
            List<Future<BitSet>> results = new ArrayList<>();
            for (int i = 0; i < waiters; i++) {
                results.add(threads.submit((Callable<BitSet>) () -> takeUntilNoneIsLeft(left)));
            }
            for (int i = 0; i < rounds; i++) {
                while (!writeOneByte(i)) {
                    Thread.onSpinWait();
                }
            }
            BitSet seen = new BitSet();
            int count = 0;
            for (Future<BitSet> result : results) {
                BitSet part = result.get(Limit.WAIT_S, TimeUnit.SECONDS);
                count += part.cardinality();
                seen.or(part);
            }
            assertEquals(rounds, count, "completions seen twice or never");
            assertEquals(rounds, seen.cardinality());
        } finally {
            threads.shutdownNow();
        }
    }

    private BitSet takeUntilNoneIsLeft(AtomicInteger left) throws InterruptedException {
        BitSet mine = new BitSet();
        RpmaCompletions completions = RpmaCompletions.create(1);
        while (left.get() > 0) {
            int taken = pair.client.getCq().await(completions, 100, TimeUnit.MILLISECONDS);
            if (taken > 0) {
                mine.set((int) completions.wrId(0));
                left.decrementAndGet();
            }
        }
        return mine;
    }

    @Tag("full-queues")
    @Test
    void aFullQueueIsAnAnswerWithoutLogRecord() throws InterruptedException {
        List<String> records = new ArrayList<>();
        Handler handler = new Handler() {
            @Override
            public void publish(LogRecord record) {
                records.add(record.getMessage());
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
        Logger logger = Logger.getLogger("io.rpma");
        logger.addHandler(handler);
        try {
            assertFull(() -> write(1));
            assertFull(() -> pair.client.read(regions.local, 0, regions.remote, 0, SIZE, ALWAYS, 1));
            assertFull(() -> pair.client.atomicWrite(regions.remote, 0, 5, ALWAYS, 1));
            assertFull(() -> pair.client.flush(regions.remote, 0, SIZE, RpmaFlushType.VISIBILITY, ALWAYS, 1));
        } finally {
            logger.removeHandler(handler);
        }
        assertEquals(List.of(), records);
    }

    private interface Post {
        boolean post();
    }

    /** Once the other side is gone, nothing completes until this side disconnects, so the queue is sure to fill up. */
    private void assertFull(Post post) throws InterruptedException {
        pair.server.close();
        Pair.assertEvent(RpmaConnEvent.CLOSED, pair.client);
        int posted = 0;
        while (posted < CQ_SIZE && post.post()) {
            posted++;
        }
        assertTrue(posted >= SQ_SIZE, "room for " + posted + " only");
        assertTrue(posted < CQ_SIZE, "the queue never was full");
        assertFalse(post.post());
        pair.client.disconnect();
        takeAll(posted);
        disconnect();
        connect();
    }

    @Test
    void aQueueThatWasFullHasRoomAgain() throws InterruptedException {
        RpmaCompletions completions = RpmaCompletions.create(16);
        int total = 20 * SQ_SIZE;
        int posted = 0;
        int done = 0;
        while (done < total) {
            while (posted < total && write(posted)) {
                posted++;
            }
            int taken = pair.client.getCq().await(completions, Limit.WAIT_S, TimeUnit.SECONDS);
            assertTrue(taken > 0, "only " + done + " of " + posted + " completed");
            for (int i = 0; i < taken; i++) {
                assertEquals(done++, completions.wrId(i));
                assertEquals(RpmaWcStatus.SUCCESS, completions.status(i));
            }
        }
    }

    private void takeAll(int posted) throws InterruptedException {
        RpmaCompletions completions = RpmaCompletions.create(16);
        int done = 0;
        while (done < posted) {
            int taken = pair.client.getCq().await(completions, Limit.WAIT_S, TimeUnit.SECONDS);
            assertTrue(taken > 0, "only " + done + " of " + posted + " completed");
            for (int i = 0; i < taken; i++) {
                RpmaWcStatus status = completions.status(i);
                assertTrue(status == RpmaWcStatus.SUCCESS || status == RpmaWcStatus.WR_FLUSH_ERR, status.toString());
            }
            done += taken;
        }
    }

    @Test
    void disconnectFlushesWhatIsOutstanding() throws InterruptedException {
        int posted = 0;
        while (posted < SQ_SIZE && write(posted)) {
            posted++;
        }
        pair.client.disconnect();
        takeAll(posted);
    }
}
