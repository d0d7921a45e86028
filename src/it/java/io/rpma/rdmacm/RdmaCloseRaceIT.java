// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.rdmacm;

import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaException;
import io.rpma.internal.OpenResources;
import io.rpma.testing.Race;
import io.rpma.testing.RdmaDatagramPair;
import io.rpma.testing.RdmaPair;
import io.rpma.testing.TestDevice;
import io.rpma.testing.Together;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Locale;
import java.util.NoSuchElementException;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Closes ids, regions and other objects of librdmacm that other threads use; {@code io.rpma.CloseRaceIT} is for
 * librpma.
 */
@Tag("soak")
@Tag("stand-in")
class RdmaCloseRaceIT {
    private static final int SIZE = 64;
    private static final int SIGNALED = RdmaQp.F_SIGNALED;
    private static final RdmaInlineData BYTES = RdmaInlineData.create(32);

    private static final ThreadLocal<RpmaCompletions> COMPLETIONS =
            ThreadLocal.withInitial(() -> RpmaCompletions.create(16));

    private static final ThreadLocal<RdmaSgeList> LISTS = ThreadLocal.withInitial(() -> RdmaSgeList.create(2));

    private static final ThreadLocal<RdmaBatch> BATCHES = ThreadLocal.withInitial(() -> RdmaBatch.create(16, 256));

    private OpenResources before;

    @BeforeAll
    static void findDevice() {
        TestDevice.address();
    }

    @BeforeEach
    void count() throws InterruptedException {
        RdmaPair.connect().close();
        before = OpenResources.now();
    }

    @AfterEach
    void nothingIsLeft() {
        before.assertSameNow(4);
    }

    /** A connection, with one more region that can be closed by itself and does not keep the client open. */
    private static final class Ends implements AutoCloseable {
        final RdmaPair pair = RdmaPair.connect();
        final RdmaQp qp = pair.client.qp();
        final long remote = pair.serverMr.address();
        final int rkey = pair.serverMr.rkey();
        volatile RdmaMr local = region();

        Ends() throws InterruptedException {}

        final RdmaMr region() {
            return RdmaMr.regMsgs(pair.server, ByteBuffer.allocateDirect(SIZE));
        }

        RdmaSgeList list() {
            return LISTS.get().clear().add(local, 0, 8).add(local, 8, 8);
        }

        /** Closes the client, after the region that keeps it open. */
        void closeClient() {
            pair.clientMr.close();
            pair.client.close();
        }

        @Override
        public void close() {
            local.close();
            pair.close();
        }
    }

    private interface Post {
        void post(Ends ends);
    }

    /** The calls that do not block, named after their methods. */
    private enum Hot {
        POST_WRITE(ends -> ends.qp.postWrite(ends.local, 0, SIZE, SIGNALED, ends.remote, ends.rkey, 1)),
        POST_WRITEV(ends -> ends.qp.postWritev(ends.list(), SIGNALED, ends.remote, ends.rkey, 1)),
        POST_WRITE_INLINE(ends -> ends.qp.postWriteInline(BYTES, 32, SIGNALED, ends.remote, ends.rkey, 1)),
        POST_WRITE_WITH_IMM(
                ends -> ends.qp.postWriteWithImm(ends.local, 0, SIZE, SIGNALED, ends.remote, ends.rkey, 2, 1)),
        POST_WRITE_WITH_IMM_INLINE(
                ends -> ends.qp.postWriteWithImmInline(BYTES, 32, SIGNALED, ends.remote, ends.rkey, 2, 1)),
        POST_READ(ends -> ends.qp.postRead(ends.local, 0, SIZE, SIGNALED, ends.remote, ends.rkey, 1)),
        POST_READV(ends -> ends.qp.postReadv(ends.list(), SIGNALED, ends.remote, ends.rkey, 1)),
        POST_SEND(ends -> ends.qp.postSend(ends.local, 0, SIZE, SIGNALED, 1)),
        POST_SENDV(ends -> ends.qp.postSendv(ends.list(), SIGNALED, 1)),
        POST_SEND_INLINE(ends -> ends.qp.postSendInline(BYTES, 32, SIGNALED, 1)),
        POST_SEND_WITH_IMM(ends -> ends.qp.postSendWithImm(ends.local, 0, SIZE, SIGNALED, 2, 1)),
        POST_SEND_WITH_IMM_INLINE(ends -> ends.qp.postSendWithImmInline(BYTES, 32, SIGNALED, 2, 1)),
        POST_RECV(ends -> ends.qp.postRecv(ends.local, 0, SIZE, 1)),
        POST_RECVV(ends -> ends.qp.postRecvv(ends.list(), 1)),
        POST_COMPARE_AND_SWAP(
                ends -> ends.qp.postCompareAndSwap(ends.local, 0, SIGNALED, ends.remote, ends.rkey, 1, 2, 1)),
        POST_FETCH_AND_ADD(ends -> ends.qp.postFetchAndAdd(ends.local, 0, SIGNALED, ends.remote, ends.rkey, 1, 1)),
        BATCH(RdmaCloseRaceIT::postBatch),
        BATCH_OF_RECEIVES(RdmaCloseRaceIT::postBatchOfReceives),
        BATCH_PREPARED(RdmaCloseRaceIT::postPreparedBatch),
        POLL_SEND_COMP(ends -> {}),
        POLL_RECV_COMP(ends -> ends.qp.pollRecvComp(COMPLETIONS.get()));

        private final Post post;

        Hot(Post post) {
            this.post = post;
        }

        /** Makes the call, and polls to make room for the next call. */
        boolean use(Ends ends) {
            post.post(ends);
            ends.qp.pollSendComp(COMPLETIONS.get());
            return true;
        }
    }

    private static RdmaBatch emptyBatch() {
        RdmaBatch batch = BATCHES.get();
        batch.clear();
        return batch;
    }

    private static void postBatch(Ends ends) {
        record(ends).post();
    }

    /** Posts several times, so that the close can also happen between two posts. */
    private static void postPreparedBatch(Ends ends) {
        RdmaBatch batch = emptyBatch();
        batch.write(ends.qp, ends.local, 0, SIZE, SIGNALED, ends.remote, ends.rkey, 1);
        batch.writeInline(ends.qp, BYTES, 32, SIGNALED, ends.remote, ends.rkey, 1);
        batch.read(ends.qp, ends.local, 0, SIZE, SIGNALED, ends.remote, ends.rkey, 1);
        RdmaPreparedBatch prepared = batch.prepare();
        // knows the size of the region, even if the region is closed while the batch is prepared
        prepared.setRange(0, 0, SIZE);
        for (int i = 0; i < 4; i++) {
            prepared.post();
            ends.qp.pollSendComp(COMPLETIONS.get());
        }
    }

    private static RdmaBatch record(Ends ends) {
        RdmaBatch batch = emptyBatch();
        RdmaQp qp = ends.qp;
        batch.write(qp, ends.local, 0, SIZE, SIGNALED, ends.remote, ends.rkey, 1);
        batch.writeInline(qp, BYTES, 32, SIGNALED, ends.remote, ends.rkey, 1);
        batch.read(qp, ends.local, 0, SIZE, SIGNALED, ends.remote, ends.rkey, 1);
        batch.fetchAndAdd(qp, ends.local, 0, SIGNALED, ends.remote, ends.rkey, 1, 1);
        batch.send(qp, ends.local, 0, SIZE, SIGNALED, 1);
        batch.sendInline(qp, BYTES, 32, SIGNALED, 1);
        return batch;
    }

    /** The receives of the server go to another queue, whose id is not closed. */
    private static void postBatchOfReceives(Ends ends) {
        RdmaBatch batch = emptyBatch();
        batch.recv(ends.qp, ends.local, 0, SIZE, 1);
        batch.recv(ends.qp, ends.local, 8, 8, 1);
        batch.recv(ends.pair.server.qp(), ends.local, 0, SIZE, 1);
        batch.post();
    }

    @ParameterizedTest
    @EnumSource
    void theIdIsClosed(Hot hot) throws Exception {
        try (Race race = new Race(2)) {
            for (int round = 0; round < Race.CONNECTIONS; round++) {
                try (Ends ends = new Ends()) {
                    race.run(() -> hot.use(ends), ends::closeClient);
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource(
            mode = EnumSource.Mode.MATCH_NONE,
            names = {".*_INLINE", "POLL_.*"})
    void theRegionIsClosed(Hot hot) throws Exception {
        try (Race race = new Race(2)) {
            for (int done = 0; done < Race.ROUNDS; done += Race.ROUNDS_OF_CONNECTION) {
                try (Ends ends = new Ends()) {
                    for (int round = 0; round < Race.ROUNDS_OF_CONNECTION; round++) {
                        race.run(() -> hot.use(ends), () -> ends.local.close());
                        ends.local = ends.region();
                    }
                }
            }
        }
    }

    private interface Wait {
        void await(Ends ends) throws InterruptedException;
    }

    private enum Waiting {
        NEXT_EVENT(ends -> ends.pair.client.nextEvent()),
        NEXT_EVENT_FOR_SOME_TIME(ends -> ends.pair.client.nextEvent(10, TimeUnit.MICROSECONDS)),
        AWAIT_EVENT(ends -> ends.pair.client.awaitEvent(RdmaEventType.DISCONNECTED, 1, TimeUnit.MINUTES)),
        GET_SEND_COMP(ends -> ends.qp.getSendComp(COMPLETIONS.get())),
        GET_SEND_COMP_FOR_SOME_TIME(ends -> ends.qp.getSendComp(COMPLETIONS.get(), 10, TimeUnit.MICROSECONDS)),
        GET_RECV_COMP(ends -> ends.qp.getRecvComp(COMPLETIONS.get())),
        GET_RECV_COMP_FOR_SOME_TIME(ends -> ends.qp.getRecvComp(COMPLETIONS.get(), 10, TimeUnit.MICROSECONDS)),
        GET_SOLICITED_RECV_COMP(ends -> ends.qp.getSolicitedRecvComp(COMPLETIONS.get())),
        GET_SOLICITED_RECV_COMP_FOR_SOME_TIME(
                ends -> ends.qp.getSolicitedRecvComp(COMPLETIONS.get(), 10, TimeUnit.MICROSECONDS)),
        GET_SEND_COMP_WHILE_CONNECTED(
                ends -> untilEnd(() -> ends.qp.getSendCompWhileConnected(COMPLETIONS.get(), 1, TimeUnit.HOURS))),
        GET_RECV_COMP_WHILE_CONNECTED(
                ends -> untilEnd(() -> ends.qp.getRecvCompWhileConnected(COMPLETIONS.get(), 1, TimeUnit.HOURS)));

        private final Wait wait;

        Waiting(Wait wait) {
            this.wait = wait;
        }

        private interface Call {
            int run() throws InterruptedException;
        }

        /** The end of the connection can come before the close. */
        private static void untilEnd(Call call) throws InterruptedException {
            try {
                call.run();
            } catch (RpmaException e) {
                assertThat(e.errnoName()).as(e.getMessage()).isEqualTo("ENOTCONN");
            }
        }
    }

    /** In every second round, the awaited events and completions arrive while the id is closed. */
    @ParameterizedTest
    @EnumSource
    void theIdIsClosedWhileWaiting(Waiting waiting) throws Exception {
        try (Race race = new Race(2)) {
            for (int round = 0; round < Race.CONNECTIONS; round++) {
                boolean happens = round % 2 == 0;
                try (Ends ends = new Ends()) {
                    ends.qp.postRecv(ends.local, 0, SIZE, 1);
                    race.run(
                            () -> {
                                waiting.wait.await(ends);
                                return true;
                            },
                            () -> {
                                if (happens) {
                                    ends.qp.postWriteInline(BYTES, 32, SIGNALED, ends.remote, ends.rkey, 1);
                                    ends.pair.server.qp().postSendInline(BYTES, 32, SIGNALED, 1);
                                    ends.pair.server.disconnect();
                                }
                                ends.closeClient();
                            });
                }
            }
        }
    }

    private enum Cold {
        DISCONNECT(id -> id.disconnect()),
        LOCAL_ADDR(id -> id.localAddr()),
        PEER_ADDR(id -> id.peerAddr()),
        CREATE_QP(id -> id.createQp(RdmaPair.attr())),
        CREATE_SRQ(id -> id.createSrq(1, 1)),
        REG_MSGS(id -> RdmaMr.regMsgs(id, ByteBuffer.allocateDirect(SIZE)).close()),
        REJECT(id -> id.reject(new byte[0])),
        CONNECT(id -> id.connect(new RdmaConnParam())),
        ACCEPT(id -> id.accept(new RdmaConnParam())),
        LISTEN(id -> id.listen(0)),
        RESOLVE_ROUTE(id -> id.resolveRoute(1)),
        SET_REUSE_ADDR(id -> id.setReuseAddr(true)),
        SET_TOS(id -> id.setTos(1)),
        SET_ACK_TIMEOUT(id -> id.setAckTimeout(14)),
        BIND_ADDR(id -> id.bindAddr(RdmaPair.address(0))),
        RESOLVE_ADDR(id -> id.resolveAddr(null, RdmaPair.address(1), 1));

        private final Consumer<RdmaId> call;

        Cold(Consumer<RdmaId> call) {
            this.call = call;
        }

        /** A wrong state of the id is no failure, but the exception for a closed id is rethrown. */
        boolean use(RdmaId id) {
            giveWay();
            try {
                call.accept(id);
            } catch (RpmaException e) {
                return true;
            } catch (IllegalStateException e) {
                if (e.getMessage().contains("closed")) {
                    throw e;
                }
            }
            return true;
        }
    }

    @ParameterizedTest
    @EnumSource
    void anIdWithADeviceIsClosed(Cold cold) throws Exception {
        int port = TestDevice.port();
        try (Race race = new Race(2)) {
            for (int round = 0; round < Race.CONNECTIONS; round++) {
                RdmaId id = RdmaPair.resolved(port);
                race.run(() -> cold.use(id), () -> closeUntilChildless(id));
            }
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"SET_REUSE_ADDR", "SET_TOS", "SET_ACK_TIMEOUT", "BIND_ADDR", "RESOLVE_ADDR"})
    void anIdWithoutADeviceIsClosed(Cold cold) throws Exception {
        try (Race race = new Race(2)) {
            for (int round = 0; round < Race.ROUNDS; round++) {
                RdmaId id = RdmaId.create(RdmaPortSpace.TCP);
                race.run(() -> cold.use(id), id::close);
            }
        }
    }

    /**
     * Yields while this thread has no region or address handle of the id: on one processor, the closing thread would
     * otherwise run for minutes until it finds the id without any.
     */
    private static void giveWay() {
        Thread.yield();
    }

    /** Retries, because a region or an address handle of another thread keeps the id open for a moment. */
    private static void closeUntilChildless(RdmaId id) {
        while (true) {
            try {
                id.close();
                return;
            } catch (IllegalStateException e) {
                if (!e.getMessage().contains("can't be closed before")) {
                    throw e;
                }
                giveWay();
            }
        }
    }

    @Test
    void aListenerIsClosed() throws Exception {
        int port = TestDevice.port();
        try (Race race = new Race(2)) {
            for (int round = 0; round < Race.CONNECTIONS; round++) {
                RdmaId listener = RdmaPair.listen(port);
                try (RdmaId client = RdmaPair.prepared(port)) {
                    client.connect(new RdmaConnParam());
                    race.run(
                            () -> {
                                listener.getRequest().close();
                                return true;
                            },
                            listener::close);
                }
            }
        }
    }

    @Test
    void theOwnerOfASharedReceiveQueueIsClosed() throws Exception {
        try (Race race = new Race(2);
                RdmaPair pair = RdmaPair.connect()) {
            for (int round = 0; round < Race.ROUNDS; round++) {
                RdmaId owner = RdmaId.create(RdmaPortSpace.TCP);
                owner.bindAddr(RdmaPair.address(0));
                RdmaSrq srq = owner.createSrq(4, 1);
                race.run(
                        () -> {
                            srq.postRecv(pair.clientMr, 0, SIZE, 1);
                            srq.postRecvv(LISTS.get().clear().add(pair.clientMr, 0, 8), 1);
                            RdmaBatch batch = emptyBatch();
                            batch.recv(srq, pair.clientMr, 0, SIZE, 1);
                            batch.recv(srq, pair.clientMr, 8, 8, 1);
                            batch.post();
                            return true;
                        },
                        owner::close);
            }
        }
    }

    /** Two ids for datagrams, with memory to send from. */
    private static final class Datagrams implements AutoCloseable {
        final RdmaDatagramPair pair = RdmaDatagramPair.connect();
        final RdmaMr region = RdmaMr.regMsgs(pair.server, ByteBuffer.allocateDirect(SIZE));

        Datagrams() throws InterruptedException {}

        RdmaAh ah() {
            return pair.client.createAh(pair.established);
        }

        boolean send(RdmaAh ah) {
            RdmaQp qp = pair.client.qp();
            int to = pair.established.qpNum();
            qp.postUdSend(region, 0, SIZE, SIGNALED, ah, to, 1);
            qp.postUdSendInline(BYTES, 32, SIGNALED, ah, to, 1);
            qp.postUdSendWithImm(region, 0, SIZE, SIGNALED, ah, to, RdmaQp.UDP_QKEY, 2, 1);
            qp.postUdSendWithImmInline(BYTES, 32, SIGNALED, ah, to, RdmaQp.UDP_QKEY, 2, 1);
            qp.pollSendComp(COMPLETIONS.get());
            return true;
        }

        @Override
        public void close() {
            region.close();
            pair.close();
        }
    }

    @Test
    @Tag("datagrams")
    void anAddressHandleIsClosed() throws Exception {
        try (Race race = new Race(2);
                Datagrams datagrams = new Datagrams()) {
            for (int round = 0; round < Race.ROUNDS; round++) {
                RdmaAh ah = datagrams.ah();
                race.run(() -> datagrams.send(ah), ah::close);
            }
        }
    }

    @Test
    @Tag("datagrams")
    void anIdForDatagramsIsClosed() throws Exception {
        try (Race race = new Race(2)) {
            for (int round = 0; round < Race.CONNECTIONS; round++) {
                try (Datagrams datagrams = new Datagrams()) {
                    RdmaAh ah = datagrams.ah();
                    race.run(() -> datagrams.send(ah), () -> {
                        ah.close();
                        datagrams.pair.client.close();
                    });
                }
            }
        }
    }

    @Test
    @Tag("datagrams")
    void anIdIsClosedThatAddressHandlesAreMadeFor() throws Exception {
        try (Race race = new Race(2);
                RdmaDatagramPair pair = RdmaDatagramPair.connect()) {
            for (int round = 0; round < Race.ROUNDS; round++) {
                RdmaId id = RdmaId.create(RdmaPortSpace.UDP);
                id.bindAddr(RdmaPair.address(0));
                race.run(
                        () -> {
                            giveWay();
                            id.createAh(pair.established).close();
                            return true;
                        },
                        () -> closeUntilChildless(id));
            }
        }
    }

    @Test
    @Tag("datagrams")
    void aRegionIsClosedThatADatagramIsIn() throws Exception {
        ByteBuffer memory = ByteBuffer.allocateDirect(SIZE);
        try (Race race = new Race(2);
                RdmaDatagramPair pair = RdmaDatagramPair.connect()) {
            RpmaCompletions received;
            try (RdmaMr region = RdmaMr.regMsgs(pair.server, memory)) {
                received = pair.receive(region, 0);
            }
            for (int round = 0; round < Race.ROUNDS; round++) {
                RdmaMr region = RdmaMr.regMsgs(pair.server, memory);
                race.run(
                        () -> {
                            pair.server.createAh(received, 0, region, 0).close();
                            return true;
                        },
                        region::close);
            }
        }
    }

    @Test
    void anAddressIsClosed() throws Exception {
        int port = TestDevice.port();
        try (Race race = new Race(2)) {
            for (int round = 0; round < Race.CONNECTIONS; round++) {
                RdmaAddrInfo info = RdmaAddrInfo.active(TestDevice.address(), port, RdmaPortSpace.TCP);
                race.run(
                        () -> {
                            RdmaId.createEp(info, null).close();
                            return true;
                        },
                        info::close);
            }
        }
    }

    /** Concurrent use is forbidden, but must do no harm. */
    @Test
    @Tag("datagrams")
    @Tag("immediate-data")
    void threadsUseOneBatchAtOnce() throws Exception {
        AtomicLong posted = new AtomicLong();
        for (int round = 0; round < Race.CONNECTIONS; round++) {
            try (Ends ends = new Ends();
                    Datagrams datagrams = new Datagrams();
                    RdmaId owner = RdmaId.create(RdmaPortSpace.TCP)) {
                owner.bindAddr(RdmaPair.address(0));
                Shared shared = new Shared(ends, datagrams, owner.createSrq(16, 2));
                int seed = round;
                Together.run(3, thread -> {
                    SplittableRandom random = new SplittableRandom(10L * seed + thread);
                    for (int i = 0; i < 10_000; i++) {
                        posted.addAndGet(shared.use(random));
                    }
                });
            }
        }
        assertThat(posted.get()).isPositive();
    }

    /** As {@link #threadsUseOneBatchAtOnce}, with a chain that changes while others post it. */
    @Test
    @Tag("immediate-data")
    void threadsUseOnePreparedBatchAtOnce() throws Exception {
        AtomicLong posted = new AtomicLong();
        for (int round = 0; round < Race.CONNECTIONS; round++) {
            try (Ends ends = new Ends()) {
                SharedPrepared shared = new SharedPrepared(ends);
                int seed = round;
                Together.run(3, thread -> {
                    SplittableRandom random = new SplittableRandom(10L * seed + thread);
                    for (int i = 0; i < 5000; i++) {
                        posted.addAndGet(shared.use(random));
                    }
                    if (thread == 0) {
                        shared.closeEnds();
                    }
                });
            }
        }
        assertThat(posted.get()).isPositive();
    }

    /** A prepared batch that is replaced at times, with the objects for its operations. */
    private static final class SharedPrepared {
        private static final int OPERATIONS = 3;

        private final RdmaInlineData data = RdmaInlineData.create(32);
        private final Ends ends;
        private volatile RdmaPreparedBatch prepared;

        SharedPrepared(Ends ends) {
            this.ends = ends;
            prepared = prepare();
        }

        private RdmaPreparedBatch prepare() {
            RdmaQp qp = ends.qp;
            RdmaBatch batch = RdmaBatch.create(OPERATIONS, 32);
            batch.write(qp, ends.local, 0, SIZE, SIGNALED, ends.remote, ends.rkey, 1);
            batch.writeInline(qp, data, 32, SIGNALED, ends.remote, ends.rkey, 1);
            batch.writeWithImm(qp, ends.local, 0, SIZE, SIGNALED, ends.remote, ends.rkey, 1, 1);
            return batch.prepare();
        }

        void closeEnds() {
            ends.close();
        }

        /** Makes a random call, and returns the number of rounds that it has completed. */
        int use(SplittableRandom random) {
            RdmaPreparedBatch shared = prepared;
            try {
                int completed = call(shared, random) ? 1 : 0;
                ends.qp.pollSendComp(COMPLETIONS.get());
                return completed;
            } catch (RpmaException | IllegalStateException | IllegalArgumentException e) {
                // mixed rounds can have any failure
                return 0;
            }
        }

        private boolean call(RdmaPreparedBatch shared, SplittableRandom random) {
            switch (random.nextInt(10)) {
                case 0 -> prepared = prepare();
                case 1 -> shared.setContext(random.nextInt(OPERATIONS), 2);
                case 2 -> shared.setRange(0, random.nextInt(8), random.nextInt(9));
                case 3 -> shared.setInline(1, data, random.nextInt(33));
                case 4 -> shared.setImm(2, random.nextInt());
                default -> {
                    return shared.post();
                }
            }
            return false;
        }
    }

    /** A batch with the objects for its operations. */
    private static final class Shared {
        private final RdmaBatch batch = RdmaBatch.create(7, 200);
        private final Ends ends;
        private final Datagrams datagrams;
        private final RdmaSrq srq;

        Shared(Ends ends, Datagrams datagrams, RdmaSrq srq) {
            this.ends = ends;
            this.datagrams = datagrams;
            this.srq = srq;
        }

        /** Makes a random call, and returns the number of operations that it has posted. */
        int use(SplittableRandom random) {
            try {
                return random.nextInt(4) == 0 ? post() : record(random);
            } catch (RpmaException | IllegalStateException | NoSuchElementException e) {
                // mixed records can have any failure
                batch.clear();
                return 0;
            }
        }

        private int post() {
            int posted = batch.post();
            if (posted == 0) {
                makeRoom();
            }
            ends.qp.pollSendComp(COMPLETIONS.get());
            ends.qp.pollRecvComp(COMPLETIONS.get());
            datagrams.pair.client.qp().pollSendComp(COMPLETIONS.get());
            return posted;
        }

        /** Takes part of the other side: a message occupies the send queue until there is a receive, and vice versa. */
        private void makeRoom() {
            RdmaQp server = ends.pair.server.qp();
            server.postRecv(ends.pair.serverMr, 0, SIZE, 1);
            server.postSendInline(BYTES, 8, SIGNALED, 1);
            server.pollRecvComp(COMPLETIONS.get());
            server.pollSendComp(COMPLETIONS.get());
            batch.clear();
        }

        private int record(SplittableRandom random) {
            RdmaQp qp = ends.qp;
            switch (random.nextInt(11)) {
                case 0 -> batch.write(qp, ends.local, 0, SIZE, SIGNALED, ends.remote, ends.rkey, 1);
                case 1 -> batch.writeInline(qp, BYTES, 32, SIGNALED, ends.remote, ends.rkey, 1);
                case 2 -> batch.read(qp, ends.local, 0, SIZE, SIGNALED, ends.remote, ends.rkey, 1);
                case 3 -> batch.send(qp, ends.local, 0, SIZE, SIGNALED, 1);
                case 4 -> batch.sendInline(qp, BYTES, 32, SIGNALED, 1);
                case 5 -> batch.compareAndSwap(qp, ends.local, 0, SIGNALED, ends.remote, ends.rkey, 1, 2, 1);
                case 6 -> batch.recv(qp, ends.local, 0, SIZE, 1);
                case 7 -> batch.recv(datagrams.pair.client.qp(), datagrams.region, 0, SIZE, 1);
                case 8 -> batch.recv(srq, ends.local, 0, SIZE, 1);
                case 9 -> batch.signalLast();
                default -> batch.removeFirst();
            }
            return 0;
        }
    }

    @Test
    void everyPostRaces() {
        Set<String> posts = Arrays.stream(RdmaQp.class.getMethods())
                .filter(method -> method.getDeclaringClass() == RdmaQp.class)
                .map(Method::getName)
                .filter(name -> name.startsWith("post") || name.startsWith("poll"))
                .collect(Collectors.toCollection(TreeSet::new));
        Set<String> raced = Arrays.stream(Hot.values())
                .map(hot -> hot.name().replace("_", "").toLowerCase(Locale.ROOT))
                .filter(name -> !name.startsWith("batch"))
                .collect(Collectors.toCollection(TreeSet::new));
        raced.addAll(Set.of("postudsend", "postudsendinline", "postudsendwithimm", "postudsendwithimminline"));
        assertThat(posts.stream().map(name -> name.toLowerCase(Locale.ROOT)))
                .containsExactlyInAnyOrderElementsOf(raced);
    }
}
