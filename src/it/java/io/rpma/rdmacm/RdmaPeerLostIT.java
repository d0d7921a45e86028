// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.rdmacm;

import static io.rpma.testing.Limit.WAIT_S;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import io.rpma.RpmaEventLoop;
import io.rpma.RpmaException;
import io.rpma.testing.Eventually;
import io.rpma.testing.RdmaPair;
import io.rpma.testing.RunningLoop;
import io.rpma.testing.TestDevice;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Checks of the other side of an id. As in {@code PeerLostIT}, a send that waits for a receive stands for a dead host.
 */
@Tag("stand-in")
class RdmaPeerLostIT {
    private static final int SIGNALED = RdmaQp.F_SIGNALED;
    private static final long NEVER_MS = TimeUnit.DAYS.toMillis(1);
    private static final long PERIOD_MS = 1;
    private static final long LIMIT_MS = 100;

    private final BlockingQueue<Long> seen = new LinkedBlockingQueue<>();
    private final BlockingQueue<RdmaId> lost = new LinkedBlockingQueue<>();
    private final BlockingQueue<Throwable> failures = new LinkedBlockingQueue<>();
    private RunningLoop running;
    private RpmaEventLoop loop;
    private RdmaPair pair;
    private RdmaQp qp;
    private RpmaEventLoop.Registration completions;

    @BeforeEach
    void open() throws InterruptedException {
        running = new RunningLoop();
        loop = running.loop;
        loop.onFailure((source, failure) -> failures.add(failure));
        pair = RdmaPair.connect();
        qp = pair.client.qp();
        completions = serve(qp);
    }

    @AfterEach
    void close() {
        running.close();
        if (pair != null) {
            pair.close();
            assertThat(failures).isEmpty();
        }
    }

    private RpmaEventLoop.Registration serve(RdmaQp served) {
        return served.onSendComp(loop, 2, taken -> {
            for (int i = 0; i < taken.count(); i++) {
                seen.add(taken.wrId(i));
            }
        });
    }

    private RpmaEventLoop.Registration check(long limitMs) {
        return qp.onPeerLost(loop, PERIOD_MS, limitMs, TimeUnit.MILLISECONDS, lost::add);
    }

    private static <T> T next(BlockingQueue<T> queue) throws InterruptedException {
        T next = queue.poll(WAIT_S, TimeUnit.SECONDS);
        assertThat(next).as("nothing came").isNotNull();
        return next;
    }

    private void assertLost() throws InterruptedException {
        assertThat(next(lost)).isSameAs(pair.client);
    }

    private void write(long context) {
        assertThat(qp.postWrite(pair.clientMr, 0, 8, SIGNALED, pair.serverMr.address(), pair.serverMr.rkey(), context))
                .isTrue();
    }

    /** The next operations wait until {@link #letGo}. */
    private void stall() {
        assertThat(qp.postSend(pair.clientMr, 0, 8, 0, 0)).isTrue();
    }

    private void letGo() {
        assertThat(pair.server.qp().postRecv(pair.serverMr, 0, 8, 0)).isTrue();
    }

    @Test
    void theProgramSeesOnlyItsOwnCompletions() throws InterruptedException {
        RpmaEventLoop.Registration check = check(NEVER_MS);
        for (long context = 1; context <= 10; context++) {
            RunningLoop.awaitAnswer(qp.probe());
            write(context);
            assertThat(next(seen)).isEqualTo(context);
        }
        assertThat(check.isActive()).isTrue();
        assertThat(seen).isEmpty();
    }

    @Tag("remote-errors")
    @Test
    void aSideWithoutAnswerIsLostOnce() throws Exception {
        stall();
        RpmaEventLoop.Registration check = check(LIMIT_MS);
        assertLost();
        assertThat(check.isActive()).isFalse();
        running.awaitCheck(PERIOD_MS);
        assertThat(lost).isEmpty();
        letGo();
        check(NEVER_MS);
        write(1);
        assertThat(next(seen)).isEqualTo(1);
    }

    @Test
    void anExecutorMayCloseTheId() throws InterruptedException {
        stall();
        // memory must be closed before the id
        pair.clientMr.close();
        qp.onPeerLost(loop.on(task -> new Thread(task).start()), 1, LIMIT_MS, TimeUnit.MILLISECONDS, id -> {
            id.close();
            lost.add(id);
        });
        assertLost();
        assertThatIllegalStateException().isThrownBy(() -> check(1)).withMessageContaining("is closed");
    }

    @Tag("completions-after-end")
    @Test
    void aDisconnectionEndsTheCheck() throws Exception {
        stall();
        RpmaEventLoop.Registration check = check(NEVER_MS);
        running.postProbe(qp.probe());
        pair.client.disconnect();
        assertThat(check.isActive()).isFalse();
        assertThat(next(seen)).as("the send").isZero();
        Eventually.become("the failure of the probe", qp.probe()::isLost);
        running.awaitCheck(PERIOD_MS);
        assertThat(lost).isEmpty();
        assertThat(seen).isEmpty();
    }

    @Test
    void anIdWithoutConnectionCanNotBeChecked() throws Exception {
        // the resolution needs no listener
        try (RdmaId prepared = RdmaPair.prepared(TestDevice.port())) {
            serve(prepared.qp());
            RpmaEventLoop.Registration check =
                    prepared.qp().onPeerLost(loop, 1, NEVER_MS, TimeUnit.MILLISECONDS, lost::add);
            assertThat(next(failures)).isInstanceOf(RpmaException.class).hasMessageContaining("ENOTCONN");
            assertThat(check.isActive()).isFalse();
            assertThat(lost).isEmpty();
        }
    }

    @Tag("datagrams")
    @Test
    void refusesWrongArguments() throws InterruptedException {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> qp.onPeerLost(loop, 0, 1, TimeUnit.SECONDS, lost::add))
                .withMessage("period must be positive: 0");
        assertThatNullPointerException()
                .isThrownBy(() -> qp.onPeerLost(null, 1, 1, TimeUnit.SECONDS, lost::add))
                .withMessage("loop");
        try (RdmaId datagrams = RdmaPair.resolved(RdmaPortSpace.UDP, TestDevice.port())) {
            datagrams.createQp(RdmaPair.attr());
            serve(datagrams.qp());
            assertThatIllegalStateException()
                    .isThrownBy(() -> datagrams.qp().onPeerLost(loop, 1, 1, TimeUnit.SECONDS, lost::add))
                    .withMessageContaining("is for datagrams");
        }
    }
}
