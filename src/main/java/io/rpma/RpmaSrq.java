// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import io.rpma.internal.Call;
import io.rpma.internal.Check;
import io.rpma.internal.Natives;
import io.rpma.internal.ObjectKind;
import io.rpma.internal.Resource;
import io.rpma.internal.Result;
import java.util.Optional;

/**
 * A receive queue that several connections share. A message to any of them takes the next receive.
 *
 * <pre>{@code
 * try (RpmaSrq srq = RpmaSrq.create(peer, null);
 *         RpmaConnCfg cfg = RpmaConnCfg.create().setSrq(srq)) {
 *     srq.recv(local, 0, 64, 1);
 *     try (RpmaConn conn = ep.nextConnReq(cfg).connect()) {
 *         srq.getRcq().orElseThrow().await(completions);
 *         System.out.println("queue pair " + completions.qpNum(0) + " has received a message");
 *     }
 * }
 * }</pre>
 *
 * <p>{@link RpmaConnCfg#setSrq} makes connections use the queue. {@link RpmaCompletions#qpNum} identifies the
 * connection that has received a message.
 *
 * <p>Safe for use by many threads. Closing throws {@link IllegalStateException} while a connection or a request uses
 * the queue.
 *
 * <p>Manual pages: rpma_srq_new(3), rpma_srq_recv(3), rpma_srq_get_rcq(3), rpma_srq_delete(3).
 */
public final class RpmaSrq implements AutoCloseable {
    private static final ObjectKind KIND = new ObjectKind("rpma_srq_delete") {
        @Override
        protected long delete(Resource object) {
            return Natives.srqDelete(object.handle());
        }
    };

    private final RpmaPeer peer;
    private final Resource object;

    // set by made

    private long handle;

    /** Null if there is no completion queue. */
    private RpmaCq rcq;

    private RpmaSrq(RpmaPeer peer) {
        this.peer = peer;
        object = new Resource(this, "RpmaSrq", KIND, peer.object());
        rcq = new RpmaCq(this, object, "RpmaCq");
    }

    private void setHandles(long srq, long queue) {
        handle = srq;
        if (queue == 0) {
            rcq = null;
        } else {
            rcq.made(queue, false);
        }
    }

    /**
     * The objects that a connection or a request must not outlive: its parent, and the shared receive queue if it uses
     * one.
     */
    static Resource[] with(RpmaSrq srq, Resource parent) {
        return srq == null ? new Resource[] {parent} : new Resource[] {parent, srq.object};
    }

    /**
     * Creates a shared receive queue.
     *
     * @param peer the peer of the connections
     * @param cfg the configuration of the queue, or null for the defaults
     * @return the queue, which the caller closes after the connections that use it
     * @throws IllegalStateException if {@code peer} or {@code cfg} is closed
     * @throws RpmaException if the device refuses, for example because a size is too large
     */
    public static RpmaSrq create(RpmaPeer peer, RpmaSrqCfg cfg) {
        if (cfg != null) {
            cfg.object().checkOpen();
        }
        long[] srqAndRcq = new long[2];
        RpmaSrq srq = new RpmaSrq(peer);
        srq.object.begin();
        try {
            long peerHandle = peer.object().handle();
            int result =
                    Natives.srqNew(peerHandle, cfg == null ? 0 : cfg.object().handle(), srqAndRcq);
            if (result >= 0) {
                srq.setHandles(srqAndRcq[0], srqAndRcq[1]);
            }
            srq.object.made("rpma_srq_new", result < 0 ? result : srqAndRcq[0]);
        } finally {
            srq.object.endMaking();
        }
        return srq;
    }

    /**
     * Posts a receive for the next message to one of the connections.
     *
     * @param dst the destination region, registered for {@link RpmaMrUsage#RECV}
     * @param offset the offset in the region in bytes
     * @param length the number of bytes, 0 to 2^31 - 1; a longer message breaks its connection
     * @param opContext the operation context, returned by {@link RpmaCompletions#wrId}
     * @return {@code true} if the operation is posted, {@code false} if the queue is full
     * @throws IndexOutOfBoundsException if {@code length} is negative, or a byte is outside the region
     * @throws IllegalArgumentException if the region is not registered for receives, or {@code length} exceeds the
     *     maximum of one operation
     * @throws IllegalStateException if this queue or the region is closed
     * @throws RpmaException if librpma fails
     */
    public boolean recv(RpmaMrLocal dst, long offset, long length, long opContext) {
        long dstHandle = RpmaMrLocal.use(dst, RpmaMrUsage.RECV, offset, length);
        int result = Natives.srqRecv(handle, dstHandle, offset, length, opContext);
        if (result < 0) {
            throw Call.failure("rpma_srq_recv", result, object, dst.object());
        }
        return result == Result.POSTED;
    }

    /**
     * Posts a receive without memory, for a message of 0 bytes. The message can have immediate data.
     *
     * @param opContext the operation context, returned by {@link RpmaCompletions#wrId}
     * @return {@code true} if the operation is posted, {@code false} if the queue is full
     * @throws IllegalStateException if this queue is closed
     * @throws RpmaException if librpma fails
     */
    public boolean recv(long opContext) {
        int result = Natives.srqRecv(handle, 0, 0, 0, opContext);
        if (result < 0) {
            throw Call.failure("rpma_srq_recv", result, object);
        }
        return result == Result.POSTED;
    }

    /** {@return the completion queue for receives, which is closed with this queue; empty if there is none} */
    public Optional<RpmaCq> getRcq() {
        return Optional.ofNullable(rcq);
    }

    RpmaPeer peer() {
        return peer;
    }

    Resource object() {
        return object;
    }

    /** The native handle, for the hot path. */
    static long handleOf(RpmaSrq srq) {
        if (srq == null) {
            throw Check.isNull("shared receive queue");
        }
        return srq.handle;
    }

    /**
     * Closes the queue. Has no effect if it is already closed. Waits while another thread closes it. The receives that
     * are posted are dropped without completions.
     *
     * @throws IllegalStateException if a connection or a request uses it; the message names it, and nothing is closed
     * @throws RpmaException if librpma reports a failure; the queue is closed nevertheless
     */
    @Override
    public void close() {
        object.close();
    }

    @Override
    public String toString() {
        return object.describe();
    }
}
