// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.support;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaConn;
import io.rpma.RpmaConnCfg;
import io.rpma.RpmaConnEvent;
import io.rpma.RpmaDevice;
import io.rpma.RpmaEp;
import io.rpma.RpmaMemory;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrUsage;
import io.rpma.RpmaPeer;
import io.rpma.support.PersistRequest.Kind;
import io.rpma.testing.Limit;
import io.rpma.testing.TestDevice;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

/** A server that makes bytes persistent for its client. */
@Isolated("each side waits only 10 s for the other one")
class OfferedMemoryIT {
    private static final int SERVICE = 0x7465_7374;
    private static final int SIZE = 1 << 20;
    private static final int STAGING = 4096;

    /** Enough that the send queue is never full: soft-RoCE of Linux 6.1 stalls on a full queue that holds reads. */
    private static final int OPERATIONS = 2048;

    private final int port = TestDevice.port();
    private final String address = TestDevice.address();

    /** The time without an answer after which the server counts the client's host as dead, in seconds. */
    private int silence = Limit.WAIT_S;

    /** Uses a client's connection. */
    private interface Use {
        void use(RpmaPeer peer, RemoteConnection connection) throws Exception;
    }

    /** Serves the memory, offered as persistent or not, and returns why the client is gone. */
    private String serve(RpmaMemory memory, boolean persistent, boolean directWrite, Use use) throws Exception {
        ExecutorService executor = Executors.newSingleThreadExecutor();
        RpmaDevice device = RpmaDevice.local(address);
        try (RpmaPeer peer = RpmaPeer.create(device);
                RpmaMrLocal region = peer.register(
                        memory, RpmaMrUsage.WRITE_DST, RpmaMrUsage.READ_SRC, RpmaMrUsage.FLUSH_TYPE_VISIBILITY);
                OfferedMemory offered =
                        new OfferedMemory(peer, memory, describe(peer, region, persistent, directWrite));
                RpmaEp endpoint = RpmaEp.listen(peer, address, port)) {
            Future<String> end = executor.submit(() -> serveOne(endpoint, offered));
            try (RpmaPeer client = RpmaPeer.create(device);
                    RemoteConnection connection = RemoteConnection.open(
                            client, address, port, SERVICE, OPERATIONS, SECONDS.toNanos(Limit.WAIT_S))) {
                use.use(client, connection);
            } catch (Throwable e) {
                e.addSuppressed(new AssertionError("the server's end: " + end.get(Limit.WAIT_S, SECONDS)));
                throw e;
            }
            return end.get(Limit.WAIT_S, SECONDS);
        } finally {
            executor.shutdownNow();
        }
    }

    private static Offer describe(RpmaPeer peer, RpmaMrLocal region, boolean persistent, boolean directWrite) {
        Offer offer = Offer.of(peer, region, directWrite);
        return new Offer(offer.peerCfg(), offer.memory(), persistent, offer.nativeFlush());
    }

    private String serveOne(RpmaEp endpoint, OfferedMemory offered) throws InterruptedException {
        try (RpmaConnCfg cfg = OfferedMemory.connCfg();
                RpmaConn conn = offered.accept(
                        endpoint.nextConnReq(cfg, Limit.WAIT_S, SECONDS).orElseThrow(), SERVICE, Limit.WAIT_S)) {
            return offered.serve(conn, silence, SECONDS.toNanos(Limit.WAIT_S)).orElse("still there");
        }
    }

    /** The client stores and commits more records than there are slots for requests. */
    @Test
    void theServerPersistsWhereNoFlushDoes() throws Exception {
        try (RpmaMemory memory = RpmaMemory.allocate(SIZE)) {
            String end = serve(memory, true, false, (peer, connection) -> {
                assertThat(connection.persistence()).isEqualTo(Persistence.SERVER);
                storeAndRead(peer, connection, memory);
            });
            assertThat(end).isEqualTo(RpmaConnEvent.CLOSED.description());
        }
    }

    @Test
    void memoryThatIsNotPersistentIsFlushedForVisibility() throws Exception {
        try (RpmaMemory memory = RpmaMemory.allocate(SIZE)) {
            String end = serve(memory, false, true, (peer, connection) -> {
                assertThat(connection.persistence()).isEqualTo(Persistence.NONE);
                storeAndRead(peer, connection, memory);
            });
            assertThat(end).isEqualTo(RpmaConnEvent.CLOSED.description());
        }
    }

    private static void storeAndRead(RpmaPeer peer, RemoteConnection connection, RpmaMemory target) throws Exception {
        try (RpmaMemory staging = RpmaMemory.allocate(STAGING);
                RpmaMrLocal region = peer.register(staging, RpmaMrUsage.WRITE_SRC, RpmaMrUsage.READ_DST)) {
            RemoteMemory remote = new RemoteMemory(connection, region, Limit.WAIT_S);
            ByteBuffer words = staging.buffer().order(ByteOrder.LITTLE_ENDIAN);
            long records = 3 * PersistRequest.MOST;
            long ticket = 0;
            for (int record = 1; record <= records; record++) {
                int slot = record % (STAGING / Long.BYTES) * Long.BYTES;
                words.putLong(slot, record);
                remote.store((long) record * Long.BYTES, slot, Long.BYTES);
                ticket = remote.commit(0, record);
                if (record % (STAGING / Long.BYTES / 2) == 0) {
                    remote.await(ticket);
                    assertThat(remote.done()).isEqualTo(ticket);
                }
            }
            remote.await(ticket);
            ByteBuffer arrived = target.buffer().order(ByteOrder.LITTLE_ENDIAN);
            assertThat(arrived.getLong(0)).isEqualTo(records);
            for (int record = 1; record <= records; record++) {
                assertThat(arrived.getLong(record * Long.BYTES)).isEqualTo(record);
            }
            remote.read(0, 0, Long.BYTES);
            assertThat(words.getLong(0)).isEqualTo(records);
        }
    }

    @Test
    void aClientThatAsksForBytesOfOthersIsGone() throws Exception {
        try (RpmaMemory memory = RpmaMemory.allocate(SIZE)) {
            String end = serve(memory, true, false, (peer, connection) -> {
                PersistRequests requests = connection.requests();
                assertThat(requests.ask(new PersistRequest(Kind.COMMIT, SIZE, -1), 1))
                        .isTrue();
                assertThat(connection.conn().nextEvent(Limit.WAIT_S, SECONDS)).contains(RpmaConnEvent.CLOSED);
            });
            assertThat(end).startsWith("it has sent a wrong request: ");
            byte[] content = new byte[SIZE];
            memory.buffer().get(content);
            assertThat(content).isEqualTo(new byte[SIZE]);
        }
    }

    /** The short message arrives in the slot of an earlier request, whose other bytes are still there. */
    @Test
    void aClientThatSendsAShortRequestIsGone() throws Exception {
        try (RpmaMemory memory = RpmaMemory.allocate(SIZE);
                RpmaMemory staging = RpmaMemory.allocate(STAGING)) {
            String end = serve(memory, true, false, (peer, connection) -> {
                RpmaConn conn = connection.conn();
                PersistRequests requests = connection.requests();
                RpmaCompletions completions = RpmaCompletions.create(1);
                for (int i = 0; i < PersistRequest.MOST; i++) {
                    assertThat(requests.ask(new PersistRequest(Kind.COMMIT, 0, 1), i))
                            .isTrue();
                    for (int awaited = 0; awaited < 2; awaited++) { // the send and the answer
                        assertThat(conn.getCq().await(completions, Limit.WAIT_S, SECONDS))
                                .isOne();
                        assertThat(completions.isSuccess(0)).isTrue();
                    }
                    requests.sent();
                    requests.answered();
                }
                new PersistRequest(Kind.COMMIT, Long.BYTES, 0).put(staging.buffer());
                try (RpmaMrLocal region = peer.register(staging, RpmaMrUsage.SEND, RpmaMrUsage.RECV)) {
                    assertThat(conn.recv(region, 0, 0, 0)).isTrue();
                    assertThat(conn.send(region, 0, 2 * Long.BYTES, RpmaConn.F_COMPLETION_ON_ERROR, 0))
                            .isTrue();
                    assertThat(conn.nextEvent(Limit.WAIT_S, SECONDS)).contains(RpmaConnEvent.CLOSED);
                }
            });
            assertThat(end).isEqualTo("it has sent a wrong request: a request has 24 bytes, not 16");
            assertThat(memory.buffer().order(ByteOrder.LITTLE_ENDIAN).getLong(Long.BYTES))
                    .isZero();
        }
    }

    /**
     * The client posts no receive for the answer, so that nothing on the server completes, as if the client's host were
     * dead.
     */
    @Test
    @Tag("remote-errors")
    void aClientThatDoesNotAnswerIsGone() throws Exception {
        silence = 1;
        try (RpmaMemory memory = RpmaMemory.allocate(SIZE);
                RpmaMemory staging = RpmaMemory.allocate(STAGING)) {
            String end = serve(memory, false, false, (peer, connection) -> {
                new PersistRequest(Kind.PERSIST, 0, Long.BYTES).put(staging.buffer());
                try (RpmaMrLocal region = peer.register(staging, RpmaMrUsage.SEND)) {
                    RpmaConn conn = connection.conn();
                    assertThat(conn.send(region, 0, PersistRequest.LENGTH, RpmaConn.F_COMPLETION_ON_ERROR, 0))
                            .isTrue();
                    assertThat(conn.nextEvent(Limit.WAIT_S, SECONDS)).contains(RpmaConnEvent.CLOSED);
                }
            });
            assertThat(end).isEqualTo("no answer within 1 s");
        }
    }

    @Test
    void aServerThatDoesNotAnswerIsGone() throws Exception {
        try (RpmaMemory memory = RpmaMemory.allocate(SIZE);
                RpmaMemory staging = RpmaMemory.allocate(STAGING)) {
            serve(memory, true, false, (peer, connection) -> {
                try (RpmaMrLocal region = peer.register(staging, RpmaMrUsage.WRITE_SRC, RpmaMrUsage.READ_DST)) {
                    RemoteMemory remote = new RemoteMemory(connection, region, 1);
                    connection.conn().disconnect();
                    assertThatExceptionOfType(LostException.class)
                            .isThrownBy(() -> remote.await(remote.store(0, 0, Long.BYTES)));
                }
            });
        }
    }
}
