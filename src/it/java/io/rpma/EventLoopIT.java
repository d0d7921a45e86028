// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rpma.internal.Natives;
import io.rpma.internal.OpenResources;
import io.rpma.testing.Blocked;
import io.rpma.testing.Eventually;
import io.rpma.testing.Limit;
import io.rpma.testing.Pair;
import io.rpma.testing.Race;
import io.rpma.testing.RunningLoop;
import io.rpma.testing.TestDevice;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** An event loop that serves connections. */
@Tag("stand-in")
class EventLoopIT {
    private static final int ALWAYS = RpmaConn.F_COMPLETION_ALWAYS;
    private static final int QUEUE = 64;
    private static final int BATCH = 4;

    /** Many times BATCH, but all fit into the queues. */
    private static final int MANY = 50;

    /** Both sides are in this process, and the guest does not have the descriptors for twice as many. */
    private static final int CLIENTS = 500;

    /** The number of clients that are still connected when the server ends. */
    private static final int LEFT = 10;

    private static final int RACES =
            Integer.getInteger("rpma.race.rounds", Boolean.getBoolean("rpma.long") ? 1000 : 25);

    private final RpmaConnCfg cfg =
            RpmaConnCfg.create().setSqSize(QUEUE).setRqSize(QUEUE).setCqSize(2 * QUEUE);
    private final BlockingQueue<Object> seen = new LinkedBlockingQueue<>();
    private final BlockingQueue<Object> failed = new LinkedBlockingQueue<>();
    private final BlockingQueue<Throwable> failures = new LinkedBlockingQueue<>();
    private OpenResources before;
    private RpmaPeer peer;
    private RunningLoop running;
    private RpmaEventLoop loop;

    @BeforeEach
    void open() throws InterruptedException {
        TestDevice.address();
        Pair.connect().close();
        before = OpenResources.now();
        peer = TestDevice.peer();
        running = new RunningLoop();
        loop = running.loop;
        loop.onFailure((source, failure) -> {
            failed.add(source);
            failures.add(failure);
        });
    }

    @AfterEach
    void nothingIsLeft() {
        if (peer != null) {
            running.close();
            peer.close();
            // the configuration was open before too
            before.assertSameNow(4);
            assertTrue(failures.isEmpty(), failures.toString());
        }
        cfg.close();
    }

    private Pair connect() throws InterruptedException {
        return Pair.connect(peer, cfg, cfg);
    }

    private static <T> T next(BlockingQueue<T> queue) throws InterruptedException {
        T next = queue.poll(Limit.WAIT_S, TimeUnit.SECONDS);
        assertNotNull(next, "nothing came");
        return next;
    }

    private void collect(RpmaCq cq, RpmaCompletions completions) {
        assertTrue(completions.count() >= 1 && completions.count() <= BATCH, completions.toString());
        for (int i = 0; i < completions.count(); i++) {
            assertTrue(completions.isSuccess(i), completions.toString());
            seen.add(completions.wrId(i));
        }
    }

    private void assertSeen(long first, long count) throws InterruptedException {
        for (long i = first; i < first + count; i++) {
            assertEquals(i, next(seen));
        }
    }

    private static void write(RpmaConn conn, long first, long count) {
        for (long i = first; i < first + count; i++) {
            Pair.assertPosted(conn.write(ALWAYS, i));
        }
    }

    private static void receive(RpmaConn conn, long first, long count) {
        for (long i = first; i < first + count; i++) {
            Pair.assertPosted(conn.recv(i));
        }
    }

    private static void send(RpmaConn conn, long count) {
        for (long i = 0; i < count; i++) {
            Pair.assertPosted(conn.send(RpmaConn.F_COMPLETION_ON_ERROR, i));
        }
    }

    private static void assertServed(Executable wait) {
        IllegalStateException e = assertThrows(IllegalStateException.class, wait);
        assertTrue(e.getMessage().contains("is served by"), e.getMessage());
    }

    @Tag("many-connections")
    @Test
    void aServerOfTenLinesAnswersAllItsClients() throws Exception {
        int port = TestDevice.port();
        List<RpmaConn> clients = new ArrayList<>();
        try (RpmaMemory memory = RpmaMemory.allocate(2L * EchoServer.SIZE * CLIENTS);
                RpmaMrLocal region = peer.register(memory, RpmaMrUsage.SEND, RpmaMrUsage.RECV);
                EchoServer server = new EchoServer(peer, CLIENTS);
                RpmaEp ep = RpmaEp.listen(peer, TestDevice.address(), port)) {
            FutureTask<Void> serving = new FutureTask<>(() -> {
                assertThrows(InterruptedException.class, () -> server.serve(ep, null));
                return null;
            });
            Thread thread = new Thread(serving, "server");
            thread.start();
            for (int i = 0; i < CLIENTS; i++) {
                RpmaConn client = RpmaConnReq.create(peer, TestDevice.address(), port, null)
                        .connect();
                clients.add(client);
                Pair.assertEvent(RpmaConnEvent.ESTABLISHED, client);
            }
            ByteBuffer buffer = memory.buffer();
            for (int round = 0; round < 3; round++) {
                for (int i = 0; i < CLIENTS; i++) {
                    int place = 2 * EchoServer.SIZE * i;
                    buffer.putLong(place, 1000L * round + i);
                    Pair.assertPosted(clients.get(i).recv(region, place + EchoServer.SIZE, EchoServer.SIZE, i));
                    Pair.assertPosted(
                            clients.get(i).send(region, place, EchoServer.SIZE, RpmaConn.F_COMPLETION_ON_ERROR, i));
                }
                for (int i = 0; i < CLIENTS; i++) {
                    Pair.assertDone(clients.get(i), i);
                    assertEquals(
                            1000L * round + i,
                            buffer.getLong(2 * EchoServer.SIZE * i + EchoServer.SIZE),
                            "client " + i);
                }
            }
            int open = Natives.handleCount();
            for (RpmaConn client : clients.subList(LEFT, CLIENTS)) {
                if (client == clients.get(LEFT)) {
                    // a message that is too long fails on both sides
                    Pair.assertPosted(client.send(region, 0, 2 * EchoServer.SIZE, RpmaConn.F_COMPLETION_ALWAYS, LEFT));
                } else {
                    client.disconnect();
                }
                Pair.assertEvent(RpmaConnEvent.CLOSED, client);
            }
            // each client has two handles: the connection and its queue
            Eventually.become("the server closes", () -> Natives.handleCount() == open - 2 * (CLIENTS - LEFT));
            thread.interrupt();
            serving.get(Limit.WAIT_S, TimeUnit.SECONDS);
            thread.join();
            for (RpmaConn client : clients.subList(0, LEFT)) {
                Pair.assertEvent(RpmaConnEvent.CLOSED, client);
            }
            clients.forEach(RpmaConn::close);
            assertEquals(List.of(), server.failures());
        }
    }

    @Test
    void allCompletionsAreTaken() throws Exception {
        try (Pair pair = connect()) {
            write(pair.client, 0, MANY);
            RpmaEventLoop.Registration registration = loop.onCompletion(pair.client.getCq(), BATCH, this::collect);
            assertSeen(0, MANY);
            for (int i = 0; i < 20; i++) {
                write(pair.client, 100, 1 + i);
                assertSeen(100, 1 + i);
            }
            registration.cancel();
            write(pair.client, 7, 1);
            Pair.assertDone(pair.client, 7);
            assertTrue(seen.isEmpty());
        }
    }

    @Test
    void whatAWaitHasLeftIsTaken() throws Exception {
        try (Pair pair = connect()) {
            write(pair.client, 0, MANY);
            Pair.assertDone(pair.client, 0);
            loop.onCompletion(pair.client.getCq(), BATCH, this::collect);
            assertSeen(1, MANY - 1);
        }
    }

    @Test
    void aWaitTakesWhatTheLoopHasLeft() throws Exception {
        try (Pair pair = connect()) {
            RpmaEventLoop.Registration[] registration = new RpmaEventLoop.Registration[1];
            running.call(() -> registration[0] = loop.onCompletion(pair.client.getCq(), 1, (cq, completions) -> {
                registration[0].cancel();
                seen.add(completions.wrId(0));
            }));
            write(pair.client, 0, MANY);
            assertSeen(0, 1);
            for (long i = 1; i < MANY; i++) {
                Pair.assertDone(pair.client, i);
            }
        }
    }

    @Tag("empty-receives")
    @Test
    void bothQueuesOfAConnection() throws Exception {
        try (RpmaConnCfg withRcq = RpmaConnCfg.create()
                        .setSqSize(QUEUE)
                        .setRqSize(QUEUE)
                        .setCqSize(QUEUE)
                        .setRcqSize(QUEUE);
                Pair pair = Pair.connect(peer, cfg, withRcq)) {
            RpmaCq rcq = pair.server.getRcq().orElseThrow();
            BlockingQueue<Object> received = new LinkedBlockingQueue<>();
            loop.onCompletion(pair.server.getCq(), BATCH, this::collect);
            loop.onCompletion(rcq, BATCH, (cq, completions) -> {
                assertSame(rcq, cq);
                for (int i = 0; i < completions.count(); i++) {
                    received.add(completions.wrId(i));
                }
            });
            receive(pair.server, 100, MANY);
            send(pair.client, MANY);
            write(pair.server, 0, MANY);
            assertSeen(0, MANY);
            for (long i = 100; i < 100 + MANY; i++) {
                assertEquals(i, next(received));
            }
        }
    }

    @Tag("empty-receives")
    @Test
    void aSharedCompletionChannel() throws Exception {
        try (RpmaConnCfg shared = RpmaConnCfg.create()
                        .setSqSize(QUEUE)
                        .setRqSize(QUEUE)
                        .setCqSize(QUEUE)
                        .setRcqSize(QUEUE)
                        .setComplChannel(true);
                Pair pair = Pair.connect(peer, cfg, shared)) {
            RpmaCq rcq = pair.server.getRcq().orElseThrow();
            for (RpmaCq queue : List.of(pair.server.getCq(), rcq)) {
                RpmaException e = assertThrows(
                        RpmaException.class, () -> loop.onCompletion(queue, BATCH, (cq, completions) -> {}));
                assertEquals(RpmaError.SHARED_CHANNEL, e.error());
            }
            BlockingQueue<Object> received = new LinkedBlockingQueue<>();
            loop.onCompletion(pair.server, BATCH, (cq, completions) -> {
                for (int i = 0; i < completions.count(); i++) {
                    (cq == rcq ? received : seen).add(completions.wrId(i));
                }
            });
            assertServed(() -> pair.server.await(RpmaCompletions.create(1)));
            for (int round = 0; round < 3; round++) {
                receive(pair.server, 100, MANY);
                send(pair.client, MANY);
                write(pair.server, 0, MANY);
                assertSeen(0, MANY);
                for (long i = 100; i < 100 + MANY; i++) {
                    assertEquals(i, next(received));
                }
                // makes room for more sends: only a completion that is polled does
                write(pair.client, 0, 1);
                Pair.assertDone(pair.client, 0);
            }
            RpmaException e = assertThrows(
                    RpmaException.class, () -> loop.onCompletion(pair.client, BATCH, (cq, completions) -> {}));
            assertEquals(RpmaError.NOT_SHARED_CHNL, e.error());
        }
    }

    @Tag("empty-receives")
    @Test
    void theQueueOfASharedReceiveQueue() throws Exception {
        try (RpmaSrqCfg srqCfg = RpmaSrqCfg.create().setRqSize(QUEUE).setRcqSize(QUEUE);
                RpmaSrq srq = RpmaSrq.create(peer, srqCfg);
                RpmaConnCfg withSrq = RpmaConnCfg.create().setSrq(srq)) {
            for (long i = 0; i < MANY; i++) {
                Pair.assertPosted(srq.recv(i));
            }
            try (Pair one = Pair.connect(peer, cfg, withSrq);
                    Pair other = Pair.connect(peer, cfg, withSrq)) {
                RpmaEventLoop.Registration registration =
                        loop.onCompletion(srq.getRcq().orElseThrow(), BATCH, this::collect);
                for (int i = 0; i < MANY; i++) {
                    send(i % 2 == 0 ? one.client : other.client, 1);
                }
                List<Object> all = new ArrayList<>();
                for (int i = 0; i < MANY; i++) {
                    all.add(next(seen));
                }
                assertEquals(
                        LongStream.range(0, MANY).boxed().collect(Collectors.toSet()),
                        all.stream().collect(Collectors.toSet()));
                assertTrue(registration.isActive());
            }
        }
    }

    @Tag("infiniband-cm")
    @Test
    void events() throws Exception {
        int port = TestDevice.port();
        try (RpmaEp ep = RpmaEp.listen(peer, TestDevice.address(), port)) {
            BlockingQueue<RpmaConn> servers = new LinkedBlockingQueue<>();
            loop.onRequest(ep, cfg, request -> {
                RpmaConn conn = request.connect();
                loop.onEvent(conn, seen::add);
                servers.add(conn);
            });
            assertServed(() -> ep.nextConnReq(null));
            RpmaConn client =
                    RpmaConnReq.create(peer, TestDevice.address(), port, cfg).connect();
            loop.onEvent(client, event -> seen.add(event + " here"));
            assertServed(() -> client.nextEvent(0, TimeUnit.SECONDS));
            List<Object> both = new ArrayList<>(List.of(next(seen), next(seen)));
            assertTrue(both.contains(RpmaConnEvent.ESTABLISHED) && both.contains("ESTABLISHED here"), both.toString());
            client.disconnect();
            assertEquals(RpmaConnEvent.CLOSED, next(seen));
            RpmaConn server = next(servers);
            server.close();
            assertEquals("CLOSED here", next(seen));
            client.close();
        }
    }

    @Test
    void aHandlerOfRequestsThatThrowsRejectsTheRequestAlone() throws Exception {
        int port = TestDevice.port();
        try (RpmaEp ep = RpmaEp.listen(peer, TestDevice.address(), port)) {
            RuntimeException failure = new RuntimeException("test");
            boolean[] good = new boolean[1];
            RpmaEventLoop.Registration registration = loop.onRequest(ep, cfg, request -> {
                if (!good[0]) {
                    good[0] = true;
                    throw failure;
                }
                seen.add(request.connect());
            });
            try (RpmaConn client =
                    RpmaConnReq.create(peer, TestDevice.address(), port, cfg).connect()) {
                Pair.assertEvent(RpmaConnEvent.REJECTED, client);
                assertSame(failure, next(failures));
                assertSame(ep, next(failed));
            }
            try (RpmaConn client =
                    RpmaConnReq.create(peer, TestDevice.address(), port, cfg).connect()) {
                Pair.assertEvent(RpmaConnEvent.ESTABLISHED, client);
                ((RpmaConn) next(seen)).close();
            }
            assertTrue(registration.isActive());
        }
    }

    /** The loop closes the connection, because no other code can: the handler kept no reference. */
    @Test
    void aHandlerOfRequestsThatThrowsLeavesNoConnection() throws Exception {
        int port = TestDevice.port();
        try (RpmaEp ep = RpmaEp.listen(peer, TestDevice.address(), port)) {
            RuntimeException failure = new RuntimeException("test");
            RpmaEventLoop.Registration registration = loop.onRequest(ep, cfg, request -> {
                RpmaConn conn = request.connect();
                loop.onEvent(conn, seen::add);
                throw failure;
            });
            for (int i = 0; i < 2; i++) {
                int open = Natives.handleCount();
                RpmaConn client = RpmaConnReq.create(peer, TestDevice.address(), port, cfg)
                        .connect();
                assertSame(failure, next(failures));
                assertSame(ep, next(failed));
                client.close();
                assertEquals(open, Natives.handleCount());
            }
            assertTrue(registration.isActive());
        }
    }

    @Test
    void aClosedConfigurationEndsTheRegistration() throws Exception {
        int port = TestDevice.port();
        RpmaConnCfg closed = RpmaConnCfg.create();
        try (RpmaEp ep = RpmaEp.listen(peer, TestDevice.address(), port)) {
            RpmaEventLoop.Registration registration = loop.onRequest(ep, closed, request -> {});
            running.call(() -> {});
            closed.close();
            RpmaConn client =
                    RpmaConnReq.create(peer, TestDevice.address(), port, cfg).connect();
            assertEquals(IllegalStateException.class, next(failures).getClass());
            assertFalse(registration.isActive());
            assertThrows(IllegalStateException.class, () -> loop.onRequest(ep, closed, request -> {}));
            ep.nextConnReq(cfg, Limit.WAIT_S, TimeUnit.SECONDS).orElseThrow().close();
            Pair.assertEvent(RpmaConnEvent.REJECTED, client);
            client.close();
        }
    }

    @Test
    void aHandlerThatThrowsHarmsNobodyElse() throws Exception {
        try (Pair bad = connect();
                Pair good = connect()) {
            RpmaEventLoop.Registration registration =
                    loop.onCompletion(bad.client.getCq(), BATCH, (cq, completions) -> {
                        throw new OutOfMemoryError("test");
                    });
            loop.onCompletion(good.client.getCq(), BATCH, this::collect);
            write(bad.client, 0, 1);
            assertEquals(OutOfMemoryError.class, next(failures).getClass());
            assertSame(bad.client, next(failed));
            assertFalse(registration.isActive());
            write(good.client, 0, MANY);
            assertSeen(0, MANY);
            write(bad.client, 1, 1);
            Pair.assertDone(bad.client, 1);
        }
    }

    @Test
    void aSlowHandlerWithAnExecutorHoldsNobodyUp() throws Exception {
        ExecutorService executor = Executors.newFixedThreadPool(2);
        try (Pair slow = connect();
                Pair quick = connect()) {
            CountDownLatch go = new CountDownLatch(1);
            BlockingQueue<Object> slowly = new LinkedBlockingQueue<>();
            loop.on(executor).onCompletion(slow.client.getCq(), BATCH, (cq, completions) -> {
                assertNotSame(running.thread, Thread.currentThread());
                go.await();
                for (int i = 0; i < completions.count(); i++) {
                    slowly.add(completions.wrId(i));
                }
            });
            loop.onCompletion(quick.client.getCq(), BATCH, this::collect);
            write(slow.client, 0, MANY);
            write(quick.client, 0, MANY);
            assertSeen(0, MANY);
            assertTrue(slowly.isEmpty());
            go.countDown();
            for (long i = 0; i < MANY; i++) {
                assertEquals(i, next(slowly));
            }
            write(slow.client, MANY, 1);
            assertEquals((long) MANY, next(slowly));
        } finally {
            executor.shutdown();
        }
    }

    @Test
    void aQueueThatAThreadWaitsForIsRefused() throws Exception {
        try (Pair pair = connect()) {
            Blocked waiting = new Blocked(() -> pair.client.getCq().await(RpmaCompletions.create(1)));
            IllegalStateException e = assertThrows(
                    IllegalStateException.class, () -> loop.onCompletion(pair.client.getCq(), 1, this::collect));
            assertTrue(e.getMessage().contains("a thread waits for"), e.getMessage());
            write(pair.client, 1, 1);
            assertEquals(1, waiting.result());
            loop.onCompletion(pair.client.getCq(), 1, this::collect);
            assertServed(() -> pair.client.getCq().await(RpmaCompletions.create(1)));
            assertServed(() -> pair.client.getCq().await(RpmaCompletions.create(1), 0, TimeUnit.SECONDS));
            assertServed(() -> loop.onCompletion(pair.client.getCq(), 1, this::collect));
        }
    }

    @Test
    void objectsAreClosedByOthersWhileTheyAreServed() throws Exception {
        for (int i = 0; i < 10; i++) {
            Pair pair = connect();
            List<RpmaEventLoop.Registration> all = List.of(
                    loop.onEvent(pair.client, seen::add),
                    loop.onCompletion(pair.client.getCq(), BATCH, (cq, completions) -> {}));
            write(pair.client, 0, MANY);
            pair.client.close();
            for (RpmaEventLoop.Registration registration : all) {
                assertFalse(registration.isActive());
            }
            pair.close();
        }
        RpmaEp ep = RpmaEp.listen(peer, TestDevice.address(), TestDevice.port());
        RpmaEventLoop.Registration registration = loop.onRequest(ep, null, seen::add);
        ep.close();
        assertFalse(registration.isActive());
        assertTrue(seen.isEmpty());
    }

    @Test
    void addedCancelledAndClosedInAnyOrder() throws Exception {
        ExecutorService executor = Executors.newFixedThreadPool(2);
        try (Race race = new Race(2)) {
            for (int round = 0; round < RACES; round++) {
                boolean byHandler = round % 5 == 0;
                try (Pair pair = connect()) {
                    race.run(
                            () -> {
                                addAndCancel(pair.client, executor, byHandler);
                                return true;
                            },
                            pair.client::close);
                }
            }
        } finally {
            executor.shutdown();
        }
        // a handler may use or close an object that another thread is closing
        for (Throwable failure : failures) {
            assertEquals(IllegalStateException.class, failure.getClass(), failure.toString());
            assertTrue(failure.getMessage().contains("is closed"), failure.toString());
        }
        failures.clear();
        try (Pair pair = connect()) {
            loop.onCompletion(pair.client.getCq(), BATCH, this::collect);
            seen.clear();
            write(pair.client, 0, MANY);
            assertSeen(0, MANY);
        }
    }

    private void addAndCancel(RpmaConn conn, ExecutorService executor, boolean byHandler) {
        try {
            RpmaEventLoop.Registration events = loop.on(executor).onEvent(conn, event -> {});
            RpmaEventLoop.Registration completions = loop.onCompletion(conn.getCq(), BATCH, (cq, taken) -> {
                if (byHandler) {
                    conn.close();
                }
            });
            conn.write(ALWAYS, 1);
            events.cancel();
            completions.cancel();
        } catch (IllegalStateException e) {
            if (!e.getMessage().contains("is served by")) {
                throw e;
            }
        }
    }
}
