// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools.perf;

import static java.util.concurrent.TimeUnit.MILLISECONDS;

import io.rpma.RpmaBatch;
import io.rpma.RpmaCompletions;
import io.rpma.RpmaConn;
import io.rpma.RpmaConnCfg;
import io.rpma.RpmaCq;
import io.rpma.RpmaFlushType;
import io.rpma.RpmaMemory;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrRemote;
import io.rpma.RpmaMrUsage;
import io.rpma.RpmaPeer;
import io.rpma.RpmaPeerCfg;
import io.rpma.RpmaWcOpcode;
import io.rpma.support.ByteSize;
import io.rpma.support.Connector;
import io.rpma.support.LostException;
import io.rpma.support.Offer;
import java.io.IOException;
import java.util.Objects;
import java.util.stream.Stream;

/** A connection of librpma for one measurement. */
final class PerfConnection extends PerfEnd {
    private final PerfRequest request;
    private final RpmaMemory memory;
    private final RpmaMrLocal region;
    private final RpmaConn conn;
    private final RpmaCq cq;
    private final RpmaMrRemote remote;
    private final RpmaBatch batch;
    private final RpmaCompletions completions;

    private PerfConnection(
            Connector connector,
            PerfRequest request,
            RpmaMemory memory,
            RpmaMrLocal region,
            RpmaConn conn,
            RpmaMrRemote remote,
            int list) {
        super(connector, request, list);
        this.request = request;
        this.memory = memory;
        this.region = region;
        this.conn = conn;
        this.remote = remote;
        cq = conn.getCq();
        batch = list == 1 ? null : RpmaBatch.create(2 * list);
        completions = RpmaCompletions.create(completions(request));
        for (int i = 0; request.operation().isAnswered() && i < request.depth(); i++) {
            receive();
        }
    }

    /**
     * Connects.
     *
     * @param list the most operations of one post
     * @param timeout for the answer, in nanoseconds
     * @throws UnsupportedOperationException if the two sides can't carry out the operation; the message has the reason
     * @throws LostException if the other side can't be reached, does not answer, or rejects the connection
     * @throws IOException if another program answers
     */
    static PerfConnection open(RpmaPeer peer, Connector connector, PerfRequest request, int list, long timeout)
            throws IOException, InterruptedException {
        RpmaMemory memory = RpmaMemory.allocate(request.memory());
        RpmaMrLocal region = null;
        RpmaConn conn = null;
        RpmaMrRemote remote = null;
        boolean open = false;
        try (RpmaConnCfg cfg = connCfg(request)) {
            region = peer.register(
                    memory, RpmaMrUsage.WRITE_SRC, RpmaMrUsage.READ_DST, RpmaMrUsage.SEND, RpmaMrUsage.RECV);
            conn = connector.connect(peer, cfg, request.toPrivateData(), timeout);
            Offer offer = offer(connector, conn);
            remote = request.operation() == PerfOperation.SEND ? null : offer.openMemory();
            if (request.operation().isFlushed()) {
                allowFlush(request.operation(), conn, offer, remote);
            }
            PerfConnection connection = new PerfConnection(connector, request, memory, region, conn, remote, list);
            open = true;
            return connection;
        } finally {
            if (!open) {
                close(remote, conn, region, memory);
            }
        }
    }

    private static RpmaConnCfg connCfg(PerfRequest request) {
        int size = sendQueue(request);
        return RpmaConnCfg.create().setSqSize(size).setRqSize(request.depth()).setCqSize(size + request.depth());
    }

    private static Offer offer(Connector connector, RpmaConn conn) throws IOException {
        try {
            return Offer.fromPrivateData(conn.getPrivateData(), PerfRequest.SERVICE);
        } catch (IOException e) {
            throw connector.anotherProgram();
        }
    }

    private static void allowFlush(PerfOperation operation, RpmaConn conn, Offer offer, RpmaMrRemote remote) {
        checkFlush(operation, conn.isFlushNative(), offer, remote);
        if (operation == PerfOperation.FLUSH_PERSISTENT) {
            try (RpmaPeerCfg platform = RpmaPeerCfg.create().setDirectWriteToPmem(true)) {
                conn.applyRemotePeerCfg(platform);
            }
        }
    }

    /**
     * Checks whether the two sides can carry out a flush.
     *
     * @param flushNative whether this side's device flushes natively
     * @throws UnsupportedOperationException if they can't; the message has the reason
     */
    static void checkFlush(PerfOperation operation, boolean flushNative, Offer offer, RpmaMrRemote remote) {
        if (flushNative && !offer.nativeFlush()) {
            throw new UnsupportedOperationException(
                    "this side's device flushes natively, and the server's device refuses that");
        }
        if (operation == PerfOperation.FLUSH_PERSISTENT) {
            if (!remote.getFlushType().contains(RpmaFlushType.PERSISTENT)) {
                throw new UnsupportedOperationException("the server has no persistent memory for "
                        + ByteSize.text(remote.getSize()) + " (server --memory)");
            }
            if (!flushNative && !offer.isDirectWrite()) {
                throw new UnsupportedOperationException("flushes are emulated, and the server's operator has not"
                        + " declared that they make bytes persistent (server --direct-write-to-pmem)");
            }
        }
    }

    private void receive() {
        check(
                request.operation() == PerfOperation.SEND
                        ? conn.recv(region, request.size(), request.size(), 0)
                        : conn.recv(0));
    }

    @Override
    void post() {
        int size = request.size();
        switch (request.operation()) {
            case WRITE -> check(conn.write(remote, 0, region, 0, size, RpmaConn.F_COMPLETION_ALWAYS, 0));
            case READ -> check(conn.read(region, 0, remote, 0, size, RpmaConn.F_COMPLETION_ALWAYS, 0));
            case WRITE_IMM -> check(conn.writeWithImm(remote, 0, region, 0, size, RpmaConn.F_COMPLETION_ALWAYS, 0, 0));
            case ATOMIC_WRITE -> check(conn.atomicWrite(remote, 0, 0, RpmaConn.F_COMPLETION_ALWAYS, 0));
            case FLUSH_VISIBLE, FLUSH_PERSISTENT -> {
                check(conn.write(remote, 0, region, 0, size, RpmaConn.F_COMPLETION_ON_ERROR, 0));
                check(conn.flush(remote, 0, size, flushType(), RpmaConn.F_COMPLETION_ALWAYS, 0));
            }
            case SEND -> check(conn.send(region, 0, size, RpmaConn.F_COMPLETION_ALWAYS, 0));
            default -> throw new IllegalStateException(request.toString());
        }
    }

    @Override
    void record() {
        int size = request.size();
        switch (request.operation()) {
            case WRITE -> check(batch.write(conn, remote, 0, region, 0, size, RpmaConn.F_COMPLETION_ALWAYS, 0));
            case READ -> check(batch.read(conn, region, 0, remote, 0, size, RpmaConn.F_COMPLETION_ALWAYS, 0));
            case WRITE_IMM ->
                check(batch.writeWithImm(conn, remote, 0, region, 0, size, RpmaConn.F_COMPLETION_ALWAYS, 0, 0));
            case ATOMIC_WRITE -> check(batch.atomicWrite(conn, remote, 0, 0, RpmaConn.F_COMPLETION_ALWAYS, 0));
            case FLUSH_VISIBLE, FLUSH_PERSISTENT -> {
                check(batch.write(conn, remote, 0, region, 0, size, RpmaConn.F_COMPLETION_ON_ERROR, 0));
                check(batch.flush(conn, remote, 0, size, flushType(), RpmaConn.F_COMPLETION_ALWAYS, 0));
            }
            case SEND -> check(batch.send(conn, region, 0, size, RpmaConn.F_COMPLETION_ALWAYS, 0));
            default -> throw new IllegalStateException(request.toString());
        }
    }

    @Override
    void postRecorded() {
        int recorded = batch.count();
        check(batch.post() == recorded);
    }

    private RpmaFlushType flushType() {
        return request.operation() == PerfOperation.FLUSH_PERSISTENT
                ? RpmaFlushType.PERSISTENT
                : RpmaFlushType.VISIBILITY;
    }

    @Override
    int take() throws IOException, InterruptedException {
        int taken = request.events() ? cq.await(completions, WAIT_MS, MILLISECONDS) : cq.poll(completions);
        if (taken == 0 && !request.events()) {
            Spin.pause();
        }
        int done = 0;
        for (int i = 0; i < taken; i++) {
            check(completions, i);
            if (!request.operation().isAnswered()) {
                done++;
            } else if (completions.opcode(i) == RpmaWcOpcode.RECV) {
                receive();
                done++;
            } else {
                sent(1);
            }
        }
        return done;
    }

    @Override
    boolean isEnded(long millis) throws InterruptedException {
        return conn.nextEvent(millis, MILLISECONDS).isPresent();
    }

    @Override
    Stream<AutoCloseable> objects() {
        return Stream.of(remote, conn, region, memory).filter(Objects::nonNull);
    }

    private static void close(RpmaMrRemote remote, RpmaConn conn, RpmaMrLocal region, RpmaMemory memory) {
        if (remote != null) {
            remote.close();
        }
        if (conn != null) {
            Connector.close(conn);
        }
        if (region != null) {
            region.close();
        }
        memory.close();
    }
}
