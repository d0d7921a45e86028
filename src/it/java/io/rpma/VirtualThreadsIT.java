// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static io.rpma.testing.VirtualThreads.assertInterrupted;
import static io.rpma.testing.VirtualThreads.assertReported;
import static io.rpma.testing.VirtualThreads.call;
import static io.rpma.testing.VirtualThreads.onTwoCarriers;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rpma.programs.VirtualThreadsProgram;
import io.rpma.testing.Jvm;
import io.rpma.testing.Limit;
import io.rpma.testing.Pair;
import io.rpma.testing.TestDevice;
import io.rpma.testing.VirtualThreads;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;

/** Virtual threads release their carriers while they wait, and wake as platform threads do. */
@Tag("newer-jdk")
@EnabledForJreRange(min = JRE.JAVA_21, disabledReason = "virtual threads came with JDK 21")
class VirtualThreadsIT {
    private static final int THREADS = 1000;

    /** Each connection has three on the side that connects, and two on the other. */
    private static final int DESCRIPTORS = 6 * THREADS;

    @Test
    @Tag("soak")
    void aThousandWaitForTheirConnectionsOnTwoCarriers() throws Exception {
        Jvm.Finished end = onTwoCarriers()
                .under("sh", "-c", "ulimit -n " + DESCRIPTORS + "; exec \"$@\"", "sh")
                .run(
                        VirtualThreadsProgram.class,
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
    void interrupts() throws Exception {
        try (Pair pair = Pair.connect()) {
            assertInterrupted(() -> pair.client.getCq().await(RpmaCompletions.create(1)));
            Pair.assertPosted(pair.client.write(RpmaConn.F_COMPLETION_ALWAYS, 1));
            assertEquals(1, call(() -> pair.client.getCq().await(RpmaCompletions.create(1))));
        }
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
            accept.get(Limit.WAIT_S, TimeUnit.SECONDS).close();
            client.close();
        }
    }
}
