// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import io.rpma.internal.Call;
import io.rpma.internal.Check;
import io.rpma.internal.Errno;
import io.rpma.internal.FlightEvents;
import io.rpma.internal.Natives;
import io.rpma.internal.ObjectKind;
import io.rpma.internal.Resource;
import io.rpma.internal.Result;
import io.rpma.internal.Stack;
import io.rpma.internal.Waiter;
import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A connection before it is established: an outgoing request, or an incoming request that waits for its answer.
 *
 * <pre>{@code
 * try (RpmaConnReq request = RpmaConnReq.create(peer, address, port, null)) {
 *     request.recv(local, 0, 64, 1); // ready for the first message of the other side
 *     try (RpmaConn conn = request.connect(10, TimeUnit.SECONDS)) {
 *         conn.send(local, 0, 64, RpmaConn.F_COMPLETION_ALWAYS, 2);
 *     }
 * }
 * }</pre>
 *
 * <p>Safe for use by many threads. {@link #connect} consumes the request. Closing an incoming request rejects it.
 *
 * <p>Manual pages: rpma_conn_req_new(3), rpma_conn_req_connect(3), rpma_conn_req_get_private_data(3),
 * rpma_conn_req_recv(3), rpma_conn_req_delete(3).
 */
public final class RpmaConnReq implements AutoCloseable {
    /** The maximum of all transports. */
    private static final int MAX_PRIVATE_DATA = 255;

    /** The maximum of InfiniBand and RoCE with a request. */
    private static final int REQUEST_DATA = 56;

    /** The maximum of InfiniBand and RoCE with the acceptance of a request. */
    private static final int ANSWER_DATA = 196;

    private static final String CONNECT = "rpma_conn_req_connect";

    private final RpmaPeer peer;
    private final Resource object;
    private final RpmaSrq srq;
    private final ReentrantLock requests;
    private final boolean incoming;

    /** The address of an outgoing request, or null. */
    private String address;

    private int port;

    /** The connection that the request has become, or null. */
    private volatile RpmaConn conn;

    private static final class Deletion extends ObjectKind {
        private final ReentrantLock requests;

        Deletion(ReentrantLock requests) {
            super("rpma_conn_req_delete");
            this.requests = requests;
        }

        @Override
        protected long delete(Resource request) {
            lock(requests);
            try {
                return Natives.connReqDelete(request.handle());
            } finally {
                requests.unlock();
            }
        }
    }

    /**
     * @param srq the shared receive queue that the connection uses, or null
     * @param requests guards the event queue of an incoming request; null for an outgoing one
     */
    RpmaConnReq(RpmaPeer peer, RpmaSrq srq, ReentrantLock requests, Resource... parents) {
        this.peer = peer;
        this.srq = srq;
        this.incoming = requests != null;
        this.requests = incoming ? requests : new ReentrantLock();
        object = new Resource(this, "RpmaConnReq", new Deletion(this.requests), parents);
    }

    /**
     * Makes a request to connect.
     *
     * <p>Blocks while the host name is resolved, and then while the address and the route are resolved, each for at
     * most the timeout of the configuration. Neither a close nor an interruption ends the call earlier.
     *
     * @param peer the peer of the connection
     * @param address an IPv4 or IPv6 address, or a host name, of which only the first address is tried
     * @param port 1 to 65535
     * @param cfg the configuration of the connection, or null for the defaults
     * @return the request, which the caller connects or closes
     * @throws IllegalArgumentException if {@code address} is empty or has more than 255 characters; {@code port} is out
     *     of range; or {@code cfg} has a shared receive queue of another peer, or combines a shared channel with a
     *     shared receive queue that has its own completion queue
     * @throws IllegalStateException if {@code peer}, {@code cfg} or its shared receive queue is closed
     * @throws RpmaException if the address can't be resolved or the queues of the connection can't be made
     */
    public static RpmaConnReq create(RpmaPeer peer, String address, int port, RpmaConnCfg cfg) {
        Check.address(address);
        String service = Check.port(port);
        try (RpmaConnCfg.Use use = RpmaConnCfg.use(cfg, peer)) {
            RpmaConnReq request = new RpmaConnReq(peer, use.srq(), null, RpmaSrq.with(use.srq(), peer.object()));
            request.address = address;
            request.port = port;
            request.object.begin();
            try {
                long made = Natives.connReqNew(peer.object().handle(), address, service, use.handle());
                request.object.made("rpma_conn_req_new", use.checkOpen(made));
            } finally {
                request.object.endMaking();
            }
            return request;
        }
    }

    /**
     * Posts a receive before the connection is established, so that the receive is ready for the first message of the
     * other side.
     *
     * @param dst the destination region, registered for {@link RpmaMrUsage#RECV}
     * @param offset the offset in the region in bytes
     * @param length the number of bytes, 0 to 2^31 - 1; a longer message breaks the connection
     * @param opContext the operation context, returned by {@link RpmaCompletions#wrId}
     * @return {@code true} if the operation is posted, {@code false} if the receive queue is full
     * @throws IndexOutOfBoundsException if {@code length} is negative, or a byte is outside the region
     * @throws IllegalArgumentException if the region is not registered for receives, or {@code length} exceeds the
     *     maximum of one operation
     * @throws IllegalStateException if this request is closed or connected, the region is closed, or the connection
     *     uses a shared receive queue: post the receive to that queue
     * @throws RpmaException if librpma fails
     */
    public boolean recv(RpmaMrLocal dst, long offset, long length, long opContext) {
        long dstHandle = RpmaMrLocal.use(dst, RpmaMrUsage.RECV, offset, length);
        RpmaConn.checkReceives(object, srq);
        int result = Natives.connReqRecv(object.handle(), dstHandle, offset, length, opContext);
        if (result < 0) {
            throw Call.failure("rpma_conn_req_recv", result, object, dst.object());
        }
        return result == Result.POSTED;
    }

    /**
     * {@return the private data of an incoming request; empty for an outgoing request}
     *
     * <p>On InfiniBand and RoCE it always has 56 bytes, padded with zeroes, even if nothing was sent. Include a length
     * or a marker in the data.
     *
     * @throws IllegalStateException if this request is closed or connected
     */
    public byte[] getPrivateData() {
        byte[] data = new byte[RpmaConn.MOST_PRIVATE_DATA];
        int length = Natives.connReqGetPrivateData(object.handle(), data);
        return Arrays.copyOf(data, (int) Call.check("rpma_conn_req_get_private_data", length, object));
    }

    /**
     * Connects without private data, as {@link #connect(byte[])}.
     *
     * @return the connection; the caller closes it
     * @throws IllegalStateException if this request is closed or connected
     * @throws RpmaException if librpma fails; the request is then closed
     */
    public RpmaConn connect() {
        return connect(new byte[0]);
    }

    /**
     * Accepts an incoming request, or sends an outgoing request.
     *
     * <p>Does not wait for the other side: {@link RpmaConn#nextEvent()} reports when the connection is established.
     * Consumes the request, even if the call fails in librpma.
     *
     * <p>If an incoming request can't be accepted, it is rejected.
     *
     * @param privateData the data for the other side; the maximum on InfiniBand and RoCE is 56 bytes with an outgoing
     *     request and 196 bytes with the answer to an incoming request, elsewhere 255 bytes
     * @return the connection; the caller closes it
     * @throws IllegalArgumentException if {@code privateData} is too long for the transport; the request remains usable
     * @throws IllegalStateException if this request is closed or connected
     * @throws RpmaException if librpma fails, for example because the client of an incoming request has given up, or on
     *     soft-iWARP, with {@code ECONNREFUSED}, because nothing listens; the request is then closed
     */
    public RpmaConn connect(byte[] privateData) {
        if (privateData.length > MAX_PRIVATE_DATA) {
            throw new IllegalArgumentException(
                    "private data has at most " + MAX_PRIVATE_DATA + " bytes, not " + privateData.length);
        }
        int most = incoming ? ANSWER_DATA : REQUEST_DATA;
        if (privateData.length > most && !peer.device().isIwarp()) {
            throw new IllegalArgumentException(
                    CONNECT + " takes at most " + most + " bytes of private data here, not " + privateData.length);
        }
        Stack.reserve();
        long[] connAndQueues = new long[3];
        RpmaConn made = new RpmaConn(peer, srq, otherSide(), RpmaSrq.with(srq, peer.object()));
        made.object().begin();
        try {
            if (!object.markClosed()) {
                throw Call.failure(CONNECT, Result.CLOSED, object);
            }
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
        FlightEvents.connection(made.object(), incoming, address, port);
        return made;
    }

    /**
     * Accepts or sends the request, as {@link #connect(byte[])}, and waits until the connection is established.
     *
     * <p>If it is not, the call closes the connection, which can take seconds: see {@link RpmaConn#close()}.
     *
     * @param privateData the data for the other side, as in {@link #connect(byte[])}
     * @param timeout the maximum time to wait for the other side
     * @param unit the unit of {@code timeout}
     * @return the established connection; the caller closes it
     * @throws IllegalArgumentException if {@code privateData} is too long, or {@code timeout} is negative; the request
     *     remains usable
     * @throws IllegalStateException if this request is closed or connected
     * @throws InterruptedException if the thread is interrupted before or during the wait
     * @throws RpmaException with {@code ECONNREFUSED} if the other side has rejected the request or nothing listens
     *     there, with {@code EHOSTUNREACH} if it can't be reached, with {@code ETIMEDOUT} if it has not answered in
     *     time, with {@code ENOTCONN} and the event if the connection has ended otherwise; or if librpma fails
     */
    public RpmaConn connect(byte[] privateData, long timeout, TimeUnit unit) throws InterruptedException {
        long nanos = Waiter.nanos(timeout, unit);
        RpmaConn made = connect(privateData);
        try {
            RpmaConnEvent event = made.events().next(nanos);
            if (event == RpmaConnEvent.ESTABLISHED) {
                return made;
            }
            String other = incoming ? "the client" : address + " port " + port;
            throw event == null
                    ? Call.failure(
                            CONNECT,
                            Errno.ETIMEDOUT,
                            "no answer from " + other + " in " + timeout + " "
                                    + unit.name().toLowerCase(Locale.ROOT))
                    : Call.failure(CONNECT, event.errno(), event.description() + ": " + other);
        } catch (RuntimeException | Error | InterruptedException e) {
            closeAfter(made, e);
            throw e;
        }
    }

    /**
     * Connects without private data, as {@link #connect(byte[], long, TimeUnit)}.
     *
     * @param timeout the maximum time to wait for the other side
     * @param unit the unit of {@code timeout}
     * @return the established connection; the caller closes it
     * @throws IllegalArgumentException if {@code timeout} is negative; the request remains usable
     * @throws IllegalStateException if this request is closed or connected
     * @throws InterruptedException if the thread is interrupted before or during the wait
     * @throws RpmaException if the connection is not established
     */
    public RpmaConn connect(long timeout, TimeUnit unit) throws InterruptedException {
        return connect(new byte[0], timeout, unit);
    }

    private static void closeAfter(RpmaConn made, Throwable failure) {
        try {
            made.close();
        } catch (RpmaException e) {
            failure.addSuppressed(e);
        }
    }

    private long connect(byte[] privateData, long[] connAndQueues) {
        requests.lock();
        try {
            int result = Natives.connReqConnect(object.handle(), privateData, connAndQueues);
            return result < 0 ? result : connAndQueues[0];
        } finally {
            requests.unlock();
        }
    }

    /**
     * Closes the request: rejects an incoming request, or drops an outgoing request. Has no effect if it is already
     * closed. Waits while another thread closes it. Has no effect after {@link #connect}.
     *
     * <p>The close of an incoming request waits while another request of the same endpoint is taken, accepted or
     * rejected.
     *
     * @throws RpmaException if librpma reports a failure; the request is closed nevertheless
     */
    @Override
    public void close() {
        object.close();
    }

    Resource object() {
        return object;
    }

    /** Closes the request and the connection that it has become. */
    void giveUp() {
        close();
        RpmaConn connected = conn;
        if (connected != null) {
            connected.close();
        }
    }

    /** Returns where an outgoing request goes to, or null. */
    private String otherSide() {
        return address == null ? null : "to " + address + " port " + port;
    }

    @Override
    public String toString() {
        return object.describe(otherSide());
    }
}
