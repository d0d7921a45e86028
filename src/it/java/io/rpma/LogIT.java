// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rpma.internal.Delivery;
import io.rpma.testing.Pair;
import io.rpma.testing.Regions;
import io.rpma.testing.RunningLoop;
import io.rpma.testing.TestDevice;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** librpma's messages about a device, as a user's log function gets them. */
class LogIT {
    private final List<String> messages = new CopyOnWriteArrayList<>();

    @AfterEach
    void restore() {
        RpmaLog.setFunction(null);
        RpmaLog.setThreshold(RpmaLogThreshold.MAIN, RpmaLogLevel.WARNING);
    }

    private void take() {
        RpmaLog.setFunction((level, fileName, lineNo, functionName, message) -> {
            assertTrue(lineNo > 0, "line " + lineNo);
            messages.add(level + " " + fileName.replaceAll(".*/", "") + " " + functionName + ": " + message);
        });
    }

    private static RpmaException failFlush(Pair pair, Regions regions) {
        return assertThrows(
                RpmaException.class,
                () -> pair.client.flush(
                        regions.remote, 0, 8, RpmaFlushType.PERSISTENT, RpmaConn.F_COMPLETION_ALWAYS, 1));
    }

    @Test
    void theFailureOfAPost() throws InterruptedException {
        try (Pair pair = Pair.connect();
                Regions regions = new Regions(pair.peer, 64)) {
            take();
            RpmaLog.setThreshold(RpmaLogThreshold.MAIN, RpmaLogLevel.DEBUG);
            RpmaException failure = failFlush(pair, regions);
            Delivery.settle();
            assertEquals(1, messages.size(), messages.toString());
            assertTrue(messages.get(0).startsWith("DEBUG conn.c rpma_flush: "), messages.toString());
            assertTrue(messages.get(0).endsWith(failure.detail()), messages.toString());
        }
    }

    @Test
    void exceptionsSayWhyAlsoWithoutMessages() throws InterruptedException {
        try (Pair pair = Pair.connect();
                Regions regions = new Regions(pair.peer, 64)) {
            take();
            RpmaLog.setThreshold(RpmaLogThreshold.MAIN, RpmaLogLevel.DISABLED);
            assertNotEquals("", failFlush(pair, regions).detail());
            Delivery.settle();
            assertEquals(List.of(), messages);
        }
    }

    @Test
    void aFunctionThatBlocksHoldsUpNoCall() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        RpmaLog.setFunction((level, fileName, lineNo, functionName, message) -> {
            begun.countDown();
            join(release);
        });
        RpmaLog.setThreshold(RpmaLogThreshold.MAIN, RpmaLogLevel.DEBUG);
        try (Pair pair = Pair.connect();
                Regions regions = new Regions(pair.peer, 64);
                RunningLoop running = new RunningLoop()) {
            begun.await();
            running.loop.onEvent(pair.server, event -> {});
            running.call(() -> {});
            assertNotEquals("", failFlush(pair, regions).detail());
            RpmaCompletions completions = RpmaCompletions.create(1);
            assertEquals(0, pair.client.getCq().await(completions, 1, TimeUnit.MILLISECONDS));
            pair.server.close();
            pair.client.close();
        } finally {
            release.countDown();
        }
    }

    /**
     * The function changes the configuration of a request, waits for a loop, and closes the endpoint that the loop
     * serves.
     */
    @Test
    void theFunctionCanCallTheLibrary() throws Exception {
        try (RpmaPeer peer = TestDevice.peer();
                RpmaConnCfg cfg = RpmaConnCfg.create().setSqSize(Integer.MAX_VALUE);
                RpmaEp ep = RpmaEp.listen(peer, TestDevice.address(), TestDevice.port());
                RunningLoop running = new RunningLoop()) {
            List<Throwable> failures = new CopyOnWriteArrayList<>();
            Runnable close = ep::close;
            running.loop.onRequest(ep, null, RpmaConnReq::close);
            RpmaLog.setFunction((level, fileName, lineNo, functionName, message) -> {
                try {
                    cfg.setCqSize(1234);
                    running.call(() -> {});
                    close.run();
                    messages.add(message);
                } catch (Exception e) {
                    failures.add(e);
                }
            });
            RpmaLog.setThreshold(RpmaLogThreshold.MAIN, RpmaLogLevel.DEBUG);
            assertThrows(
                    RpmaException.class, () -> RpmaConnReq.create(peer, TestDevice.address(), TestDevice.port(), cfg));
            Delivery.settle();
            assertEquals(List.of(), failures);
            assertNotEquals(List.of(), messages);
            assertEquals(1234, cfg.getCqSize());
            assertThrows(IllegalStateException.class, ep::getFd);
        }
    }

    private static void join(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void whatLibrpmaDoesOnRequest() throws InterruptedException {
        take();
        RpmaLog.setThreshold(RpmaLogThreshold.MAIN, RpmaLogLevel.DEBUG);
        Pair.connect().close();
        Delivery.settle();
        String request = "NOTICE conn_req.c rpma_conn_req_new: Requesting a connection to " + TestDevice.address();
        assertTrue(messages.stream().anyMatch(message -> message.startsWith(request)), messages.toString());
        messages.clear();
        RpmaLog.setThreshold(RpmaLogThreshold.MAIN, RpmaLogLevel.WARNING);
        Pair.connect().close();
        Delivery.settle();
        assertEquals(List.of(), messages);
    }

    @Test
    void aLookAtAnEmptyQueueIsNoMessage() throws InterruptedException {
        RpmaCompletions completions = RpmaCompletions.create(1);
        try (Pair pair = Pair.connect()) {
            RpmaCq cq = pair.client.getCq();
            RpmaLog.setThreshold(RpmaLogThreshold.MAIN, RpmaLogLevel.DEBUG);
            take();
            assertEquals(0, cq.poll(completions));
            assertEquals(0, cq.await(completions, 0, TimeUnit.SECONDS));
            assertEquals(0, cq.await(completions, 1, TimeUnit.MILLISECONDS));
            Delivery.settle();
            assertEquals(List.of(), messages);
        }
    }
}
