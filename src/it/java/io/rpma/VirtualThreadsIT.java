package io.rpma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rpma.rdmacm.RdmaId;
import io.rpma.rdmacm.RdmaInlineData;
import io.rpma.rdmacm.RdmaPair;
import io.rpma.rdmacm.RdmaQp;
import io.rpma.testing.Eventually;
import io.rpma.testing.Jvm;
import io.rpma.testing.VirtualThreads;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;

/** Virtual threads that wait leave their carriers to others, and wake as other threads do. */
@Timeout(600)
@EnabledForJreRange(min = JRE.JAVA_21, disabledReason = "virtual threads came with JDK 21")
class VirtualThreadsIT {
    private static final int THREADS = 1000;

    /** Of librdmacm's ids there are fewer: more than carriers is what counts. */
    private static final int IDS = 50;

    /** Three of each connection on the side that connects, and two on the other. */
    private static final int DESCRIPTORS = 6 * THREADS;

    /** The result of what a virtual thread does. */
    private static <T> T call(Callable<T> task) throws Exception {
        FutureTask<T> call = new FutureTask<>(task);
        VirtualThreads.start(call);
        return call.get(Pair.TIMEOUT_S, TimeUnit.SECONDS);
    }

    @Test
    void aThousandWaitForTheirConnectionsOnTwoCarriers() throws Exception {
        Jvm.Finished end = onTwoCarriers()
                .under("sh", "-c", "ulimit -n " + DESCRIPTORS + "; exec \"$@\"", "sh")
                .run(
                        VirtualThreadsProgram.class.getName(),
                        TestDevice.address(),
                        Integer.toString(TestDevice.port()),
                        Integer.toString(THREADS));
        assertReported(
                THREADS,
                end,
                VirtualThreadsProgram.COMPLETIONS,
                VirtualThreadsProgram.EVENTS,
                VirtualThreadsProgram.CLOSED);
    }

    @Test
    void manyWaitForTheirIdsOnTwoCarriers() throws Exception {
        Jvm.Finished end = onTwoCarriers()
                .options("-Drpma.address=" + TestDevice.address(), TestDevice.portsOption(2 * IDS))
                .run(RdmaVirtualThreadsProgram.class.getName(), Integer.toString(IDS));
        assertReported(
                IDS,
                end,
                RdmaVirtualThreadsProgram.REQUESTS,
                RdmaVirtualThreadsProgram.COMPLETIONS,
                RdmaVirtualThreadsProgram.RECEIVES,
                RdmaVirtualThreadsProgram.SOLICITED,
                RdmaVirtualThreadsProgram.EVENTS,
                RdmaVirtualThreadsProgram.CLOSED);
    }

    private static Jvm onTwoCarriers() {
        return Jvm.likeThis()
                .options("-Djdk.virtualThreadScheduler.parallelism=2", "-Djdk.virtualThreadScheduler.maxPoolSize=2")
                .limit(Duration.ofSeconds(500));
    }

    private static void assertReported(int count, Jvm.Finished end, String... waits) {
        assertEquals(0, end.status(), end.toString());
        for (String wait : waits) {
            assertTrue(end.out().contains(wait + count + "\n"), end.toString());
        }
    }

    @Test
    void timeouts() throws Exception {
        try (Pair pair = Pair.connect();
                RpmaEp ep = RpmaEp.listen(pair.peer, TestDevice.address(), TestDevice.port())) {
            for (long millis : new long[] {0, 50}) {
                long start = System.nanoTime();
                assertTrue(call(() -> pair.client.nextEvent(millis, TimeUnit.MILLISECONDS))
                        .isEmpty());
                assertTrue(call(() -> ep.nextConnReq(null, millis, TimeUnit.MILLISECONDS))
                        .isEmpty());
                assertEquals(
                        0,
                        call(() ->
                                pair.client.getCq().await(RpmaCompletions.create(1), millis, TimeUnit.MILLISECONDS)));
                assertTrue(System.nanoTime() - start >= TimeUnit.MILLISECONDS.toNanos(3 * millis), "too early");
            }
        }
    }

    @Test
    void timeoutsOfIds() throws Exception {
        try (RdmaPair pair = RdmaPair.connect();
                RdmaId listener = RdmaPair.listen(TestDevice.port())) {
            RdmaQp qp = pair.client.qp();
            for (long millis : new long[] {0, 50}) {
                long start = System.nanoTime();
                assertTrue(call(() -> pair.client.nextEvent(millis, TimeUnit.MILLISECONDS))
                        .isEmpty());
                assertTrue(call(() -> listener.getRequest(millis, TimeUnit.MILLISECONDS))
                        .isEmpty());
                assertEquals(0, call(() -> qp.getSendComp(RpmaCompletions.create(1), millis, TimeUnit.MILLISECONDS)));
                assertEquals(
                        0,
                        call(() -> qp.getSolicitedRecvComp(RpmaCompletions.create(1), millis, TimeUnit.MILLISECONDS)));
                assertTrue(System.nanoTime() - start >= TimeUnit.MILLISECONDS.toNanos(4 * millis), "too early");
            }
        }
    }

    @Test
    void interrupts() throws Exception {
        try (Pair pair = Pair.connect()) {
            assertInterrupted(() -> pair.client.getCq().await(RpmaCompletions.create(1)));
            Pair.assertPosted(pair.client.write(RpmaConn.F_COMPLETION_ALWAYS, 1));
            assertEquals(1, call(() -> pair.client.getCq().await(RpmaCompletions.create(1))));
        }
    }

    @Test
    void interruptsOfIds() throws Exception {
        try (RdmaPair pair = RdmaPair.connect()) {
            RdmaQp qp = pair.client.qp();
            assertInterrupted(() -> pair.client.nextEvent());
            assertInterrupted(() -> qp.getSendComp(RpmaCompletions.create(1)));
            qp.postWriteInline(
                    RdmaInlineData.create(8), 8, RdmaQp.F_SIGNALED, pair.serverMr.address(), pair.serverMr.rkey(), 1);
            assertEquals(1, call(() -> qp.getSendComp(RpmaCompletions.create(1))));
        }
    }

    private static void assertInterrupted(Callable<?> wait) {
        FutureTask<?> call = new FutureTask<>(wait);
        Thread thread = VirtualThreads.start(call);
        Eventually.become("the thread is parked", () -> thread.getState() == Thread.State.WAITING);
        thread.interrupt();
        ExecutionException e = assertThrows(ExecutionException.class, () -> call.get(Pair.TIMEOUT_S, TimeUnit.SECONDS));
        assertEquals(InterruptedException.class, e.getCause().getClass());
    }

    @Test
    void aConnectionIsMadeByVirtualThreads() throws Exception {
        int port = TestDevice.port();
        try (RpmaPeer peer = TestDevice.peer();
                RpmaEp ep = RpmaEp.listen(peer, TestDevice.address(), port)) {
            FutureTask<RpmaConn> accept = new FutureTask<>(() -> {
                RpmaConn conn = ep.nextConnReq(null).connect();
                Pair.assertEvent(RpmaConnEvent.ESTABLISHED, conn);
                return conn;
            });
            VirtualThreads.start(accept);
            RpmaConn client = call(() -> {
                RpmaConn conn = RpmaConnReq.create(peer, TestDevice.address(), port, null)
                        .connect();
                Pair.assertEvent(RpmaConnEvent.ESTABLISHED, conn);
                return conn;
            });
            accept.get(Pair.TIMEOUT_S, TimeUnit.SECONDS).close();
            client.close();
        }
    }
}
