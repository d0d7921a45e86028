// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.rdmacm;

import io.rpma.internal.Call;
import io.rpma.internal.Check;
import io.rpma.internal.Natives;
import io.rpma.internal.Resource;
import io.rpma.internal.Result;
import java.lang.ref.Reference;

/**
 * A shared receive queue: its receives take the messages of all queue pairs that use it. {@link RdmaId#createSrq}
 * creates it.
 *
 * <p>A listening id shares its receives with the ids of its requests:
 *
 * <pre>{@code
 * RdmaSrq shared = id.createSrq(64, 1);
 * shared.postRecv(mr, 0, 64, 1);
 * try (RdmaId server = id.getRequest()) {
 *     server.createQp(new RdmaQpInitAttr().srq(shared).maxRecvWr(64));
 *     server.accept(new RdmaConnParam());
 *     server.qp().getRecvComp(completions);
 * }
 * }</pre>
 *
 * <p>Safe for use by many threads. The queue is closed with the id that created it. This id can't be closed before the
 * other ids that use the queue. The completion of a receive arrives at the queue pair that received the message.
 *
 * <p>Manual pages: rdma_create_srq(3), rdma_post_recv(3).
 */
public final class RdmaSrq {
    private final Resource owner;
    private final Resource object;

    // set by made

    private long handle;
    private int maxWr;
    private int maxSge;

    /** Creates the queue as a part of an id. */
    RdmaSrq(Resource owner) {
        this.owner = owner;
        object = owner.part("RdmaSrq");
    }

    /** Takes the handle and the sizes of the native queue. Allocates nothing. */
    void made(long queue, int receives, int parts) {
        object.madeWithWhole(queue);
        handle = queue;
        maxWr = receives;
        maxSge = parts;
    }

    /** {@return the maximum number of posted receives, at least the requested number} */
    public int maxWr() {
        return maxWr;
    }

    /** {@return the maximum number of parts of a receive, at least the requested number} */
    public int maxSge() {
        return maxSge;
    }

    /**
     * Posts a receive, which writes a message to the region.
     *
     * <p>Allocates nothing.
     *
     * @param dst the region to write to, registered for {@link RdmaAccess#LOCAL_WRITE}
     * @param offset the offset in the region, in bytes
     * @param length the number of bytes, 0 to 2^31 - 1
     * @param context the value that {@link io.rpma.RpmaCompletions#wrId} returns for the completion
     * @return true if the receive is posted, false if the queue is full
     * @throws IndexOutOfBoundsException if {@code length} is negative, or the bytes are not all inside the region
     * @throws IllegalArgumentException if the region is not registered for {@link RdmaAccess#LOCAL_WRITE}, or
     *     {@code length} exceeds the maximum of one operation
     * @throws IllegalStateException if the id of this queue or the region is closed
     * @throws io.rpma.RpmaException if the device refuses the receive
     */
    public boolean postRecv(RdmaMr dst, long offset, long length, long context) {
        int result = Natives.postRecv(handle, RdmaMr.useWritable(dst, offset, length), offset, length, context);
        if (result < 0) {
            throw Call.failure("rdma_post_recv", result, object, dst.object());
        }
        return result == Result.POSTED;
    }

    /**
     * Posts a receive, which scatters a message over the parts in their order.
     *
     * @param dst the parts to write to, all registered for {@link RdmaAccess#LOCAL_WRITE}
     * @param context the value that {@link io.rpma.RpmaCompletions#wrId} returns for the completion
     * @return true if the receive is posted, false if the queue is full
     * @throws IllegalArgumentException if a region is not registered for {@link RdmaAccess#LOCAL_WRITE}, or there are
     *     more than {@link #maxSge} parts
     * @throws IllegalStateException if the id of this queue or a region is closed
     * @throws io.rpma.RpmaException if the device refuses the receive
     */
    public boolean postRecvv(RdmaSgeList dst, long context) {
        int count = RdmaSgeList.useWritable(dst, maxSge);
        int result = Natives.postRecvv(handle, dst.address(), count, context);
        Reference.reachabilityFence(dst);
        if (result < 0) {
            throw Call.failure("rdma_post_recvv", result, object);
        }
        return result == Result.POSTED;
    }

    long handle() {
        return handle;
    }

    /** Returns the native handle. Part of the hot path. */
    static long use(RdmaSrq srq) {
        if (srq == null) {
            throw Check.isNull("shared receive queue");
        }
        return srq.handle;
    }

    Resource owner() {
        return owner;
    }

    @Override
    public String toString() {
        return object.describe(maxWr + " receives");
    }
}
