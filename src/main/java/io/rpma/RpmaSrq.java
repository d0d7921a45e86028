package io.rpma;

import io.rpma.internal.Call;
import io.rpma.internal.Check;
import io.rpma.internal.NativeObject;
import io.rpma.internal.Natives;
import io.rpma.internal.Result;
import java.util.Optional;

/**
 * A receive queue that connections share: whichever of them gets a message takes the next of its receives.
 *
 * <p>{@link RpmaConnCfg#setSrq} makes connections use it. {@link RpmaCompletions#qpNum} tells which of them has received.
 *
 * <p>Safe for use by many threads. Closing throws {@link IllegalStateException} while a connection or a request uses it.
 *
 * <p>Manual pages: rpma_srq_new(3), rpma_srq_recv(3), rpma_srq_get_rcq(3), rpma_srq_delete(3).
 */
public final class RpmaSrq implements AutoCloseable {
    private final RpmaPeer peer;
    private final NativeObject object;

    // set by made

    private long handle;
    private long rcqHandle;

    /** Null if it has no completion queue of its own. */
    private RpmaCq rcq;

    private RpmaSrq(RpmaPeer peer) {
        this.peer = peer;
        object = new NativeObject(this, "RpmaSrq", peer.object());
        rcq = new RpmaCq(this, object, "RpmaCq");
    }

    private void setHandles(long srq, long queue) {
        handle = srq;
        rcqHandle = queue;
        if (queue == 0) {
            rcq = null;
        } else {
            rcq.made(queue, false);
        }
    }

    /** What a connection or a request can't outlive: its parent, and the shared receive queue that it uses, if it does. */
    static NativeObject[] with(RpmaSrq srq, NativeObject parent) {
        return srq == null ? new NativeObject[] {parent} : new NativeObject[] {parent, srq.object};
    }

    /**
     * Creates a shared receive queue.
     *
     * @param peer the peer of the connections that will use it
     * @param cfg its configuration, or null for the defaults
     * @return the queue, to be closed after the connections that use it
     * @throws IllegalStateException if {@code peer} or {@code cfg} is closed
     * @throws RpmaException if the device refuses, for example a size that is too large
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
     * Posts a receive: the next message to one of the connections goes there.
     *
     * @param dst where to, registered for {@link RpmaMrUsage#RECV}
     * @param offset in bytes
     * @param length in bytes, 0 to 2^31 - 1; a longer message breaks its connection
     * @param opContext comes back as {@link RpmaCompletions#wrId}
     * @return whether it is posted; false if the queue is full
     * @throws IndexOutOfBoundsException if bytes are outside of the region
     * @throws IllegalArgumentException if the region is not registered for this or the length is wrong
     * @throws IllegalStateException if this queue or the region is closed
     * @throws RpmaException if librpma fails
     */
    public boolean recv(RpmaMrLocal dst, long offset, long length, long opContext) {
        long dstHandle = RpmaMrLocal.use(dst, RpmaMrUsage.RECV, RpmaConn.DESTINATION, offset, length);
        int result = Natives.srqRecv(handle, dstHandle, offset, length, opContext);
        if (result < 0) {
            throw Call.failure("rpma_srq_recv", result, object, dst.object());
        }
        return result == Result.POSTED;
    }

    /**
     * Posts a receive without memory: for a message without content, whose immediate data may be all.
     *
     * @param opContext comes back as {@link RpmaCompletions#wrId}
     * @return whether it is posted; false if the queue is full
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

    /** {@return the queue of the receives' completions, closed with this; empty if it was made without one} */
    public Optional<RpmaCq> getRcq() {
        return Optional.ofNullable(rcq);
    }

    RpmaPeer peer() {
        return peer;
    }

    NativeObject object() {
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
     * Closes the queue; does nothing if it is closed already. The receives that are posted are dropped, without
     * completions.
     *
     * @throws IllegalStateException if a connection or a request uses it; the message names it, and nothing is closed
     * @throws RpmaException if librpma reports a failure; the queue is closed all the same
     */
    @Override
    public void close() {
        object.close("rpma_srq_delete", srq -> Natives.srqDelete(srq, rcqHandle));
    }

    @Override
    public String toString() {
        return object.toString();
    }
}
