package io.rpma;

import io.rpma.internal.Call;
import io.rpma.internal.Check;
import io.rpma.internal.NativeObject;
import io.rpma.internal.Natives;
import io.rpma.internal.Result;
import java.util.Arrays;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A connection before it is established: an outgoing request, or an incoming one that waits for its answer.
 *
 * <p>Safe for use by many threads. {@link #connect} consumes it; closing it instead rejects an incoming request.
 *
 * <p>librpma leaks about 0.7 KB with each incoming request that is rejected, or whose acceptance fails (its
 * {@code rdma_cm_id}); what the kernel keeps for it is given back when the endpoint is closed.
 *
 * <p>Manual pages: rpma_conn_req_new(3), rpma_conn_req_connect(3), rpma_conn_req_get_private_data(3),
 * rpma_conn_req_recv(3), rpma_conn_req_delete(3).
 */
public final class RpmaConnReq implements AutoCloseable {
    /**
     * The most private data that any transport takes; InfiniBand and RoCE take 56 bytes with a request and 196 with its
     * acceptance.
     */
    private static final int MAX_PRIVATE_DATA = 255;

    private static final String CONNECT = "rpma_conn_req_connect";

    private final RpmaPeer peer;
    private final NativeObject object;
    private final RpmaSrq srq;
    private final ReentrantLock requests;
    private final boolean incoming;

    /** What it has become, or null. */
    private volatile RpmaConn conn;

    /**
     * @param srq the shared receive queue that the connection uses, or null
     * @param requests guards the queue that the events of an incoming request come from; null for an outgoing one
     */
    RpmaConnReq(RpmaPeer peer, RpmaSrq srq, ReentrantLock requests, NativeObject... parents) {
        this.peer = peer;
        this.srq = srq;
        this.incoming = requests != null;
        this.requests = incoming ? requests : new ReentrantLock();
        object = new NativeObject(this, "RpmaConnReq", parents);
    }

    /**
     * Makes a request to connect.
     *
     * <p>Blocks for the resolution of a host name and then, each for at most the configuration's timeout, of the address
     * and the route. Neither close nor interrupt ends it sooner.
     *
     * @param peer the peer that the connection will belong to
     * @param address an IPv4 or IPv6 address, or a host name
     * @param port 1 to 65535
     * @param cfg the configuration of the connection, or null for the defaults
     * @return the request, to be connected or closed
     * @throws IllegalArgumentException if {@code address} is empty or has more than 255 characters, {@code port} is out of
     *     range, or {@code cfg} has a shared receive queue of another peer, or one with a completion queue of its own and
     *     a shared completion channel too
     * @throws IllegalStateException if {@code peer}, {@code cfg} or its shared receive queue is closed
     * @throws RpmaException if the address can't be resolved or the queues of the connection can't be made
     */
    public static RpmaConnReq create(RpmaPeer peer, String address, int port, RpmaConnCfg cfg) {
        Check.address(address);
        String service = Check.port(port);
        try (RpmaConnCfg.Use use = RpmaConnCfg.use(cfg, peer)) {
            RpmaConnReq request = new RpmaConnReq(peer, use.srq(), null, RpmaSrq.with(use.srq(), peer.object()));
            request.object.begin();
            try {
                request.object.made(
                        "rpma_conn_req_new",
                        Natives.connReqNew(peer.object().handle(), address, service, use.handle()));
            } finally {
                request.object.endMaking();
            }
            return request;
        }
    }

    /**
     * Posts a receive before the connection is established, so that it is there for the other side's first message.
     *
     * @param dst where to, registered for {@link RpmaMrUsage#RECV}
     * @param offset in bytes
     * @param length in bytes, 0 to 2^31 - 1; a longer message breaks the connection
     * @param opContext comes back as {@link RpmaCompletions#wrId}
     * @return whether it is posted; false if the receive queue is full
     * @throws IndexOutOfBoundsException if bytes are outside of the region
     * @throws IllegalArgumentException if the region is not registered for this or the length is wrong
     * @throws IllegalStateException if this request is closed or connected, the region is closed, or the connection uses
     *     a shared receive queue, which is where to post receives then
     * @throws RpmaException if librpma fails
     */
    public boolean recv(RpmaMrLocal dst, long offset, long length, long opContext) {
        long dstHandle = RpmaMrLocal.use(dst, RpmaMrUsage.RECV, RpmaConn.DESTINATION, offset, length);
        RpmaConn.checkReceives(object, srq);
        int result = Natives.connReqRecv(object.handle(), dstHandle, offset, length, opContext);
        if (result < 0) {
            throw Call.failure("rpma_conn_req_recv", result, object, dst.object());
        }
        return result == Result.POSTED;
    }

    /**
     * {@return the private data that came with an incoming request; empty for an outgoing one}
     *
     * <p>On InfiniBand and RoCE it always has 56 bytes, filled up with zeroes, also when nothing was sent: put a length
     * or a mark into it.
     *
     * @throws IllegalStateException if closed or connected
     */
    public byte[] getPrivateData() {
        byte[] data = new byte[RpmaConn.MOST_PRIVATE_DATA];
        int length = Natives.connReqGetPrivateData(object.handle(), data);
        return Arrays.copyOf(data, (int) Call.check("rpma_conn_req_get_private_data", length, object));
    }

    /**
     * Connects without private data; as {@link #connect(byte[])}.
     *
     * @return the connection, to be closed
     * @throws IllegalStateException if closed or connected
     * @throws RpmaException if librpma fails; the request is closed then
     */
    public RpmaConn connect() {
        return connect(new byte[0]);
    }

    /**
     * Accepts an incoming request, or sends an outgoing one.
     *
     * <p>Does not wait for the other side: the connection is established when its {@link RpmaConn#nextEvent()} says so.
     * Consumes the request, whatever comes of it.
     *
     * <p>An incoming request that can't be accepted, for want of a descriptor or over the limit of locked memory, is rejected. A
     * failure that comes only after librpma has accepted it leaks the id of the connection in librpma, as the exception says with
     * the number of those that have leaked so far, and may block until the client has answered the disconnection or is given up.
     *
     * @param privateData what the other side gets with it: on InfiniBand and RoCE at most 56 bytes with an outgoing
     *     request and 196 bytes with the answer to an incoming one, elsewhere at most 255
     * @return the connection, to be closed
     * @throws IllegalArgumentException if there are more than 255 bytes; the request stays as it is
     * @throws IllegalStateException if closed or connected
     * @throws RpmaException if librpma fails, also for private data that is too long for the transport; the request is
     *     closed then
     */
    public RpmaConn connect(byte[] privateData) {
        if (privateData.length > MAX_PRIVATE_DATA) {
            throw new IllegalArgumentException(
                    "private data has at most " + MAX_PRIVATE_DATA + " bytes, not " + privateData.length);
        }
        long[] connAndQueues = new long[3];
        RpmaConn made = new RpmaConn(peer, srq, RpmaSrq.with(srq, peer.object()));
        made.object().begin();
        try {
            if (!object.markClosed()) {
                throw Call.failure(CONNECT, Result.CLOSED, object);
            }
            object.endUses();
            try {
                long result = connect(privateData, connAndQueues);
                made.made(CONNECT, result, connAndQueues[1], connAndQueues[2]);
            } finally {
                object.leaveParents();
            }
        } finally {
            made.object().endMaking();
        }
        conn = made;
        return made;
    }

    private long connect(byte[] privateData, long[] connAndQueues) {
        requests.lock();
        try {
            int result = Natives.connReqConnect(
                    object.handle(),
                    incoming ? peer.object().handle() : 0,
                    !peer.isFlushNative(),
                    privateData,
                    connAndQueues);
            return result < 0 ? result : connAndQueues[0];
        } finally {
            requests.unlock();
        }
    }

    /**
     * Rejects an incoming request or drops an outgoing one; does nothing if it is connected or closed already.
     *
     * @throws RpmaException if librpma reports a failure; the request is closed all the same
     */
    @Override
    public void close() {
        object.close("rpma_conn_req_delete", this::delete);
    }

    private long delete(long handle) {
        requests.lock();
        try {
            return Natives.connReqDelete(handle);
        } finally {
            requests.unlock();
        }
    }

    NativeObject object() {
        return object;
    }

    /** Closes the request, and the connection that it has become. */
    void giveUp() {
        close();
        RpmaConn connected = conn;
        if (connected != null) {
            connected.close();
        }
    }

    @Override
    public String toString() {
        return object.toString();
    }
}
