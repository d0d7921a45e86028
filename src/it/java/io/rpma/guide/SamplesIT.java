// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.guide;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIOException;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaConn;
import io.rpma.RpmaConnCfg;
import io.rpma.RpmaConnEvent;
import io.rpma.RpmaConnReq;
import io.rpma.RpmaDevice;
import io.rpma.RpmaEp;
import io.rpma.RpmaEventLoop;
import io.rpma.RpmaException;
import io.rpma.RpmaMemory;
import io.rpma.RpmaMemoryPool;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrUsage;
import io.rpma.RpmaPeer;
import io.rpma.testing.Blocked;
import io.rpma.testing.Limit;
import io.rpma.testing.Pair;
import io.rpma.testing.RdmaPair;
import io.rpma.testing.Regions;
import io.rpma.testing.RunningLoop;
import io.rpma.testing.TestDevice;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Runs the samples of the guide. The tag makes 'mvn verify' run them on a machine without a device. */
@Tag("stand-in")
class SamplesIT {
    private static final int BLOCKS = 100;

    /** More than the send queue of a connection has room for. */
    private static final int MESSAGES = 20;

    private RpmaPeer peer;
    private Pair pair;
    private Regions regions;

    @BeforeEach
    void connect() throws InterruptedException {
        peer = TestDevice.peer();
        try (RpmaConnCfg cfg = ThroughputSamples.queues().setRqSize(16).setCqSize(ThroughputSamples.DEPTH + 16)) {
            pair = Pair.connect(peer, cfg, cfg);
        }
        regions = new Regions(peer, BLOCKS * ThroughputSamples.BLOCK);
        regions.fillLocal(3);
    }

    @AfterEach
    void disconnect() {
        if (regions != null) {
            regions.close();
        }
        if (pair != null) {
            pair.close();
        }
        if (peer != null) {
            peer.close();
        }
    }

    private void assertArrived(int length) {
        assertThat(regions.remoteMemory.buffer(0, length)).isEqualTo(regions.localMemory.buffer(0, length));
    }

    @Test
    void aFileInTmpfsIsNotPersistent() throws IOException {
        Path file = Files.createTempFile(Path.of("/dev/shm"), "guide", null);
        try {
            assertThat(MemorySamples.describe(file)).isEqualTo("FILE, not persistent");
        } finally {
            Files.delete(file);
        }
    }

    @Test
    void aFlushMakesAWriteVisible() throws Exception {
        MemorySamples.makeVisible(pair.client, regions.remote, regions.local, 1000);
        assertArrived(1000);
    }

    @Tag("remote-errors")
    @Test
    void aWriteToAClosedRegionIsNotVisible() {
        regions.target.close();
        assertThatIOException()
                .isThrownBy(() -> MemorySamples.makeVisible(pair.client, regions.remote, regions.local, 1000))
                .withMessageContaining("not written");
    }

    @Tag("empty-receives")
    @Test
    void theServerMakesBytesPersistent() throws Exception {
        int port = TestDevice.port();
        byte[] offer = regions.target.getDescriptor();
        try (RpmaEp ep = RpmaEp.listen(peer, TestDevice.address(), port);
                RpmaConn client = RpmaConnReq.create(peer, TestDevice.address(), port, null)
                        .connect();
                RpmaMemory messages = RpmaMemory.allocate(1);
                RpmaMrLocal requests = peer.register(messages, RpmaMrUsage.RECV);
                RpmaConn server = MemorySamples.accept(ep.nextConnReq(null), requests, offer)) {
            Pair.assertEvent(RpmaConnEvent.ESTABLISHED, client);
            Blocked persisting = new Blocked(() -> {
                for (int i = 0; i < MESSAGES; i++) {
                    MemorySamples.persistOnRequest(server, regions.remoteMemory);
                }
                return null;
            });
            for (int i = 0; i < MESSAGES; i++) {
                regions.fillLocal(i);
                MemorySamples.writePersistently(client, regions.remote, regions.local, 1000);
                assertArrived(1000);
            }
            persisting.result();
        }
    }

    @Test
    void thePipelineWritesAllBlocks() throws Exception {
        ThroughputSamples.pipeline(pair.client, regions.remote, regions.local, BLOCKS);
        assertArrived(BLOCKS * ThroughputSamples.BLOCK);
    }

    @Tag("remote-errors")
    @Test
    void thePipelineReportsTheBlockThatFailed() {
        regions.target.close();
        assertThatIOException()
                .isThrownBy(() -> ThroughputSamples.pipeline(pair.client, regions.remote, regions.local, BLOCKS))
                .withMessageStartingWith("block 0: ");
    }

    @Test
    void theBatchIsWritten() throws Exception {
        ThroughputSamples.batch(pair.client, regions.remote, regions.local);
        assertArrived(15 * 64);
    }

    @Test
    void aPoolGivesABufferToEachWrite() throws Exception {
        try (RpmaMemory memory = RpmaMemory.allocate(2 * 64);
                RpmaMemoryPool pool = RpmaMemoryPool.create(memory, 64);
                RpmaMrLocal region = peer.register(pool.memory(), RpmaMrUsage.WRITE_SRC)) {
            assertThat(ThroughputSamples.writeNumber(pair.client, regions.remote, pool, region, 41))
                    .isTrue();
            assertThat(ThroughputSamples.writeNumber(pair.client, regions.remote, pool, region, 42))
                    .isTrue();
            assertThat(ThroughputSamples.writeNumber(pair.client, regions.remote, pool, region, 43))
                    .isFalse();
            RpmaCompletions completions = RpmaCompletions.create(1);
            for (int i = 0; i < 2; i++) {
                ErrorSamples.takeCompletion(pair.client, completions);
                ThroughputSamples.giveBack(completions, pool);
            }
            assertThat(pool.available()).isEqualTo(2);
        }
    }

    @Test
    void theChainIsWritten() throws Exception {
        try (RdmaPair verbs = RdmaPair.connect()) {
            for (int i = 0; i < 16; i++) {
                verbs.clientMemory.buffer().put(64 * i, (byte) (i + 1));
            }
            assertThat(ThroughputSamples.chain(
                            verbs.client.qp(), verbs.clientMr, verbs.serverMr.address(), verbs.serverMr.rkey()))
                    .isTrue();
            RpmaCompletions completions = RpmaCompletions.create(1);
            assertThat(verbs.client.qp().getSendComp(completions, Limit.WAIT_S, TimeUnit.SECONDS))
                    .isEqualTo(1);
            assertThat(completions.isSuccess(0)).as(completions.toString()).isTrue();
            assertThat(verbs.serverMemory.buffer()).isEqualTo(verbs.clientMemory.buffer());
        }
    }

    @Tag("remote-errors")
    @Test
    void aServerWithThreadsAnswersItsClients() throws Exception {
        int port = TestDevice.port();
        ExecutorService threads = Executors.newCachedThreadPool();
        RpmaEp ep = RpmaEp.listen(peer, TestDevice.address(), port);
        Blocked serving = new Blocked(() -> {
            ServerSamples.serve(ep, regions.target, threads);
            return null;
        });
        RpmaCompletions completions = RpmaCompletions.create(1);
        for (int client = 0; client < 3; client++) {
            try (RpmaConn conn = ErrorSamples.connect(peer, TestDevice.address(), port)) {
                for (int message = 0; message < MESSAGES; message++) {
                    regions.localMemory
                            .buffer()
                            .putLong(0, 1000 * client + message)
                            .putLong(8, 0);
                    Pair.assertPosted(conn.recv(regions.local, 8, 8, 1));
                    Pair.assertPosted(conn.send(regions.local, 0, 8, RpmaConn.F_COMPLETION_ALWAYS, 2));
                    // the end of the send and the answer, in either order
                    assertThat(ErrorSamples.takeCompletion(conn, completions)
                                    + ErrorSamples.takeCompletion(conn, completions))
                            .isEqualTo(1 + 2);
                    assertThat(regions.localMemory.buffer().getLong(8)).isEqualTo(1000 * client + message);
                }
            }
        }
        ep.close();
        serving.result();
        threads.shutdown();
        assertThat(threads.awaitTermination(Limit.WAIT_S, TimeUnit.SECONDS))
                .as("the threads end with the clients")
                .isTrue();
    }

    @Test
    void aServerWithThreadsRejectsAClientForWhichItHasNoRoom() throws Exception {
        int port = TestDevice.port();
        ExecutorService threads = Executors.newCachedThreadPool();
        RpmaCompletions completions = RpmaCompletions.create(1);
        try (RpmaMemory memory = RpmaMemory.allocate(8);
                RpmaMrLocal region = peer.register(memory, RpmaMrUsage.RECV, RpmaMrUsage.SEND);
                RpmaEp ep = RpmaEp.listen(peer, TestDevice.address(), port)) {
            Future<?> serving = threads.submit(() -> {
                ServerSamples.serve(ep, region, threads);
                return null;
            });
            try (RpmaConn conn = ErrorSamples.connect(peer, TestDevice.address(), port)) {
                for (int i = 0; i < 2; i++) {
                    assertThatIOException()
                            .isThrownBy(() -> ErrorSamples.connect(peer, TestDevice.address(), port))
                            .satisfies(SamplesIT::assertRefused);
                }
                Pair.assertPosted(conn.recv(regions.local, 8, 8, 1));
                Pair.assertPosted(conn.send(regions.local, 0, 8, RpmaConn.F_COMPLETION_ALWAYS, 2));
                ErrorSamples.takeCompletion(conn, completions);
                ErrorSamples.takeCompletion(conn, completions);
            }
            threads.shutdownNow();
            assertThat(threads.awaitTermination(Limit.WAIT_S, TimeUnit.SECONDS))
                    .as("the threads end after an interruption")
                    .isTrue();
            assertThat(serving)
                    .failsWithin(Duration.ZERO)
                    .withThrowableThat()
                    .withCauseInstanceOf(InterruptedException.class);
        }
    }

    /** A message that is longer than its receive fails on both sides. */
    @Tag("remote-errors")
    @Test
    void aServerWithThreadsClosesABrokenConnection() throws Exception {
        int port = TestDevice.port();
        ExecutorService threads = Executors.newCachedThreadPool();
        RpmaEp ep = RpmaEp.listen(peer, TestDevice.address(), port);
        Blocked serving = new Blocked(() -> {
            ServerSamples.serve(ep, regions.target, threads);
            return null;
        });
        try (RpmaConn conn = ErrorSamples.connect(peer, TestDevice.address(), port)) {
            Pair.assertPosted(conn.send(regions.local, 0, 16, RpmaConn.F_COMPLETION_ALWAYS, 2));
            // the server can close before it receives the last message of the handshake, and then rejects the
            // connection
            assertThat(conn.nextEvent(Limit.WAIT_S, TimeUnit.SECONDS))
                    .get()
                    .isIn(RpmaConnEvent.CLOSED, RpmaConnEvent.REJECTED);
        }
        ep.close();
        serving.result();
        threads.shutdown();
        assertThat(threads.awaitTermination(Limit.WAIT_S, TimeUnit.SECONDS))
                .as("the threads end with the connection")
                .isTrue();
    }

    @Test
    void nothingListens() {
        assertThatIOException()
                .isThrownBy(() -> ErrorSamples.connect(peer, TestDevice.address(), TestDevice.port()))
                .satisfies(SamplesIT::assertRefused);
    }

    private static void assertRefused(IOException failure) {
        assertThat(failure).hasMessage("can't connect to " + TestDevice.address());
        assertThat(((RpmaException) failure.getCause()).errnoName()).isEqualTo("ECONNREFUSED");
    }

    @Test
    void thePeerTowardsAServer() throws IOException {
        try (RpmaPeer towards = ErrorSamples.peerTowards(TestDevice.address())) {
            assertThat(towards.device()).isEqualTo(RpmaDevice.local(TestDevice.address()));
        }
        assertThatIOException()
                .isThrownBy(() -> ErrorSamples.peerTowards("256.256.256.256"))
                .withMessage("no local device reaches 256.256.256.256");
    }

    @Tag("remote-errors")
    @Test
    void aFailedOperationBreaksTheConnection() throws Exception {
        regions.target.close();
        pair.client.write(regions.remote, 0, regions.local, 0, 8, RpmaConn.F_COMPLETION_ALWAYS, 7);
        RpmaCompletions completions = RpmaCompletions.create(1);
        assertThatIOException()
                .isThrownBy(() -> ErrorSamples.takeCompletion(pair.client, completions))
                .withMessageStartingWith("operation 7: ");
        pair.client.write(regions.remote, 0, regions.local, 0, 8, RpmaConn.F_COMPLETION_ALWAYS, 8);
        assertThatIOException()
                .isThrownBy(() -> ErrorSamples.takeCompletion(pair.client, completions))
                .withMessageStartingWith("operation 8: ");
    }

    /** A send that waits for a receive stands for a dead host. */
    @Test
    void aSilentSideIsClosed() throws Exception {
        ExecutorService closer = Executors.newSingleThreadExecutor();
        CountDownLatch watched = new CountDownLatch(1);
        try (RpmaEventLoop loop = RpmaEventLoop.create()) {
            loop.onCompletion(pair.client.getCq(), 1, (cq, completions) -> {
                /* nothing is expected */
            });
            pair.client.send(RpmaConn.F_COMPLETION_ON_ERROR, 1);
            ErrorSamples.watch(
                    loop,
                    pair.client,
                    task -> closer.execute(() -> {
                        task.run();
                        watched.countDown();
                        loop.stop();
                    }));
            loop.run();
            assertThat(watched.await(Limit.WAIT_S, TimeUnit.SECONDS)).isTrue();
        } finally {
            closer.shutdown();
        }
        assertThatExceptionOfType(IllegalStateException.class)
                .isThrownBy(() -> pair.client.write(RpmaConn.F_COMPLETION_ALWAYS, 2))
                .withMessageContaining("closed");
    }

    @Tag("atomics")
    @Test
    void eachClientOfTheCounterTakesANumber() throws Exception {
        int port = TestDevice.port();
        Blocked server = new Blocked(() -> {
            Counter.serve(TestDevice.address(), port);
            return null;
        });
        for (long number = 0; number < 3; number++) {
            assertThat(Counter.take(TestDevice.address(), port, "client " + number))
                    .isEqualTo(number);
        }
        server.interrupt();
        assertThat(server.failure()).isInstanceOf(InterruptedException.class);
    }

    @Test
    void aClientOnALoopPostsMoreThanItsQueueHolds() throws Exception {
        int port = TestDevice.port();
        ExecutorService closer = Executors.newSingleThreadExecutor();
        try (RpmaEp ep = RpmaEp.listen(peer, TestDevice.address(), port);
                RunningLoop running = new RunningLoop()) {
            Blocked accepting = new Blocked(() -> ep.nextConnReq(null).connect(regions.target.getDescriptor()));
            LoopClient client = LoopClient.connect(running.loop, closer, peer, TestDevice.address(), port);
            List<CompletableFuture<Void>> stored = new ArrayList<>();
            for (int block = 0; block < BLOCKS; block++) {
                stored.add(ClientSamples.store(
                        client, regions.local, (long) block * ThroughputSamples.BLOCK, ThroughputSamples.BLOCK));
            }
            for (CompletableFuture<Void> each : stored) {
                each.get(Limit.WAIT_S, TimeUnit.SECONDS);
            }
            assertArrived(BLOCKS * ThroughputSamples.BLOCK);

            assertFails(ClientSamples.store(client, regions.local, -1, 8), IndexOutOfBoundsException.class);
            // only the write fails
            RpmaMrLocal closed = peer.register(regions.localMemory, RpmaMrUsage.WRITE_SRC);
            closed.close();
            assertFails(ClientSamples.store(client, closed, 0, 8), IllegalStateException.class);
            ((RpmaConn) accepting.result()).close();
            // before or after the client knows that its server is lost
            assertFails(ClientSamples.store(client, regions.local, 0, 8), IOException.class);
            client.close().get(Limit.WAIT_S, TimeUnit.SECONDS);
            assertFails(ClientSamples.store(client, regions.local, 0, 8), IOException.class);
        } finally {
            closer.shutdown();
            assertThat(closer.awaitTermination(Limit.WAIT_S, TimeUnit.SECONDS)).isTrue();
        }
    }

    private static void assertFails(CompletableFuture<Void> result, Class<? extends Exception> cause) {
        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(() -> result.get(Limit.WAIT_S, TimeUnit.SECONDS))
                .withCauseInstanceOf(cause);
    }

    @Test
    void aClientConnectsAgainAndStoresWhatTheServerHasLost() throws Exception {
        int port = TestDevice.port();
        try (RpmaEp ep = RpmaEp.listen(peer, TestDevice.address(), port);
                ReconnectingClient client = new ReconnectingClient(peer, TestDevice.address(), port, (conn, remote) -> {
                    conn.write(remote, 0, regions.local, 0, 1000, RpmaConn.F_COMPLETION_ALWAYS, 1);
                    ReconnectingClient.await(conn);
                })) {
            for (int life = 0; life < 2; life++) {
                Blocked accepting = new Blocked(() -> ep.nextConnReq(null).connect(regions.target.getDescriptor()));
                ClientSamples.store(client, regions.local, 1000, 1000);
                assertArrived(2000);
                ((RpmaConn) accepting.result()).close();
                regions.remoteMemory.buffer().put(new byte[2000]);
            }
        }
    }

    @Test
    void aWatchedClientConnectsAgainWithoutWork() throws Exception {
        int port = TestDevice.port();
        try (RpmaEp ep = RpmaEp.listen(peer, TestDevice.address(), port);
                ReconnectingClient client =
                        new ReconnectingClient(peer, TestDevice.address(), port, (conn, remote) -> {})) {
            Blocked watching = new Blocked(() -> {
                ClientSamples.watch(client);
                return null;
            });
            for (int life = 0; life < 2; life++) {
                ep.nextConnReq(null).connect(regions.target.getDescriptor()).close();
            }
            watching.interrupt();
            assertThat(watching.failure()).isInstanceOf(InterruptedException.class);
        }
    }

    @Test
    void aClientReportsAServerThatIsNone() throws Exception {
        int port = TestDevice.port();
        try (RpmaEp ep = RpmaEp.listen(peer, TestDevice.address(), port);
                ReconnectingClient client =
                        new ReconnectingClient(peer, TestDevice.address(), port, (conn, remote) -> {})) {
            Blocked accepting = new Blocked(() -> ep.nextConnReq(null).connect());
            assertThatIllegalArgumentException().isThrownBy(() -> ClientSamples.store(client, regions.local, 0, 8));
            ((RpmaConn) accepting.result()).close();
        }
    }
}
