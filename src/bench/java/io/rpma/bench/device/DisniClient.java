// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.bench.device;

import com.ibm.disni.verbs.IbvCQ;
import com.ibm.disni.verbs.IbvContext;
import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.IbvPd;
import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.IbvQPInitAttr;
import com.ibm.disni.verbs.IbvSendWR;
import com.ibm.disni.verbs.IbvWC;
import com.ibm.disni.verbs.RdmaCm;
import com.ibm.disni.verbs.RdmaCmEvent;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaConnParam;
import com.ibm.disni.verbs.RdmaEventChannel;
import com.ibm.disni.verbs.SVCPollCq;
import com.ibm.disni.verbs.SVCPostSend;
import io.rpma.bench.Disni;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * The client with DiSNI, another library for RDMA in Java. Its only command is {@code load}, with librpma's writes and reads
 * whose completions are polled. A load prepares a post for each operation that can be under way, and replays these posts, which
 * is DiSNI's fastest way. The client in Java posts by calls with arguments. The connection is librdmacm's, because DiSNI does not
 * bind librpma.
 */
final class DisniClient extends LoadClient implements DirectLoad.DirectEnd {
    private static final int TIMEOUT_MS = 10_000;
    private static final int MOST_COMPLETIONS = 16;
    private static final byte MOST_RETRIES = 7;

    private final IbvQP qp;
    /** The registered bytes. DiSNI keeps only their address, and the JVM frees a buffer that nothing references. */
    private final ByteBuffer buffer = ByteBuffer.allocateDirect((int) Load.MEMORY_SIZE);

    private final IbvMr memory;
    private final RdmaConnection offer;
    private final IbvWC[] completions = Disni.completions(MOST_COMPLETIONS);
    private final SVCPollCq poll;

    /** The posts of the load. */
    private SVCPostSend[] posts;

    private DisniClient(String address, int port) throws IOException, InterruptedException {
        // DiSNI does not return the private data of the target's answer, which has the key of the target's memory
        offer = RdmaConnection.open(address, port);
        RdmaEventChannel channel = RdmaEventChannel.createEventChannel();
        RdmaCmId id = channel.createId(RdmaCm.RDMA_PS_TCP);
        id.resolveAddr(null, new InetSocketAddress(address, port), TIMEOUT_MS);
        await(channel, RdmaCmEvent.EventType.RDMA_CM_EVENT_ADDR_RESOLVED);
        id.resolveRoute(TIMEOUT_MS);
        await(channel, RdmaCmEvent.EventType.RDMA_CM_EVENT_ROUTE_RESOLVED);
        IbvContext context = id.getVerbs();
        IbvPd pd = context.allocPd();
        IbvCQ cq = context.createCQ(context.createCompChannel(), Connection.QUEUE_SIZE, 0);
        qp = id.createQP(pd, attr(cq));
        memory = pd.regMr(buffer, IbvMr.IBV_ACCESS_LOCAL_WRITE).execute().free().getMr();
        RdmaConnParam param = new RdmaConnParam();
        param.setRetry_count(MOST_RETRIES);
        id.connect(param);
        await(channel, RdmaCmEvent.EventType.RDMA_CM_EVENT_ESTABLISHED);
        poll = cq.poll(completions, MOST_COMPLETIONS);
    }

    /**
     * Runs commands until the input ends. The end of the process frees all objects.
     *
     * @param args the address and the port of the target
     */
    public static void main(String[] args) throws IOException, InterruptedException {
        new DisniClient(args[0], Integer.parseInt(args[1]) + 2).serve();
    }

    private static void await(RdmaEventChannel channel, RdmaCmEvent.EventType expected) throws IOException {
        RdmaCmEvent event = channel.getCmEvent(TIMEOUT_MS);
        if (event == null || event.getEvent() != expected.ordinal()) {
            throw new IOException(expected + " has not come, but "
                    + (event == null ? "no event" : RdmaCmEvent.EventType.values()[event.getEvent()]));
        }
        event.ackEvent();
    }

    private static IbvQPInitAttr attr(IbvCQ cq) {
        IbvQPInitAttr attr = new IbvQPInitAttr();
        attr.cap().setMax_send_wr(Connection.QUEUE_SIZE);
        attr.cap().setMax_recv_wr(1);
        attr.cap().setMax_send_sge(1);
        attr.cap().setMax_recv_sge(1);
        attr.setQp_type(IbvQP.IBV_QPT_RC);
        attr.setSend_cq(cq);
        attr.setRecv_cq(cq);
        return attr;
    }

    @Override
    long run(Load load, long[] samples) throws IOException {
        posts = new SVCPostSend[load.depth()];
        for (int i = 0; i < posts.length; i++) {
            posts[i] = prepare(load, load.offset(i));
        }
        long time = new DirectLoad(load, this).run(samples);
        for (SVCPostSend post : posts) {
            post.free();
        }
        return time;
    }

    private SVCPostSend prepare(Load load, long offset) throws IOException {
        IbvSendWR operation = Disni.operation(
                opcode(load.operation()),
                memory.getAddr() + offset,
                (int) load.size(),
                memory.getLkey(),
                offer.remoteAddr() + offset,
                offer.rkey());
        return qp.postSend(List.of(operation), null);
    }

    private static int opcode(Operation operation) {
        switch (operation) {
            case WRITE:
                return IbvSendWR.IBV_WR_RDMA_WRITE;
            case READ:
                return IbvSendWR.IBV_WR_RDMA_READ;
            default:
                throw new IllegalArgumentException("no such load: " + operation.command());
        }
    }

    @Override
    public void post(long number) throws IOException {
        posts[(int) (number % posts.length)].execute();
    }

    /** Yields the processor after an empty poll, for the reason that {@link Load} gives. */
    @Override
    public int take() throws IOException {
        int taken = poll.execute().getPolls();
        for (int i = 0; i < taken; i++) {
            if (completions[i].getStatus() != IbvWC.IbvWcStatus.IBV_WC_SUCCESS.ordinal()) {
                throw new IOException("an operation failed: " + completions[i].getStatus());
            }
        }
        if (taken == 0) {
            Thread.yield();
        }
        return taken;
    }
}
