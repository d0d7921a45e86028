// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.rdmacm;

import static io.rpma.testing.VirtualThreads.assertInterrupted;
import static io.rpma.testing.VirtualThreads.assertReported;
import static io.rpma.testing.VirtualThreads.call;
import static io.rpma.testing.VirtualThreads.onTwoCarriers;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rpma.RpmaCompletions;
import io.rpma.programs.RdmaVirtualThreadsProgram;
import io.rpma.testing.Jvm;
import io.rpma.testing.RdmaPair;
import io.rpma.testing.TestDevice;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;

/** Virtual threads that wait for ids release their carriers, and wake as platform threads do. */
@Tag("newer-jdk")
@EnabledForJreRange(min = JRE.JAVA_21, disabledReason = "virtual threads came with JDK 21")
class RdmaVirtualThreadsIT {
    /** More than there are carriers. */
    private static final int IDS = 50;

    @Tag("many-connections")
    @Test
    void manyWaitForTheirIdsOnTwoCarriers() throws Exception {
        Jvm.Finished end = onTwoCarriers()
                .options("-Drpma.address=" + TestDevice.address(), TestDevice.portsOption(2 * IDS))
                .run(RdmaVirtualThreadsProgram.class, Integer.toString(IDS));
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

    @Test
    void timeouts() throws Exception {
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
        try (RdmaPair pair = RdmaPair.connect()) {
            RdmaQp qp = pair.client.qp();
            assertInterrupted(() -> pair.client.nextEvent());
            assertInterrupted(() -> qp.getSendComp(RpmaCompletions.create(1)));
            qp.postWriteInline(
                    RdmaInlineData.create(8), 8, RdmaQp.F_SIGNALED, pair.serverMr.address(), pair.serverMr.rkey(), 1);
            assertEquals(1, call(() -> qp.getSendComp(RpmaCompletions.create(1))));
        }
    }
}
