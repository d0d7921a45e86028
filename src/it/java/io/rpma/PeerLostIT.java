// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rpma.testing.Eventually;
import io.rpma.testing.Limit;
import io.rpma.testing.Pair;
import io.rpma.testing.Regions;
import io.rpma.testing.RunningLoop;
import io.rpma.testing.TestDevice;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Checks of the other side of a connection. A send that waits for a receive stands for a dead host: the probe behind it
 * has no answer. {@link HostDeathIT} ends a host.
 */
@Tag("stand-in")
class PeerLostIT {
    private static final int ALWAYS = RpmaConn.F_COMPLETION_ALWAYS;
    private static final int ON_ERROR = RpmaConn.F_COMPLETION_ON_ERROR;
    private static final long NEVER_MS = TimeUnit.DAYS.toMillis(1);
    private static final long PERIOD_MS = 1;
    private static final long LIMIT_MS = 100;

    private final BlockingQueue<Long> seen = new LinkedBlockingQueue<>();
    private final BlockingQueue<RpmaConn> lost = new LinkedBlockingQueue<>();
    private final BlockingQueue<Throwable> failures = new LinkedBlockingQueue<>();
    private RunningLoop running;
    private RpmaEventLoop loop;
    private Pair pair;
    private RpmaEventLoop.Registration completions;

    @BeforeEach
    void open() throws InterruptedException {
        running = new RunningLoop();
        loop = running.loop;
        loop.onFailure((source, failure) -> failures.add(failure));
        pair = Pair.connect();
        completions = loop.onCompletion(pair.client.getCq(), 2, this::collect);
    }

    @AfterEach
    void close() {
        running.close();
        if (pair != null) {
            pair.close();
            assertTrue(failures.isEmpty(), failures.toString());
        }
    }

    private void collect(RpmaCq cq, RpmaCompletions taken) {
        for (int i = 0; i < taken.count(); i++) {
            seen.add(taken.wrId(i));
        }
    }

    private RpmaEventLoop.Registration check(long limitMs) {
        return check(pair.client, limitMs);
    }

    private RpmaEventLoop.Registration check(RpmaConn conn, long limitMs) {
        return loop.onPeerLost(conn, PERIOD_MS, limitMs, TimeUnit.MILLISECONDS, lost::add);
    }

    private static <T> T next(BlockingQueue<T> queue) throws InterruptedException {
        T next = queue.poll(Limit.WAIT_S, TimeUnit.SECONDS);
        assertNotNull(next, "nothing came");
        return next;
    }

    private void assertLost() throws InterruptedException {
        assertSame(pair.client, next(lost));
    }

    /** The next operations wait until {@link #letGo}. */
    private void stall() {
        Pair.assertPosted(pair.client.send(ON_ERROR, 0));
    }

    private void letGo() {
        Pair.assertPosted(pair.server.recv(0));
    }

    @Test
    void theProgramSeesOnlyItsOwnCompletions() throws InterruptedException {
        RpmaEventLoop.Registration check = check(NEVER_MS);
        for (long context = 1; context <= 10; context++) {
            RunningLoop.awaitAnswer(pair.client.probe());
            Pair.assertPosted(pair.client.write(ON_ERROR, 0));
            Pair.assertPosted(pair.client.write(ALWAYS, context));
            assertEquals(context, next(seen));
        }
        assertTrue(check.isActive());
        assertTrue(seen.isEmpty(), seen.toString());
    }

    @Tag("empty-receives")
    @Test
    void aSideWithoutAnswerIsLostOnce() throws Exception {
        stall();
        RpmaEventLoop.Registration check = check(LIMIT_MS);
        assertLost();
        assertFalse(check.isActive());
        running.awaitCheck(PERIOD_MS);
        assertTrue(lost.isEmpty());
        // the answer arrives late, and the connection can be checked again
        letGo();
        RpmaEventLoop.Registration second = check(NEVER_MS);
        Pair.assertPosted(pair.client.write(ALWAYS, 1));
        assertEquals(1, next(seen));
        RunningLoop.awaitAnswer(pair.client.probe());
        assertTrue(second.isActive());
        assertTrue(seen.isEmpty(), seen.toString());
    }

    @Test
    void anExecutorMayCloseTheConnection() throws InterruptedException {
        stall();
        loop.on(task -> new Thread(task).start()).onPeerLost(pair.client, 1, LIMIT_MS, TimeUnit.MILLISECONDS, conn -> {
            conn.close();
            lost.add(conn);
        });
        assertLost();
        assertThrows(IllegalStateException.class, () -> pair.client.write(ALWAYS, 1));
    }

    @Tag("empty-receives")
    @Test
    void aFullSendQueueIsNotALoss() throws Exception {
        stall();
        int posted = 0;
        while (pair.client.write(ALWAYS, posted)) {
            posted++;
        }
        RpmaEventLoop.Registration check = check(NEVER_MS);
        running.awaitCheck(PERIOD_MS);
        assertFalse(pair.client.write(ALWAYS, posted), "the queue has room");
        letGo();
        for (long context = 0; context < posted; context++) {
            assertEquals(context, next(seen));
        }
        RunningLoop.awaitAnswer(pair.client.probe());
        assertTrue(check.isActive());
        assertTrue(seen.isEmpty(), seen.toString());
    }

    @Test
    void theEndOfTheOtherSideIsALossIfNobodyHandlesItsEvent() throws InterruptedException {
        check(LIMIT_MS);
        pair.server.close();
        assertLost();
    }

    @Tag("completions-after-end")
    @Test
    void aBrokenConnectionIsALoss() throws InterruptedException {
        try (Regions regions = new Regions(pair.peer, 4096)) {
            regions.target.close();
            check(NEVER_MS);
            Pair.assertPosted(pair.client.write(regions.remote, 0, regions.local, 0, 8, ALWAYS, 1));
            assertEquals(1, next(seen));
            assertLost();
        }
    }

    @Tag("completions-after-end")
    @Test
    void aDisconnectionEndsTheCheck() throws Exception {
        stall();
        RpmaEventLoop.Registration check = check(NEVER_MS);
        running.postProbe(pair.client.probe());
        pair.client.disconnect();
        assertFalse(check.isActive());
        // the send that waited has failed, and the probe behind it
        assertEquals(0, next(seen));
        Eventually.become("the failure of the probe", pair.client.probe()::isLost);
        running.awaitCheck(PERIOD_MS);
        assertTrue(lost.isEmpty());
        assertTrue(seen.isEmpty(), seen.toString());
    }

    @Test
    void aCloseEndsTheCheck() {
        RpmaEventLoop.Registration check = check(NEVER_MS);
        pair.client.close();
        assertFalse(check.isActive());
        assertThrows(IllegalStateException.class, () -> check(1));
    }

    @Tag("infiniband-cm")
    @Test
    void aConnectionThatIsNotEstablishedCanNotBeChecked() throws InterruptedException {
        // nobody listens
        try (RpmaPeer peer = TestDevice.peer();
                RpmaConn conn = RpmaConnReq.create(peer, TestDevice.address(), TestDevice.port(), null)
                        .connect()) {
            loop.onCompletion(conn.getCq(), 1, this::collect);
            RpmaEventLoop.Registration check = check(conn, NEVER_MS);
            assertInstanceOf(RpmaException.class, next(failures));
            assertFalse(check.isActive());
            assertTrue(lost.isEmpty());
        }
    }

    @Tag("empty-receives")
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void queuesThatShareAChannel(boolean separateReceives) throws InterruptedException {
        try (RpmaConnCfg cfg = RpmaConnCfg.create().setComplChannel(true).setRcqSize(separateReceives ? 10 : 0);
                Pair shared = Pair.connect(cfg)) {
            loop.onCompletion(shared.client, 2, this::collect);
            Pair.assertPosted(shared.client.recv(3));
            RpmaEventLoop.Registration first = check(shared.client, NEVER_MS);
            RunningLoop.awaitAnswer(shared.client.probe());
            Pair.assertPosted(shared.server.send(ALWAYS, 0));
            assertEquals(3, next(seen));
            first.cancel();
            Pair.assertPosted(shared.client.send(ON_ERROR, 0));
            check(shared.client, LIMIT_MS);
            assertSame(shared.client, next(lost));
            assertTrue(seen.isEmpty(), seen.toString());
        }
    }
}
