// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools.perf;

import static java.util.concurrent.TimeUnit.MILLISECONDS;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaException;
import io.rpma.RpmaMemory;
import io.rpma.rdmacm.RdmaAccess;
import io.rpma.rdmacm.RdmaAddrInfo;
import io.rpma.rdmacm.RdmaBatch;
import io.rpma.rdmacm.RdmaConnParam;
import io.rpma.rdmacm.RdmaId;
import io.rpma.rdmacm.RdmaInlineData;
import io.rpma.rdmacm.RdmaMr;
import io.rpma.rdmacm.RdmaPortSpace;
import io.rpma.rdmacm.RdmaQp;
import io.rpma.rdmacm.RdmaQpInitAttr;
import io.rpma.support.Connector;
import io.rpma.support.Errors;
import io.rpma.support.LostException;
import java.io.IOException;
import java.util.stream.Stream;

/** A connection of librdmacm for one measurement. */
final class PerfRdmaConnection extends PerfEnd {
    private final PerfRequest request;
    private final RpmaMemory memory;
    private final RdmaId id;
    private final RdmaMr region;
    private final RdmaQp qp;
    private final long remoteAddr;
    private final int rkey;
    private final RdmaInlineData inlineData;
    private final RdmaBatch batch;
    private final RpmaCompletions completions;

    private PerfRdmaConnection(
            Connector connector,
            PerfRequest request,
            RpmaMemory memory,
            RdmaId id,
            RdmaMr region,
            PerfRdmaOffer offer,
            int list) {
        super(connector, request, list);
        this.request = request;
        this.memory = memory;
        this.id = id;
        this.region = region;
        qp = id.qp();
        remoteAddr = offer.address();
        rkey = offer.key();
        inlineData = RdmaInlineData.create(PerfRequest.MOST_INLINE);
        batch = list == 1 ? null : RdmaBatch.create(list, list * PerfRequest.MOST_INLINE);
        completions = RpmaCompletions.create(completions(request));
    }

    /**
     * Connects.
     *
     * @param list the most operations of one post
     * @param timeout for the answer, in nanoseconds
     * @throws LostException if the other side can't be reached, does not answer, or rejects the connection
     * @throws RpmaException if this side's device lacks what the operation needs
     * @throws IOException if another program answers
     */
    static PerfRdmaConnection open(Connector connector, PerfRequest request, int list, long timeout)
            throws IOException, InterruptedException {
        RpmaMemory memory = RpmaMemory.allocate(request.memory());
        RdmaId id = null;
        RdmaMr region = null;
        boolean open = false;
        try {
            id = create(connector, request);
            region = RdmaMr.reg(id, memory, RdmaAccess.LOCAL_WRITE);
            // before the connection, so that no answer finds no receive
            for (int i = 0; request.operation().isAnswered() && i < request.depth(); i++) {
                receive(request, id.qp(), region);
            }
            PerfRdmaOffer offer = PerfRdmaOffer.fromPrivateData(connector
                            .connect(id, new RdmaConnParam().privateData(request.toPrivateData()), timeout)
                            .privateData())
                    .orElseThrow(connector::anotherProgram);
            PerfRdmaConnection connection = new PerfRdmaConnection(connector, request, memory, id, region, offer, list);
            open = true;
            return connection;
        } catch (RpmaException e) {
            if (region == null) {
                throw e; // this side's device lacks what the operation needs
            }
            throw new LostException(connector, Errors.line(e));
        } finally {
            if (!open) {
                close(id, region, memory);
            }
        }
    }

    private static RdmaId create(Connector connector, PerfRequest request) {
        try (RdmaAddrInfo info = RdmaAddrInfo.active(connector.address(), connector.port(), RdmaPortSpace.TCP)) {
            return RdmaId.createEp(
                    info,
                    new RdmaQpInitAttr()
                            .maxSendWr(sendQueue(request))
                            .maxRecvWr(request.depth())
                            .maxInlineData(
                                    request.operation() == PerfOperation.RDMA_WRITE_INLINE
                                            ? PerfRequest.MOST_INLINE
                                            : 0));
        }
    }

    private static void receive(PerfRequest request, RdmaQp qp, RdmaMr region) {
        boolean message = request.operation() == PerfOperation.RDMA_SEND;
        check(qp.postRecv(region, message ? request.size() : 0, message ? request.size() : 0, 0));
    }

    @Override
    void post() {
        int size = request.size();
        check(
                switch (request.operation()) {
                    case RDMA_WRITE -> qp.postWrite(region, 0, size, RdmaQp.F_SIGNALED, remoteAddr, rkey, 0);
                    case RDMA_WRITE_INLINE ->
                        qp.postWriteInline(inlineData, size, RdmaQp.F_SIGNALED, remoteAddr, rkey, 0);
                    case RDMA_READ -> qp.postRead(region, 0, size, RdmaQp.F_SIGNALED, remoteAddr, rkey, 0);
                    case RDMA_WRITE_IMM ->
                        qp.postWriteWithImm(region, 0, size, RdmaQp.F_SIGNALED, remoteAddr, rkey, 0, 0);
                    case RDMA_FETCH_AND_ADD -> qp.postFetchAndAdd(region, 0, RdmaQp.F_SIGNALED, remoteAddr, rkey, 1, 0);
                    case RDMA_COMPARE_AND_SWAP ->
                        qp.postCompareAndSwap(region, 0, RdmaQp.F_SIGNALED, remoteAddr, rkey, 0, 0, 0);
                    case RDMA_SEND -> qp.postSend(region, 0, size, RdmaQp.F_SIGNALED, 0);
                    default -> throw new IllegalStateException(request.toString());
                });
    }

    @Override
    void record() {
        int size = request.size();
        check(
                switch (request.operation()) {
                    case RDMA_WRITE -> batch.write(qp, region, 0, size, RdmaQp.F_SIGNALED, remoteAddr, rkey, 0);
                    case RDMA_WRITE_INLINE ->
                        batch.writeInline(qp, inlineData, size, RdmaQp.F_SIGNALED, remoteAddr, rkey, 0);
                    case RDMA_READ -> batch.read(qp, region, 0, size, RdmaQp.F_SIGNALED, remoteAddr, rkey, 0);
                    case RDMA_WRITE_IMM ->
                        batch.writeWithImm(qp, region, 0, size, RdmaQp.F_SIGNALED, remoteAddr, rkey, 0, 0);
                    case RDMA_FETCH_AND_ADD ->
                        batch.fetchAndAdd(qp, region, 0, RdmaQp.F_SIGNALED, remoteAddr, rkey, 1, 0);
                    case RDMA_COMPARE_AND_SWAP ->
                        batch.compareAndSwap(qp, region, 0, RdmaQp.F_SIGNALED, remoteAddr, rkey, 0, 0, 0);
                    case RDMA_SEND -> batch.send(qp, region, 0, size, RdmaQp.F_SIGNALED, 0);
                    default -> throw new IllegalStateException(request.toString());
                });
    }

    @Override
    void postRecorded() {
        int recorded = batch.count();
        check(batch.post() == recorded);
    }

    @Override
    int take() throws IOException, InterruptedException {
        int done;
        int sent = 0;
        if (request.operation().isAnswered()) {
            sent = qp.pollSendComp(completions);
            checkTaken(sent);
            sent(sent);
            done = request.events() ? qp.getRecvComp(completions, WAIT_MS, MILLISECONDS) : qp.pollRecvComp(completions);
            checkTaken(done);
            for (int i = 0; i < done; i++) {
                receive(request, qp, region);
            }
        } else {
            done = request.events() ? qp.getSendComp(completions, WAIT_MS, MILLISECONDS) : qp.pollSendComp(completions);
            checkTaken(done);
        }
        // as in PerfConnection, only if nothing has completed: on one processor the pause gives the processor away
        if (sent + done == 0 && !request.events()) {
            Spin.pause();
        }
        return done;
    }

    private void checkTaken(int taken) throws LostException, InterruptedException {
        for (int i = 0; i < taken; i++) {
            check(completions, i);
        }
    }

    @Override
    boolean isEnded(long millis) throws InterruptedException {
        return id.nextEvent(millis, MILLISECONDS).isPresent();
    }

    @Override
    Stream<AutoCloseable> objects() {
        return Stream.of(id, region, memory);
    }

    private static void close(RdmaId id, RdmaMr region, RpmaMemory memory) {
        if (region != null) {
            region.close();
        }
        if (id != null) {
            try {
                id.close();
            } catch (RpmaException e) {
                // The connection is closed nevertheless.
            }
        }
        memory.close();
    }
}
