// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.internal.loop.PeerProbe;
import io.rpma.testing.Eventually;
import io.rpma.testing.Limit;
import io.rpma.testing.Pair;
import io.rpma.testing.RunningLoop;
import io.rpma.testing.StandIn;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Polls of a registration whose executor is this test, at the beginning of a check and after its limit. */
@Tag("stand-in")
class FirstCheckTest {
    private static final long NEVER_MS = TimeUnit.DAYS.toMillis(1);

    private final BlockingQueue<Runnable> tasks = new LinkedBlockingQueue<>();
    private final BlockingQueue<Object> seen = new LinkedBlockingQueue<>();
    private final BlockingQueue<RpmaConn> lost = new LinkedBlockingQueue<>();

    private void serve(RpmaEventLoop loop, RpmaCq cq) {
        loop.onCompletion(cq, 1, (from, taken) -> seen.add(taken.wrId(0)));
    }

    private Runnable nextTask() throws InterruptedException {
        Runnable task = tasks.poll(Limit.WAIT_S, TimeUnit.SECONDS);
        assertThat(task).as("no task came").isNotNull();
        return task;
    }

    /** The first check of a connection begins, and its probe completes, during a poll. */
    @Test
    void thePollOfARegistrationThatBeganBeforeTheCheck() throws Exception {
        try (Pair pair = Pair.connect();
                RunningLoop running = new RunningLoop();
                StandIn standIn = StandIn.open()) {
            serve(running.loop.on(tasks::add), pair.client.getCq());
            standIn.hold("ibv_poll_cq", 1);
            FutureTask<Void> served = new FutureTask<>(nextTask(), null);
            new Thread(served, "serve").start();
            standIn.awaitHeld(1);
            running.loop.onPeerLost(pair.client, 1, NEVER_MS, TimeUnit.MILLISECONDS, lost::add);
            PeerProbe probe = pair.client.probe();
            Eventually.become("a probe", probe::isOutstanding);
            // a probe is outstanding from the beginning of its post
            running.call(() -> {});
            standIn.letGo();
            served.get(Limit.WAIT_S, TimeUnit.SECONDS);
            assertThat(seen).isEmpty();
            assertThat(probe.isOutstanding()).isFalse();
        }
    }

    /**
     * Nobody polls the queue of the operations, and the queue of the receives, which has none, says nothing about them.
     */
    @Test
    void thePollOfTheReceivesAfterTheLimit() throws Exception {
        try (RpmaConnCfg cfg = RpmaConnCfg.create().setRcqSize(4);
                Pair pair = Pair.connect(cfg);
                RunningLoop running = new RunningLoop()) {
            serve(running.loop.on(tasks::add), pair.client.getCq());
            nextTask();
            running.loop.onPeerLost(pair.client, 1, 1, TimeUnit.MILLISECONDS, lost::add);
            Eventually.become("a probe", pair.client.probe()::isOutstanding);
            running.awaitCheck(1);
            serve(running.loop, pair.client.getRcq().orElseThrow());
            running.awaitCheck(10);
            assertThat(lost).isEmpty();
        }
    }
}
