// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.rdmacm;

import static io.rpma.testing.Limit.WAIT_S;
import static io.rpma.testing.RdmaPair.listen;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaEventLoop;
import io.rpma.RpmaMemory;
import io.rpma.internal.OpenResources;
import io.rpma.testing.RdmaPair;
import io.rpma.testing.RunningLoop;
import io.rpma.testing.TestDevice;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** An event loop that serves ids and the queues of their queue pairs. */
@Tag("stand-in")
class RdmaEventLoopIT {
    private static final int SIGNALED = RdmaQp.F_SIGNALED;
    private static final int CLIENTS = 100;

    /** The number of operations of a side that fit into the queues of {@link RdmaPair#attr}. */
    private static final int MANY = 16;

    private static final int BATCH = 4;

    private final BlockingQueue<Object> seen = new LinkedBlockingQueue<>();
    private final BlockingQueue<Object> sources = new LinkedBlockingQueue<>();
    private final BlockingQueue<Throwable> failures = new LinkedBlockingQueue<>();
    private OpenResources before;
    private RunningLoop running;
    private RpmaEventLoop loop;

    @BeforeEach
    void open() throws InterruptedException {
        TestDevice.address();
        RdmaPair.connect().close();
        before = OpenResources.now();
        running = new RunningLoop();
        loop = running.loop;
        loop.onFailure((source, failure) -> {
            sources.add(source);
            failures.add(failure);
        });
    }

    @AfterEach
    void nothingIsLeft() {
        if (running != null) {
            running.close();
            before.assertSameNow(4);
            assertThat(failures).isEmpty();
        }
    }

    private static <T> T next(BlockingQueue<T> queue) throws InterruptedException {
        T next = queue.poll(WAIT_S, TimeUnit.SECONDS);
        assertThat(next).as("nothing came").isNotNull();
        return next;
    }

    private void collect(RpmaCompletions completions) {
        assertThat(completions.count()).isBetween(1, BATCH);
        for (int i = 0; i < completions.count(); i++) {
            assertThat(completions.isSuccess(i)).isTrue();
            seen.add(completions.wrId(i));
        }
    }

    private void assertSeen(long first, long count) throws InterruptedException {
        for (long i = first; i < first + count; i++) {
            assertThat(next(seen)).isEqualTo(i);
        }
    }

    private static void write(RdmaPair pair, long first, long count) {
        for (long i = first; i < first + count; i++) {
            assertThat(pair.client
                            .qp()
                            .postWrite(pair.clientMr, 0, 8, SIGNALED, pair.serverMr.address(), pair.serverMr.rkey(), i))
                    .isTrue();
        }
    }

    private static void receive(RdmaPair pair, long first, long count) {
        for (long i = first; i < first + count; i++) {
            assertThat(pair.server.qp().postRecv(pair.serverMr, 0, 8, i)).isTrue();
        }
    }

    private static void send(RdmaPair pair, int flags) throws InterruptedException {
        assertThat(pair.client.qp().postSend(pair.clientMr, 0, 8, flags | SIGNALED, 7))
                .isTrue();
        RdmaPair.sent(pair.client.qp(), 7);
    }

    private static void assertServed(ThrowingCallable wait) {
        assertThatIllegalStateException().isThrownBy(wait).withMessageContaining("is served by");
    }

    /** Connects the id of a request, and serves its events. */
    private void accept(RdmaId server) {
        server.createQp(RdmaPair.attr());
        server.onEvent(loop, event -> {
            seen.add(event.type());
            if (event.type() == RdmaEventType.DISCONNECTED) {
                server.close();
            }
        });
        server.accept(new RdmaConnParam());
    }

    /** Ignores the event that follows the end of a connection after a time of the system. */
    private void see(RdmaEventType event, String where) {
        if (event != RdmaEventType.TIMEWAIT_EXIT) {
            seen.add(event + where);
        }
    }

    @Test
    void requestsAndEvents() throws Exception {
        int port = TestDevice.port();
        try (RdmaId listener = listen(port)) {
            RpmaEventLoop.Registration requests = listener.onRequest(loop, this::accept);
            assertServed(() -> listener.getRequest());
            assertServed(() -> listener.getRequest(0, TimeUnit.SECONDS));
            try (RdmaId client = RdmaPair.prepared(port)) {
                client.onEvent(loop, event -> see(event.type(), " here"));
                assertServed(() -> client.nextEvent(0, TimeUnit.SECONDS));
                assertServed(() -> client.awaitEvent(RdmaEventType.ESTABLISHED, 1, TimeUnit.SECONDS));
                assertServed(() -> client.onEvent(loop, event -> {}));
                client.connect(new RdmaConnParam());
                assertThat(List.of(next(seen), next(seen)))
                        .containsExactlyInAnyOrder(RdmaEventType.ESTABLISHED, "ESTABLISHED here");
                client.disconnect();
                assertThat(List.of(next(seen), next(seen)))
                        .containsExactlyInAnyOrder(RdmaEventType.DISCONNECTED, "DISCONNECTED here");
            }
            requests.cancel();
            try (RdmaId client = RdmaPair.connecting(port);
                    RdmaId server = RdmaPair.request(listener)) {
                server.createQp(RdmaPair.attr());
                RdmaPair.accept(client, server);
            }
        }
        assertThat(seen).isEmpty();
    }

    @Tag("many-connections")
    @Test
    void oneLoopResolvesConnectsAndServesManyIds() throws Exception {
        int port = TestDevice.port();
        List<RdmaId> clients = new ArrayList<>();
        try (RdmaId listener = listen(port)) {
            listener.onRequest(loop, this::accept);
            for (int i = 0; i < CLIENTS; i++) {
                RdmaId client = RdmaId.create(RdmaPortSpace.TCP);
                clients.add(client);
                client.onEvent(loop, event -> connectOn(client, event.type()));
                client.resolveAddr(null, RdmaPair.address(port), 1000 * WAIT_S);
            }
            assertOnAll(RdmaEventType.ESTABLISHED);
            clients.forEach(RdmaId::disconnect);
            assertOnAll(RdmaEventType.DISCONNECTED);
            clients.forEach(RdmaId::close);
        }
    }

    /** Both sides of each connection get the event. */
    private void assertOnAll(RdmaEventType event) throws InterruptedException {
        List<Object> expected = new ArrayList<>(Collections.nCopies(CLIENTS, event));
        expected.addAll(Collections.nCopies(CLIENTS, event + " here"));
        List<Object> all = new ArrayList<>();
        for (int i = 0; i < 2 * CLIENTS; i++) {
            all.add(next(seen));
        }
        assertThat(all).containsExactlyInAnyOrderElementsOf(expected);
    }

    private void connectOn(RdmaId client, RdmaEventType event) {
        if (event == RdmaEventType.ADDR_RESOLVED) {
            client.resolveRoute(1000 * WAIT_S);
        } else if (event == RdmaEventType.ROUTE_RESOLVED) {
            client.createQp(RdmaPair.attr());
            client.connect(new RdmaConnParam());
        } else {
            see(event, " here");
        }
    }

    @Test
    void completionsOfOperations() throws Exception {
        try (RdmaPair pair = RdmaPair.connect()) {
            RdmaQp qp = pair.client.qp();
            write(pair, 0, MANY);
            RpmaEventLoop.Registration registration = qp.onSendComp(loop, BATCH, this::collect);
            assertSeen(0, MANY);
            for (int i = 0; i < 20; i++) {
                write(pair, 100, 1 + i % MANY);
                assertSeen(100, 1 + i % MANY);
            }
            assertServed(() -> qp.getSendComp(RpmaCompletions.create(1)));
            assertServed(() -> qp.onSendComp(loop, BATCH, completions -> {}));
            registration.cancel();
            write(pair, 7, 1);
            RdmaPair.sent(qp, 7);
            assertThat(seen).isEmpty();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void completionsOfReceives(boolean inExecutor) throws Exception {
        ExecutorService executor = Executors.newSingleThreadExecutor();
        try (RdmaPair pair = RdmaPair.connect()) {
            RdmaQp qp = pair.server.qp();
            receive(pair, 0, MANY);
            RpmaEventLoop.Registration registration = inExecutor
                    ? qp.onRecvComp(loop.on(executor), BATCH, this::collect)
                    : qp.onRecvComp(loop, BATCH, this::collect);
            for (int i = 0; i < MANY; i++) {
                send(pair, 0);
            }
            assertSeen(0, MANY);
            assertServed(() -> qp.getRecvComp(RpmaCompletions.create(1)));
            assertServed(() -> qp.getSolicitedRecvComp(RpmaCompletions.create(1), 0, TimeUnit.SECONDS));
            registration.cancel();
            receive(pair, 100, 1);
            send(pair, 0);
            RdmaPair.received(qp, 100);
            assertThat(seen).isEmpty();
        }
        executor.shutdown();
        assertThat(executor.awaitTermination(WAIT_S, TimeUnit.SECONDS)).isTrue();
    }

    /** An unsolicited completion does not wake the loop, also if the loop makes many turns before it. */
    @Tag("solicited-events")
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void onlySolicitedCompletionsWakeTheLoop(boolean inExecutor) throws Exception {
        try (RdmaPair pair = RdmaPair.connect()) {
            RdmaQp qp = pair.server.qp();
            receive(pair, 0, 6);
            if (inExecutor) {
                qp.onSolicitedRecvComp(loop.on(Runnable::run), BATCH, this::collect);
            } else {
                qp.onSolicitedRecvComp(loop, BATCH, this::collect);
            }
            for (long first = 0; first < 6; first += 3) {
                // the loop has armed the queue before it runs the second task
                running.call(() -> {});
                running.call(() -> {});
                send(pair, 0);
                send(pair, 0);
                running.call(() -> {});
                running.call(() -> {});
                assertThat(seen).isEmpty();
                send(pair, RdmaQp.F_SOLICITED);
                assertSeen(first, 3);
            }
        }
    }

    @Test
    void aHandlerOfRequestsThatThrowsRejectsTheRequestAlone() throws Exception {
        int port = TestDevice.port();
        RuntimeException failure = new RuntimeException("test");
        try (RdmaId listener = listen(port)) {
            RpmaEventLoop.Registration registration = listener.onRequest(loop, id -> {
                if (seen.isEmpty()) {
                    seen.add("failed");
                    throw failure;
                }
                accept(id);
            });
            try (RdmaId client = RdmaPair.connecting(port)) {
                assertThat(client.nextEvent(WAIT_S, TimeUnit.SECONDS)
                                .orElseThrow()
                                .type())
                        .isEqualTo(RdmaEventType.REJECTED);
            }
            assertThat(next(failures)).isSameAs(failure);
            assertThat(next(sources)).isSameAs(listener);
            assertThat(registration.isActive()).isTrue();
            try (RdmaId client = RdmaPair.connecting(port)) {
                RdmaPair.awaitEvent(client, RdmaEventType.ESTABLISHED);
                assertThat(List.of(next(seen), next(seen))).containsExactly("failed", RdmaEventType.ESTABLISHED);
                client.disconnect();
                assertThat(next(seen)).isEqualTo(RdmaEventType.DISCONNECTED);
            }
        }
    }

    /** The handler throws before or after the acceptance, while objects that depend on the id are open. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aHandlerOfRequestsThatThrowsLeavesNothingOpen(boolean accepts) throws Exception {
        int port = TestDevice.port();
        RuntimeException failure = new RuntimeException("test");
        List<RdmaId> ids = new ArrayList<>();
        try (RdmaId listener = listen(port);
                RpmaMemory memory = RpmaMemory.allocate(8)) {
            RpmaEventLoop.Registration registration = listener.onRequest(loop, id -> {
                ids.add(id);
                id.createQp(RdmaPair.attr());
                RdmaMr.regMsgs(id, memory);
                RdmaMr.regWrite(id, ByteBuffer.allocateDirect(8));
                if (accepts) {
                    id.accept(new RdmaConnParam());
                }
                throw failure;
            });
            try (RdmaId client = RdmaPair.connecting(port)) {
                assertThat(next(failures)).isSameAs(failure).hasNoSuppressedExceptions();
                assertThatIllegalStateException()
                        .isThrownBy(() -> ids.get(0).localAddr())
                        .withMessageEndingWith("is closed");
                assertThat(client.qp().qpNum()).isNotZero();
            }
            assertThat(registration.isActive()).isTrue();
        }
    }

    /** Another id needs the id of the request. The failure names it. */
    @Tag("infiniband-cm")
    @Test
    void anIdWhoseReceiveQueueAnotherIdUsesStaysOpen() throws Exception {
        int port = TestDevice.port();
        RuntimeException failure = new RuntimeException("test");
        BlockingQueue<RdmaId> ids = new LinkedBlockingQueue<>();
        try (RdmaId listener = listen(port);
                RdmaId user = RdmaPair.resolved(port)) {
            listener.onRequest(loop, id -> {
                ids.add(id);
                user.createQp(RdmaPair.attr().srq(id.createSrq(4, 1)));
                throw failure;
            });
            try (RdmaId client = RdmaPair.connecting(port)) {
                assertThat(next(failures)).isSameAs(failure);
                assertThat(failure.getSuppressed())
                        .singleElement()
                        .satisfies(e -> assertThat(e)
                                .isInstanceOf(IllegalStateException.class)
                                .hasMessageContaining("can't be closed before queue pair of " + user.object()));
                assertThat(client.qp().qpNum()).isNotZero();
            }
        }
        ids.take().close();
    }

    @Test
    void aHandlerThatThrowsEndsItsRegistrationAlone() throws Exception {
        try (RdmaPair pair = RdmaPair.connect()) {
            RuntimeException failure = new RuntimeException("test");
            RpmaEventLoop.Registration events = pair.client.onEvent(loop, event -> {});
            RpmaEventLoop.Registration completions = pair.client.qp().onSendComp(loop, 1, taken -> {
                throw failure;
            });
            write(pair, 0, 2);
            assertThat(next(failures)).isSameAs(failure);
            assertThat(next(sources)).isSameAs(pair.client);
            assertThat(completions.isActive()).isFalse();
            assertThat(events.isActive()).isTrue();
            RdmaPair.sent(pair.client.qp(), 1);
        }
    }

    @Test
    void theCloseOfAnIdEndsAllItsRegistrations() throws Exception {
        int port = TestDevice.port();
        RdmaId listener = listen(port);
        List<RpmaEventLoop.Registration> registrations = new ArrayList<>();
        registrations.add(listener.onRequest(loop, this::accept));
        try (RdmaPair pair = RdmaPair.connect()) {
            for (RdmaId id : List.of(pair.client, pair.server)) {
                registrations.add(id.onEvent(loop, event -> {}));
                registrations.add(id.qp().onSendComp(loop, BATCH, this::collect));
                registrations.add(id.qp().onRecvComp(loop, BATCH, this::collect));
            }
            assertThat(registrations).allMatch(RpmaEventLoop.Registration::isActive);
        }
        listener.close();
        assertThat(registrations).noneMatch(RpmaEventLoop.Registration::isActive);
        running.call(() -> {});
        assertThatIllegalStateException()
                .isThrownBy(() -> listener.onRequest(loop, id -> {}))
                .withMessageEndingWith("is closed");
        assertThat(seen).isEmpty();
    }

    @Test
    void anIdThatALoopServesCannotBeginToListen() {
        try (RdmaId id = RdmaId.create(RdmaPortSpace.TCP)) {
            id.bindAddr(RdmaPair.address(TestDevice.port()));
            assertThatIllegalStateException()
                    .isThrownBy(() -> id.onRequest(loop, request -> {}))
                    .withMessageEndingWith("does not listen");
            RpmaEventLoop.Registration registration = id.onEvent(loop, event -> {});
            assertServed(() -> id.listen(0));
            registration.cancel();
            id.listen(0);
            assertThatIllegalStateException()
                    .isThrownBy(() -> id.onEvent(loop, event -> {}))
                    .withMessageContaining("listens");
        }
    }

    @Test
    void wrongArguments() throws Exception {
        try (RdmaPair pair = RdmaPair.connect();
                RdmaId listener = listen(TestDevice.port())) {
            RdmaId id = pair.client;
            RdmaQp qp = id.qp();
            for (ThrowingCallable wrong : List.<ThrowingCallable>of(
                    () -> listener.onRequest(null, request -> {}),
                    () -> listener.onRequest(loop, null),
                    () -> id.onEvent(null, event -> {}),
                    () -> id.onEvent(loop, null),
                    () -> qp.onSendComp(null, 1, completions -> {}),
                    () -> qp.onSendComp(loop, 1, null),
                    () -> qp.onRecvComp(loop, 1, null),
                    () -> qp.onSolicitedRecvComp(loop, 1, null))) {
                assertThatNullPointerException().isThrownBy(wrong);
            }
            assertThatIllegalArgumentException().isThrownBy(() -> qp.onSendComp(loop, 0, completions -> {}));
            RpmaEventLoop closed = RpmaEventLoop.create();
            closed.close();
            for (ThrowingCallable late : List.<ThrowingCallable>of(
                    () -> listener.onRequest(closed, request -> {}),
                    () -> id.onEvent(closed, event -> {}),
                    () -> qp.onSendComp(closed, 1, completions -> {}),
                    () -> qp.onRecvComp(closed, 1, completions -> {}))) {
                assertThatIllegalStateException().isThrownBy(late).withMessageEndingWith("is closed");
            }
            // the failed registrations have left no claim
            id.onEvent(loop, event -> {}).cancel();
            qp.onSendComp(loop, 1, completions -> {}).cancel();
        }
    }
}
