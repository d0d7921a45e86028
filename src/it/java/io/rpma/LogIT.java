package io.rpma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rpma.rdmacm.RdmaInlineData;
import io.rpma.rdmacm.RdmaPair;
import io.rpma.rdmacm.RdmaQp;
import io.rpma.testing.VirtualThreads;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;

/** librpma's messages about a device, in a function of the user's. */
@Timeout(60)
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
            RpmaException failure = failFlush(pair, regions);
            assertEquals(1, messages.size(), messages.toString());
            assertTrue(messages.get(0).startsWith("ERROR conn.c rpma_flush: "), messages.toString());
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
            assertEquals(List.of(), messages);
        }
    }

    /** A request reads its configuration, which must not change meanwhile: its messages come when that is over. */
    @Test
    void theFunctionCanChangeTheConfigurationOfAFailedRequest() {
        try (RpmaPeer peer = TestDevice.peer();
                RpmaSrq srq = RpmaSrq.create(peer, null);
                RpmaConnCfg cfg = RpmaConnCfg.create()) {
            RpmaLog.setFunction((level, fileName, lineNo, functionName, message) -> {
                cfg.setSrq(srq).setCqSize(1234);
                messages.add(message);
            });
            cfg.setSqSize(Integer.MAX_VALUE);
            assertThrows(
                    RpmaException.class, () -> RpmaConnReq.create(peer, TestDevice.address(), TestDevice.port(), cfg));
            assertNotEquals(List.of(), messages);
            assertEquals(1234, cfg.getCqSize());
            assertSame(srq, cfg.getSrq().orElseThrow());
        }
    }

    @Test
    void theFunctionCanChangeTheConfigurationOfARequestThatIsTaken() throws InterruptedException {
        int port = TestDevice.port();
        try (RpmaPeer peer = TestDevice.peer();
                Regions regions = new Regions(peer, 64);
                RpmaSrq srq = RpmaSrq.create(peer, null);
                RpmaConnCfg cfg = RpmaConnCfg.create();
                RpmaEp ep = RpmaEp.listen(peer, TestDevice.address(), port);
                RpmaConn client = RpmaConnReq.create(peer, TestDevice.address(), port, null)
                        .connect()) {
            RpmaLog.setFunction((level, fileName, lineNo, functionName, message) -> {
                cfg.setSrq(srq);
                messages.add(client + ": " + message);
            });
            // leaves a message behind that the next call delivers
            assertTrue(Natives.deviceGet("192.0.2.1", false) < 0);
            try (RpmaConnReq request =
                    ep.nextConnReq(cfg, Pair.TIMEOUT_S, TimeUnit.SECONDS).orElseThrow()) {
                assertNotEquals(List.of(), messages);
                assertSame(srq, cfg.getSrq().orElseThrow());
                // made with what the configuration was before
                Pair.assertPosted(request.recv(regions.target, 0, 64, 1));
            }
        }
    }

    @Test
    void theFunctionCanCloseTheEndpointOfARequestThatIsAccepted() throws InterruptedException {
        int port = TestDevice.port();
        try (RpmaPeer peer = TestDevice.peer();
                RpmaEp ep = RpmaEp.listen(peer, TestDevice.address(), port);
                RpmaConn client = RpmaConnReq.create(peer, TestDevice.address(), port, null)
                        .connect();
                RpmaConnReq request =
                        ep.nextConnReq(null, Pair.TIMEOUT_S, TimeUnit.SECONDS).orElseThrow()) {
            Runnable close = ep::close;
            RpmaLog.setFunction((level, fileName, lineNo, functionName, message) -> {
                close.run();
                messages.add(client + ": " + message);
            });
            assertTrue(Natives.deviceGet("192.0.2.1", false) < 0);
            request.connect().close();
            assertNotEquals(List.of(), messages);
            assertThrows(IllegalStateException.class, ep::getFd);
        }
    }

    @Test
    void theFunctionCanWaitForAThreadThatWaitsForTheSameQueue() throws Exception {
        assertTheFunctionCanWait(wait -> new Thread(wait, "waiting").start());
    }

    @Test
    @EnabledForJreRange(min = JRE.JAVA_21, disabledReason = "virtual threads came with JDK 21")
    void theFunctionOfAVirtualThreadCanWaitForAThreadThatWaitsForTheSameQueue() throws Exception {
        assertTheFunctionCanWait(VirtualThreads::start);
    }

    private void assertTheFunctionCanWait(Consumer<Runnable> starter) throws Exception {
        TestDevice.address();
        try (RdmaPair pair = RdmaPair.connect()) {
            RdmaQp qp = pair.client.qp();
            RpmaLog.setFunction((level, fileName, lineNo, functionName, message) -> {
                qp.postWriteInline(
                        RdmaInlineData.create(8),
                        8,
                        RdmaQp.F_SIGNALED,
                        pair.serverMr.address(),
                        pair.serverMr.rkey(),
                        1);
                messages.add(Thread.currentThread() + " had " + takeByAnother(qp));
            });
            // leaves a message behind that the next call delivers
            assertTrue(Natives.deviceGet("192.0.2.1", false) < 0);
            FutureTask<String> wait = new FutureTask<>(() -> {
                assertEquals(0, qp.getSendComp(RpmaCompletions.create(1), 10, TimeUnit.MILLISECONDS));
                return Thread.currentThread() + " had 1";
            });
            starter.accept(wait);
            String expected = wait.get();
            assertNotEquals(List.of(), messages);
            messages.forEach(message -> assertEquals(expected, message));
        }
    }

    private static int takeByAnother(RdmaQp qp) {
        FutureTask<Integer> take = new FutureTask<>(() -> qp.getSendComp(RpmaCompletions.create(1)));
        new Thread(take, "another").start();
        try {
            return take.get(Pair.TIMEOUT_S, TimeUnit.SECONDS);
        } catch (InterruptedException | ExecutionException | TimeoutException e) {
            throw new AssertionError(e);
        }
    }

    /** Whose thread looks for a request of the endpoint that is being closed. */
    @Test
    void theFunctionCanWaitForTheLoopThatServesAnEndpoint() throws Exception {
        try (RpmaPeer peer = TestDevice.peer();
                RpmaEp ep = RpmaEp.listen(peer, TestDevice.address(), TestDevice.port());
                RunningLoop running = new RunningLoop()) {
            running.loop.onRequest(ep, null, RpmaConnReq::close);
            running.call(() -> {});
            // The loop's first look at the endpoint comes after the first call. It would deliver the message itself.
            running.call(() -> {});
            List<Throwable> failures = new CopyOnWriteArrayList<>();
            RpmaLog.setFunction((level, fileName, lineNo, functionName, message) -> {
                messages.add(message);
                try {
                    running.call(() -> assertThrows(IllegalStateException.class, () -> ep.take(null)));
                } catch (Exception e) {
                    failures.add(e);
                }
            });
            // leaves a message behind that the next call delivers
            assertTrue(Natives.deviceGet("192.0.2.1", false) < 0);
            Runnable close = ep::close;
            close.run();
            assertNotEquals(List.of(), messages);
            assertEquals(List.of(), failures);
        }
    }

    @Test
    void whatLibrpmaDoesOnRequest() throws InterruptedException {
        take();
        RpmaLog.setThreshold(RpmaLogThreshold.MAIN, RpmaLogLevel.DEBUG);
        Pair.connect().close();
        String request = "NOTICE conn_req.c rpma_conn_req_new: Requesting a connection to " + TestDevice.address();
        assertTrue(messages.stream().anyMatch(message -> message.startsWith(request)), messages.toString());
        messages.clear();
        RpmaLog.setThreshold(RpmaLogThreshold.MAIN, RpmaLogLevel.WARNING);
        Pair.connect().close();
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
            assertEquals(List.of(), messages);
        }
    }
}
