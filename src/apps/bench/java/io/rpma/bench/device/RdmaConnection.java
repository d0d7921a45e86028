// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.bench.device;

import static io.rpma.rdmacm.RdmaQp.F_SIGNALED;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaEventLoop;
import io.rpma.RpmaMemory;
import io.rpma.rdmacm.RdmaAccess;
import io.rpma.rdmacm.RdmaAddrInfo;
import io.rpma.rdmacm.RdmaBatch;
import io.rpma.rdmacm.RdmaConnParam;
import io.rpma.rdmacm.RdmaEventType;
import io.rpma.rdmacm.RdmaId;
import io.rpma.rdmacm.RdmaInlineData;
import io.rpma.rdmacm.RdmaMr;
import io.rpma.rdmacm.RdmaPortSpace;
import io.rpma.rdmacm.RdmaQp;
import io.rpma.rdmacm.RdmaQpInitAttr;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.TimeUnit;

/**
 * A client's side of librdmacm's connection with the target; {@code src/apps/bench/c/rdma.c} is the counterpart in C.
 *
 * @param id the connection
 * @param qp the queue pair
 * @param memory the source and destination on this side
 * @param inlineData the source of inline operations
 * @param batch the chain of writes
 * @param remoteAddr the address of the target's volatile memory
 * @param rkey the key of the target's volatile memory
 */
record RdmaConnection(
        RdmaId id, RdmaQp qp, RdmaMr memory, RdmaInlineData inlineData, RdmaBatch batch, long remoteAddr, int rkey)
        implements End {
    /** The maximum size of an inline post. */
    static final int INLINE_SIZE = 64;

    private static final int TIMEOUT_S = 10;

    // struct rdma_offer of src/apps/bench/c/rdma.h
    private static final int REMOTE_ADDR = 0;
    private static final int RKEY = 8;

    /** Opens a connection with memory of its own, which is measured alone. */
    static RdmaConnection open(String address, int port) throws InterruptedException {
        RdmaId id = create(address, port, Connection.QUEUE_SIZE);
        return connect(id, RdmaMr.reg(id, RpmaMemory.allocate(Load.MEMORY_SIZE), RdmaAccess.LOCAL_WRITE));
    }

    /** Opens one of many connections, with the memory of another connection. */
    static RdmaConnection openSmall(String address, int port, RdmaMr memory) throws InterruptedException {
        return connect(create(address, port, Connection.SMALL_QUEUE_SIZE), memory);
    }

    private static RdmaId create(String address, int port, int queueSize) {
        try (RdmaAddrInfo info = RdmaAddrInfo.active(address, port, RdmaPortSpace.TCP)) {
            return RdmaId.createEp(
                    info,
                    new RdmaQpInitAttr()
                            .maxSendWr(queueSize)
                            .maxRecvWr(queueSize)
                            .maxInlineData(INLINE_SIZE));
        }
    }

    private static RdmaConnection connect(RdmaId id, RdmaMr memory) throws InterruptedException {
        id.connect(new RdmaConnParam());
        byte[] offer = id.awaitEvent(RdmaEventType.ESTABLISHED, TIMEOUT_S, TimeUnit.SECONDS)
                .privateData();
        ByteBuffer fields = ByteBuffer.wrap(offer).order(ByteOrder.nativeOrder());
        return new RdmaConnection(
                id,
                id.qp(),
                memory,
                RdmaInlineData.create(INLINE_SIZE),
                RdmaBatch.create(Load.MOST_CHAINED),
                fields.getLong(REMOTE_ADDR),
                fields.getInt(RKEY));
    }

    @Override
    public void post(Operation operation, long offset, long size, long number) {
        switch (operation) {
            case RDMA_WRITE:
                End.check(qp.postWrite(memory, offset, size, F_SIGNALED, remoteAddr + offset, rkey, number));
                break;
            case RDMA_WRITE_INLINE:
                End.check(qp.postWriteInline(inlineData, (int) size, F_SIGNALED, remoteAddr + offset, rkey, number));
                break;
            case RDMA_READ:
                End.check(qp.postRead(memory, offset, size, F_SIGNALED, remoteAddr + offset, rkey, number));
                break;
            case RDMA_SEND:
                End.check(qp.postSend(memory, offset, size, F_SIGNALED, NOT_COUNTED));
                break;
            case RDMA_FETCH_AND_ADD:
                End.check(qp.postFetchAndAdd(memory, offset, F_SIGNALED, remoteAddr + offset, rkey, 1, number));
                break;
            default:
                throw new AssertionError(operation);
        }
    }

    @Override
    public void chain(long offset, long size, long number) {
        End.check(batch.write(qp, memory, offset, size, 0, remoteAddr + offset, rkey, number));
    }

    @Override
    public void postChain() {
        batch.signalLast();
        int length = batch.count();
        End.check(batch.post() == length);
    }

    @Override
    public void serve(RpmaEventLoop loop, int batchSize, RpmaEventLoop.Handler<RpmaCompletions> handler) {
        qp.onSendComp(loop, batchSize, handler);
    }

    @Override
    public void receive(long offset, long size, long number) {
        End.check(qp.postRecv(memory, offset, size, number));
    }

    /**
     * Polls the completion queue of the sends, and if it is empty, the completion queue of the receives, for answers.
     */
    @Override
    public int poll(RpmaCompletions completions) {
        int taken = qp.pollSendComp(completions);
        return taken > 0 ? taken : qp.pollRecvComp(completions);
    }

    /** Waits for receives if the target answers the operation, because the answer completes after the message. */
    @Override
    public int await(Operation operation, RpmaCompletions completions) throws InterruptedException {
        if (!operation.isAnswered()) {
            return qp.getSendComp(completions);
        }
        int taken = qp.pollSendComp(completions);
        return taken > 0 ? taken : qp.getRecvComp(completions);
    }
}
