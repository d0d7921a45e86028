// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.rpma.testing.Blocked;
import io.rpma.testing.Eventually;
import io.rpma.testing.Limit;
import io.rpma.testing.Pair;
import io.rpma.testing.Readable;
import io.rpma.testing.RunningLoop;
import io.rpma.testing.TestDevice;
import io.rpma.testing.VirtualThreads;
import java.util.EnumSet;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A wait for completions ends with the connection. */
@Tag("stand-in")
class ConnectionEndIT {
    private static final int ENOTCONN = 107;

    private enum Queues {
        ONE(RpmaConnCfg.create()) {
            @Override
            Object await(RpmaConn conn) throws InterruptedException {
                return awaitQueue(conn.getCq());
            }
        },
        TWO(RpmaConnCfg.create().setRcqSize(4)) {
            @Override
            Object await(RpmaConn conn) throws InterruptedException {
                return awaitQueue(conn.getRcq().orElseThrow());
            }
        },
        SHARED_CHANNEL(RpmaConnCfg.create().setRcqSize(4).setComplChannel(true)) {
            @Override
            Object await(RpmaConn conn) throws InterruptedException {
                return conn.awaitWhileConnected(RpmaCompletions.create(4), 1, TimeUnit.HOURS);
            }
        };

        private final RpmaConnCfg cfg;

        Queues(RpmaConnCfg cfg) {
            this.cfg = cfg;
        }

        abstract Object await(RpmaConn conn) throws InterruptedException;

        private static Object awaitQueue(RpmaCq cq) throws InterruptedException {
            return cq.awaitWhileConnected(RpmaCompletions.create(4), 1, TimeUnit.HOURS);
        }
    }

    private static Blocked waiting(RpmaConn conn) {
        return new Blocked(() -> Queues.ONE.await(conn));
    }

    private static void assertEnded(Throwable failure) {
        assertThat(failure).isInstanceOf(RpmaException.class).hasMessageContaining(" has ended: CLOSED");
        assertThat(((RpmaException) failure).errno()).isEqualTo(ENOTCONN);
    }

    @ParameterizedTest
    @EnumSource
    void theEndOfTheConnectionEndsTheWait(Queues queues) throws InterruptedException {
        try (Pair pair = Pair.connect(queues.cfg)) {
            Blocked waiter = new Blocked(() -> queues.await(pair.client));
            pair.server.disconnect();
            assertEnded(waiter.failure());
            // again, and the event is still there
            assertThatExceptionOfType(RpmaException.class).isThrownBy(() -> queues.await(pair.client));
            Pair.assertEvent(RpmaConnEvent.CLOSED, pair.client);
        }
    }

    @Tag("newer-jdk")
    @EnabledForJreRange(min = JRE.JAVA_21, disabledReason = "virtual threads came with JDK 21")
    @ParameterizedTest
    @EnumSource
    void theEndOfTheConnectionEndsTheWaitOfAVirtualThread(Queues queues) throws Exception {
        try (Pair pair = Pair.connect(queues.cfg)) {
            FutureTask<Object> wait = parked(() -> queues.await(pair.client));
            pair.server.disconnect();
            assertEnded(failure(wait));
            Pair.assertEvent(RpmaConnEvent.CLOSED, pair.client);
        }
    }

    private static FutureTask<Object> parked(Callable<Object> wait) {
        FutureTask<Object> task = new FutureTask<>(wait);
        Thread thread = VirtualThreads.start(task);
        Eventually.become(
                "the thread is parked",
                () -> EnumSet.of(Thread.State.WAITING, Thread.State.TIMED_WAITING)
                        .contains(thread.getState()));
        return task;
    }

    private static Throwable failure(FutureTask<?> wait) throws Exception {
        try {
            return new AssertionError(wait.get(Limit.WAIT_S, TimeUnit.SECONDS));
        } catch (ExecutionException e) {
            return e.getCause();
        }
    }

    @Tag("newer-jdk")
    @EnabledForJreRange(min = JRE.JAVA_21, disabledReason = "virtual threads came with JDK 21")
    @Test
    void anotherThreadTakesTheEventBeforeAVirtualThread() throws Exception {
        try (Pair pair = Pair.connect()) {
            Blocked event = new Blocked(pair.client::nextEvent);
            FutureTask<Object> wait = parked(() -> Queues.ONE.await(pair.client));
            pair.server.disconnect();
            assertThat(event.result()).isSameAs(RpmaConnEvent.CLOSED);
            assertEnded(failure(wait));
        }
    }

    @Test
    void theEndOfTheConnectionEndsTheWaitsForBothQueues() throws InterruptedException {
        try (Pair pair = Pair.connect(Queues.TWO.cfg)) {
            Blocked operations = waiting(pair.client);
            Blocked receives = new Blocked(() -> Queues.TWO.await(pair.client));
            pair.server.disconnect();
            assertEnded(operations.failure());
            assertEnded(receives.failure());
        }
    }

    @Test
    void anotherThreadTakesTheEvent() throws Exception {
        try (Pair pair = Pair.connect()) {
            Blocked waiter = waiting(pair.client);
            Blocked event = new Blocked(pair.client::nextEvent);
            Blocked behind = waiting(pair.client);
            pair.server.disconnect();
            assertThat(event.result()).isSameAs(RpmaConnEvent.CLOSED);
            assertEnded(waiter.failure());
            assertEnded(behind.failure());
        }
    }

    @Test
    void anotherThreadNoLongerWaitsForTheEvent() throws InterruptedException {
        try (Pair pair = Pair.connect()) {
            Blocked event = new Blocked(pair.client::nextEvent);
            Blocked waiter = waiting(pair.client);
            event.interrupt();
            assertThat(event.failure()).isInstanceOf(InterruptedException.class);
            pair.server.disconnect();
            assertEnded(waiter.failure());
        }
    }

    @Test
    void aLoopTakesTheEvent() throws Exception {
        try (Pair pair = Pair.connect();
                RunningLoop running = new RunningLoop()) {
            BlockingQueue<RpmaConnEvent> events = new ArrayBlockingQueue<>(4);
            running.loop.onEvent(pair.client, events::add);
            Blocked waiter = waiting(pair.client);
            pair.server.disconnect();
            assertThat(events.poll(Limit.WAIT_S, TimeUnit.SECONDS)).isSameAs(RpmaConnEvent.CLOSED);
            assertEnded(waiter.failure());
        }
    }

    @Test
    void aLoopNoLongerServesTheEvents() throws Exception {
        try (Pair pair = Pair.connect();
                RunningLoop running = new RunningLoop()) {
            RpmaEventLoop.Registration registration = running.loop.onEvent(pair.client, event -> {});
            Blocked waiter = waiting(pair.client);
            registration.cancel();
            pair.server.disconnect();
            assertEnded(waiter.failure());
            Pair.assertEvent(RpmaConnEvent.CLOSED, pair.client);
        }
    }

    @Test
    void aLoopGetsTheEventThatAWaitHasTaken() throws Exception {
        try (Pair pair = Pair.connect();
                RunningLoop running = new RunningLoop()) {
            Blocked waiter = waiting(pair.client);
            pair.server.disconnect();
            assertEnded(waiter.failure());
            BlockingQueue<RpmaConnEvent> events = new ArrayBlockingQueue<>(4);
            running.loop.onEvent(pair.client, events::add);
            assertThat(events.poll(Limit.WAIT_S, TimeUnit.SECONDS)).isSameAs(RpmaConnEvent.CLOSED);
        }
    }

    @Test
    void completionsComeBeforeTheEnd() throws Exception {
        RpmaCompletions completions = RpmaCompletions.create(4);
        try (Pair pair = Pair.connect()) {
            Pair.assertPosted(pair.client.write(RpmaConn.F_COMPLETION_ALWAYS, 8));
            Readable.assertReadable(pair.client.getCq().getFd());
            pair.server.disconnect();
            Pair.assertEvent(RpmaConnEvent.CLOSED, pair.client);
            assertThat(pair.client.getCq().awaitWhileConnected(completions, 1, TimeUnit.HOURS))
                    .isEqualTo(1);
            assertThat(completions.wrId(0)).isEqualTo(8);
            assertThatExceptionOfType(RpmaException.class)
                    .isThrownBy(() -> pair.client.getCq().awaitWhileConnected(completions, 0, TimeUnit.HOURS));
        }
    }

    @Test
    void theBeginningOfTheConnectionDoesNotEndTheWait() throws Exception {
        int port = TestDevice.port();
        try (RpmaPeer peer = TestDevice.peer();
                RpmaEp ep = RpmaEp.listen(peer, TestDevice.address(), port);
                RpmaConn client = RpmaConnReq.create(peer, TestDevice.address(), port, null)
                        .connect();
                RpmaConn server = ep.nextConnReq(null, Limit.WAIT_S, TimeUnit.SECONDS)
                        .orElseThrow()
                        .connect()) {
            Blocked waiter = waiting(server);
            Pair.assertEvent(RpmaConnEvent.ESTABLISHED, client);
            Pair.assertEvent(RpmaConnEvent.ESTABLISHED, server);
            client.disconnect();
            assertEnded(waiter.failure());
            Pair.assertEvent(RpmaConnEvent.CLOSED, server);
        }
    }

    @Test
    void theWaitTimesOut() throws InterruptedException {
        RpmaCompletions completions = RpmaCompletions.create(4);
        try (Pair pair = Pair.connect()) {
            assertThat(pair.client.getCq().awaitWhileConnected(completions, 0, TimeUnit.SECONDS))
                    .isZero();
            assertThat(pair.client.getCq().awaitWhileConnected(completions, 20, TimeUnit.MILLISECONDS))
                    .isZero();
        }
    }

    @Test
    void aSharedReceiveQueueHasNoConnection() {
        try (RpmaPeer peer = TestDevice.peer();
                RpmaSrq srq = RpmaSrq.create(peer, RpmaSrqCfg.create().setRcqSize(4))) {
            RpmaCq rcq = srq.getRcq().orElseThrow();
            assertThatIllegalStateException()
                    .isThrownBy(() -> rcq.awaitWhileConnected(RpmaCompletions.create(1), 1, TimeUnit.HOURS))
                    .withMessageContaining(rcq + " has no connection: it belongs to " + srq);
        }
    }
}
