package io.rpma.rdmacm;

import io.rpma.internal.Call;
import io.rpma.internal.NativeObject;
import io.rpma.internal.Natives;
import io.rpma.internal.Result;
import java.lang.ref.Reference;

/**
 * A shared receive queue: receives for the messages of any of the queue pairs that use it; made by {@link RdmaId#createSrq}.
 *
 * <p>Safe for use by many threads. It is closed with the id that it was made of, which can't be closed before the other ids
 * that use it. The completions come through the queue pair that a message was for.
 *
 * <p>Manual pages: rdma_create_srq(3), rdma_post_recv(3).
 */
public final class RdmaSrq {
    private final NativeObject owner;
    private final NativeObject object;

    // set by made

    private long handle;
    private int maxWr;
    private int maxSge;

    /** Of the id that it is a part of. */
    RdmaSrq(NativeObject owner) {
        this.owner = owner;
        object = owner.part("RdmaSrq");
    }

    /** Ends the making; allocates nothing. */
    void made(long queue, int receives, int parts) {
        object.madeWithWhole(queue);
        handle = queue;
        maxWr = receives;
        maxSge = parts;
    }

    /** {@return how many receives can be posted: as many as asked for, or more} */
    public int maxWr() {
        return maxWr;
    }

    /** {@return of how many parts a receive can consist: as many as asked for, or more} */
    public int maxSge() {
        return maxSge;
    }

    /**
     * Posts a receive: a message will arrive in the region.
     *
     * <p>Allocates nothing.
     *
     * @param dst where to, registered for {@link RdmaAccess#LOCAL_WRITE}
     * @param offset in bytes
     * @param length in bytes, 0 to 2^31 - 1
     * @param context comes back as {@link io.rpma.RpmaCompletions#wrId}
     * @return whether it is posted; false if the queue is full
     * @throws IndexOutOfBoundsException if bytes are outside of the region
     * @throws IllegalArgumentException if the region is not registered for this, or the length is wrong
     * @throws IllegalStateException if the id of this queue or the region is closed
     * @throws io.rpma.RpmaException if the device refuses
     */
    public boolean postRecv(RdmaMr dst, long offset, long length, long context) {
        int result = Natives.postRecv(handle, RdmaMr.useWritable(dst, offset, length), offset, length, context);
        if (result < 0) {
            throw Call.failure("rdma_post_recv", result, object, dst.object());
        }
        return result == Result.POSTED;
    }

    /**
     * Posts a receive: a message will be scattered over the parts, in their order.
     *
     * @param dst where to, all registered for {@link RdmaAccess#LOCAL_WRITE}
     * @param context comes back as {@link io.rpma.RpmaCompletions#wrId}
     * @return whether it is posted; false if the queue is full
     * @throws IllegalArgumentException if a region is not registered for this, or the parts are more than {@link #maxSge}
     * @throws IllegalStateException if the id of this queue or a region is closed
     * @throws io.rpma.RpmaException if the device refuses
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

    NativeObject owner() {
        return owner;
    }

    @Override
    public String toString() {
        return object.toString();
    }
}
