// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.testing.Limit;
import io.rpma.testing.Pair;
import io.rpma.testing.RdmaPair;
import io.rpma.testing.RunningLoop;
import io.rpma.testing.StandIn;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The first check of a connection begins, and its probe completes, during a poll of the program. */
@Tag("stand-in")
class FirstCheckTest {
    private static final long NEVER_MS = TimeUnit.DAYS.toMillis(1);

    /** The tasks of the registration that serves the queue. This test runs them, so that the loop takes no completions. */
    private final BlockingQueue<Runnable> tasks = new LinkedBlockingQueue<>();

    private final RpmaCompletions completions = RpmaCompletions.create(1);

    @Test
    void aPollOfRpma() throws Exception {
        try (Pair pair = Pair.connect();
                RunningLoop running = new RunningLoop()) {
            RpmaCq cq = pair.client.getCq();
            running.loop.onCompletion(cq, 1, (from, taken) -> {}, tasks::add);
            assertTakesNothing(
                    () -> cq.poll(completions),
                    () -> running.loop.onPeerLost(pair.client, 1, NEVER_MS, TimeUnit.MILLISECONDS, lost -> {}));
        }
    }

    @Test
    void aPollOfRdmacm() throws Exception {
        try (RdmaPair pair = RdmaPair.connect();
                RunningLoop running = new RunningLoop()) {
            pair.client.qp().onSendComp(running.loop, 1, taken -> {}, tasks::add);
            assertTakesNothing(
                    () -> pair.client.qp().pollSendComp(completions),
                    () -> pair.client.qp().onPeerLost(running.loop, 1, NEVER_MS, TimeUnit.MILLISECONDS, lost -> {}));
        }
    }

    private void assertTakesNothing(Callable<Integer> poll, Runnable check) throws Exception {
        // the first task of a registration finds nothing, and arms the queue
        nextTask().run();
        try (StandIn standIn = StandIn.open()) {
            standIn.hold("ibv_poll_cq", 1);
            FutureTask<Integer> polled = new FutureTask<>(poll);
            new Thread(polled, "poll").start();
            standIn.awaitHeld(1);
            check.run();
            // the second task comes for the completion of the probe
            nextTask();
            standIn.letGo();
            assertThat(polled.get(Limit.WAIT_S, TimeUnit.SECONDS)).isZero();
        }
    }

    private Runnable nextTask() throws InterruptedException {
        Runnable task = tasks.poll(Limit.WAIT_S, TimeUnit.SECONDS);
        assertThat(task).as("no task came").isNotNull();
        return task;
    }
}
