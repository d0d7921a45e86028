package io.rpma.rdmacm;

import io.rpma.RpmaCompletions;
import io.rpma.internal.Call;
import io.rpma.internal.NativeObject;
import io.rpma.internal.Natives;
import io.rpma.internal.Result;
import io.rpma.internal.Waiter;
import java.lang.ref.Reference;
import java.util.concurrent.TimeUnit;

/**
 * The queue pair of an id: posts operations, and tells which are done; made by {@link RdmaId#createQp}.
 *
 * <p>Safe for use by many threads. It is closed with its id, which may happen while others post, poll or wait: they finish
 * first, or get an {@link IllegalStateException}.
 *
 * <p>Posting never blocks and allocates nothing. An operation that is posted is not done: its completion comes through
 * {@link #pollSendComp} or {@link #pollRecvComp}, with the context that it was posted with. The local memory must be
 * left alone until then, except that of an inline post, which is copied at once.
 *
 * <p>A post returns {@code false} if its queue has no room: poll completions and post again. Some devices give room back
 * only when a completion is polled, so of the operations that fit into the queue at least one has to be posted with
 * {@link #F_SIGNALED}. Others, as soft-RoCE, do when there is a completion: never let more come than fit into their queue,
 * as many as operations or receives. The device loses them, or breaks the connection.
 *
 * <p>The other side's address and key are numbers that it tells. Its device checks them, and the access that its region
 * is registered for: an operation with wrong ones completes with {@link io.rpma.RpmaWcStatus#REM_ACCESS_ERR}, and the
 * connection is broken, as after any failed operation.
 *
 * <p>Inline posts are methods of their own and no flag, because the bytes come from an {@link RdmaInlineData}, which need
 * not be registered. Those of a region are not copied at the post: that would end the process where they are in a mapping
 * whose file has been made shorter. Inline posts have no form for a list of parts on purpose: the parts go one after the
 * other into the {@link RdmaInlineData}. Posts with immediate data have none either, and datagrams have neither lists nor
 * immediate data.
 *
 * <p>Manual pages: rdma_post_write(3), rdma_post_read(3), rdma_post_send(3), rdma_post_recv(3), rdma_post_writev(3),
 * rdma_post_readv(3), rdma_post_sendv(3), rdma_post_recvv(3), rdma_post_ud_send(3), ibv_post_send(3),
 * rdma_get_send_comp(3), rdma_get_recv_comp(3), ibv_poll_cq(3), ibv_req_notify_cq(3).
 */
public final class RdmaQp {
    /** Start only after all reads and atomics that were posted before: {@code IBV_SEND_FENCE}. */
    public static final int F_FENCE = 1;

    /** Completion in any case: {@code IBV_SEND_SIGNALED}. Without it only a failure has one. */
    public static final int F_SIGNALED = 2;

    /** Mark the other side's completion as solicited: {@code IBV_SEND_SOLICITED}; see {@link #getSolicitedRecvComp}. */
    public static final int F_SOLICITED = 4;

    private static final int FLAGS = F_FENCE | F_SIGNALED | F_SOLICITED;

    private final NativeObject object;
    private final CompletionQueue sendCompletions;
    private final CompletionQueue recvCompletions;
    private final boolean datagrams;
    private final boolean usesSrq;

    // set by made

    private long sendQueue;
    private long recvQueue;
    private int maxSendWr;
    private int maxRecvWr;
    private int maxSendSge;
    private int maxRecvSge;
    private int maxInlineData;
    private int qpNum;

    RdmaQp(NativeObject id, boolean datagrams, boolean usesSrq) {
        object = id.part("RdmaQp");
        sendCompletions = CompletionQueue.ofOperations(id.part("send queue"));
        recvCompletions = CompletionQueue.ofReceives(id.part("receive queue"));
        this.datagrams = datagrams;
        this.usesSrq = usesSrq;
    }

    /**
     * Ends the making; allocates nothing.
     *
     * @param numbers of native/rdmacm_qp.c
     * @param queues the native handles of the queue of operations and that of receives
     */
    void made(int[] numbers, long[] queues) {
        sendQueue = queues[0];
        recvQueue = queues[1];
        object.madeWithWhole(sendQueue);
        sendCompletions.made(sendQueue);
        recvCompletions.made(recvQueue);
        maxSendWr = numbers[0];
        maxRecvWr = numbers[1];
        maxSendSge = numbers[2];
        maxRecvSge = numbers[3];
        maxInlineData = numbers[4];
        qpNum = numbers[5];
    }

    /** {@return how many operations can be under way: as many as asked for, or more} */
    public int maxSendWr() {
        return maxSendWr;
    }

    /** {@return how many receives can be posted: as many as asked for, or more} */
    public int maxRecvWr() {
        return maxRecvWr;
    }

    /** {@return of how many parts an operation can consist: as many as asked for, or more} */
    public int maxSendSge() {
        return maxSendSge;
    }

    /** {@return of how many parts a receive can consist: as many as asked for, or more} */
    public int maxRecvSge() {
        return maxRecvSge;
    }

    /** {@return how many bytes can be posted inline: as many as asked for, or more} */
    public int maxInlineData() {
        return maxInlineData;
    }

    /** {@return its number, without a sign: {@link RpmaCompletions#qpNum}} */
    public int qpNum() {
        return qpNum;
    }

    /**
     * Posts a write: copies bytes of this side's memory into the other side's.
     *
     * @param src where from
     * @param offset in bytes
     * @param length in bytes, 0 to 2^31 - 1
     * @param flags any of {@link #F_SIGNALED}, {@link #F_FENCE} and {@link #F_SOLICITED}, or 0
     * @param remoteAddr the address on the other side
     * @param rkey the other side's key
     * @param context comes back as {@link RpmaCompletions#wrId}
     * @return whether it is posted; false if the send queue is full
     * @throws IndexOutOfBoundsException if bytes are outside of the region
     * @throws IllegalArgumentException if the length or the flags are wrong
     * @throws IllegalStateException if the id or the region is closed, or the id is for datagrams
     * @throws io.rpma.RpmaException if there is no connection yet ({@code ENOTCONN}), or the device refuses
     */
    public boolean postWrite(RdmaMr src, long offset, long length, int flags, long remoteAddr, int rkey, long context) {
        checkConnected(flags);
        long mr = RdmaMr.use(src, offset, length);
        int result = Natives.postWrite(sendQueue, mr, offset, length, flags, remoteAddr, rkey, context);
        if (result < 0) {
            throw Call.failure("rdma_post_write", result, object, src.object());
        }
        return result == Result.POSTED;
    }

    /**
     * Posts a write that gathers its bytes from several parts of this side's memory.
     *
     * @param src where from, in this order
     * @param flags any of {@link #F_SIGNALED}, {@link #F_FENCE} and {@link #F_SOLICITED}, or 0
     * @param remoteAddr the address on the other side
     * @param rkey the other side's key
     * @param context comes back as {@link RpmaCompletions#wrId}
     * @return whether it is posted; false if the send queue is full
     * @throws IllegalArgumentException if the parts are more than {@link #maxSendSge}, or the flags are wrong
     * @throws IllegalStateException if the id or a region is closed, or the id is for datagrams
     * @throws io.rpma.RpmaException if there is no connection yet ({@code ENOTCONN}), or the device refuses
     */
    public boolean postWritev(RdmaSgeList src, int flags, long remoteAddr, int rkey, long context) {
        checkConnected(flags);
        int count = RdmaSgeList.use(src, maxSendSge);
        int result = Natives.postWritev(sendQueue, src.address(), count, flags, remoteAddr, rkey, context);
        Reference.reachabilityFence(src);
        if (result < 0) {
            throw Call.failure("rdma_post_writev", result, object);
        }
        return result == Result.POSTED;
    }

    /**
     * Posts a write of bytes that are copied now and need no region.
     *
     * @param src the bytes
     * @param length how many of them, from the first on
     * @param flags any of {@link #F_SIGNALED}, {@link #F_FENCE} and {@link #F_SOLICITED}, or 0
     * @param remoteAddr the address on the other side
     * @param rkey the other side's key
     * @param context comes back as {@link RpmaCompletions#wrId}
     * @return whether it is posted; false if the send queue is full
     * @throws IndexOutOfBoundsException if {@code length} is negative or beyond the capacity of {@code src}
     * @throws IllegalArgumentException if {@code length} is more than {@link #maxInlineData}, or the flags are wrong
     * @throws IllegalStateException if the id is closed, or it is for datagrams
     * @throws io.rpma.RpmaException if there is no connection yet ({@code ENOTCONN}), or the device refuses
     */
    public boolean postWriteInline(RdmaInlineData src, int length, int flags, long remoteAddr, int rkey, long context) {
        checkConnected(flags);
        long address = RdmaInlineData.use(src, length, maxInlineData);
        int result = Natives.postWriteInline(sendQueue, address, length, flags, remoteAddr, rkey, context);
        Reference.reachabilityFence(src);
        if (result < 0) {
            throw Call.failure("rdma_post_write", result, object);
        }
        return result == Result.POSTED;
    }

    /**
     * Posts a write with immediate data: after the bytes are written, the other side gets a completion with the data, for
     * which it has to have a receive posted.
     *
     * @param src where from
     * @param offset in bytes
     * @param length in bytes, 0 to 2^31 - 1
     * @param flags any of {@link #F_SIGNALED}, {@link #F_FENCE} and {@link #F_SOLICITED}, or 0
     * @param remoteAddr the address on the other side
     * @param rkey the other side's key
     * @param imm the immediate data: there {@link RpmaCompletions#immData}
     * @param context comes back as {@link RpmaCompletions#wrId}
     * @return whether it is posted; false if the send queue is full
     * @throws IndexOutOfBoundsException if bytes are outside of the region
     * @throws IllegalArgumentException if the length or the flags are wrong
     * @throws IllegalStateException if the id or the region is closed, or the id is for datagrams
     * @throws io.rpma.RpmaException if there is no connection yet ({@code ENOTCONN}), or the device refuses
     */
    public boolean postWriteWithImm(
            RdmaMr src, long offset, long length, int flags, long remoteAddr, int rkey, int imm, long context) {
        checkConnected(flags);
        long mr = RdmaMr.use(src, offset, length);
        int result = Natives.postWriteWithImm(sendQueue, mr, offset, length, flags, remoteAddr, rkey, imm, context);
        if (result < 0) {
            throw Call.failure("ibv_post_send", result, object, src.object());
        }
        return result == Result.POSTED;
    }

    /**
     * Posts a write with immediate data, as {@link #postWriteWithImm}, of bytes that are copied now and need no region.
     *
     * @param src the bytes
     * @param length how many of them, from the first on
     * @param flags any of {@link #F_SIGNALED}, {@link #F_FENCE} and {@link #F_SOLICITED}, or 0
     * @param remoteAddr the address on the other side
     * @param rkey the other side's key
     * @param imm the immediate data: there {@link RpmaCompletions#immData}
     * @param context comes back as {@link RpmaCompletions#wrId}
     * @return whether it is posted; false if the send queue is full
     * @throws IndexOutOfBoundsException if {@code length} is negative or beyond the capacity of {@code src}
     * @throws IllegalArgumentException if {@code length} is more than {@link #maxInlineData}, or the flags are wrong
     * @throws IllegalStateException if the id is closed, or it is for datagrams
     * @throws io.rpma.RpmaException if there is no connection yet ({@code ENOTCONN}), or the device refuses
     */
    public boolean postWriteWithImmInline(
            RdmaInlineData src, int length, int flags, long remoteAddr, int rkey, int imm, long context) {
        checkConnected(flags);
        long address = RdmaInlineData.use(src, length, maxInlineData);
        int result = Natives.postWriteWithImmInline(sendQueue, address, length, flags, remoteAddr, rkey, imm, context);
        Reference.reachabilityFence(src);
        if (result < 0) {
            throw Call.failure("ibv_post_send", result, object);
        }
        return result == Result.POSTED;
    }

    /**
     * Posts a read: copies bytes of the other side's memory into this side's.
     *
     * @param dst where to, registered for {@link RdmaAccess#LOCAL_WRITE}
     * @param offset in bytes
     * @param length in bytes, 0 to 2^31 - 1
     * @param flags any of {@link #F_SIGNALED}, {@link #F_FENCE} and {@link #F_SOLICITED}, or 0
     * @param remoteAddr the address on the other side
     * @param rkey the other side's key
     * @param context comes back as {@link RpmaCompletions#wrId}
     * @return whether it is posted; false if the send queue is full
     * @throws IndexOutOfBoundsException if bytes are outside of the region
     * @throws IllegalArgumentException if the region is not registered for this, or the length or the flags are wrong
     * @throws IllegalStateException if the id or the region is closed, or the id is for datagrams
     * @throws io.rpma.RpmaException if there is no connection yet ({@code ENOTCONN}), or the device refuses
     */
    public boolean postRead(RdmaMr dst, long offset, long length, int flags, long remoteAddr, int rkey, long context) {
        checkConnected(flags);
        long mr = RdmaMr.useWritable(dst, offset, length);
        int result = Natives.postRead(sendQueue, mr, offset, length, flags, remoteAddr, rkey, context);
        if (result < 0) {
            throw Call.failure("rdma_post_read", result, object, dst.object());
        }
        return result == Result.POSTED;
    }

    /**
     * Posts a read that scatters its bytes over several parts of this side's memory.
     *
     * @param dst where to, in this order, all registered for {@link RdmaAccess#LOCAL_WRITE}
     * @param flags any of {@link #F_SIGNALED}, {@link #F_FENCE} and {@link #F_SOLICITED}, or 0
     * @param remoteAddr the address on the other side
     * @param rkey the other side's key
     * @param context comes back as {@link RpmaCompletions#wrId}
     * @return whether it is posted; false if the send queue is full
     * @throws IllegalArgumentException if a region is not registered for this, the parts are more than {@link #maxSendSge}, or
     *     the flags are wrong
     * @throws IllegalStateException if the id or a region is closed, or the id is for datagrams
     * @throws io.rpma.RpmaException if there is no connection yet ({@code ENOTCONN}), or the device refuses
     */
    public boolean postReadv(RdmaSgeList dst, int flags, long remoteAddr, int rkey, long context) {
        checkConnected(flags);
        int count = RdmaSgeList.useWritable(dst, maxSendSge);
        int result = Natives.postReadv(sendQueue, dst.address(), count, flags, remoteAddr, rkey, context);
        Reference.reachabilityFence(dst);
        if (result < 0) {
            throw Call.failure("rdma_post_readv", result, object);
        }
        return result == Result.POSTED;
    }

    /**
     * Posts a message to the other side, which has to have a receive posted that it fits into.
     *
     * @param src where from
     * @param offset in bytes
     * @param length in bytes, 0 to 2^31 - 1
     * @param flags any of {@link #F_SIGNALED}, {@link #F_FENCE} and {@link #F_SOLICITED}, or 0
     * @param context comes back as {@link RpmaCompletions#wrId}
     * @return whether it is posted; false if the send queue is full
     * @throws IndexOutOfBoundsException if bytes are outside of the region
     * @throws IllegalArgumentException if the length or the flags are wrong
     * @throws IllegalStateException if the id or the region is closed, or the id is for datagrams
     * @throws io.rpma.RpmaException if there is no connection yet ({@code ENOTCONN}), or the device refuses
     */
    public boolean postSend(RdmaMr src, long offset, long length, int flags, long context) {
        checkConnected(flags);
        long mr = RdmaMr.use(src, offset, length);
        int result = Natives.postSend(sendQueue, mr, offset, length, flags, context);
        if (result < 0) {
            throw Call.failure("rdma_post_send", result, object, src.object());
        }
        return result == Result.POSTED;
    }

    /**
     * Posts a message that gathers its bytes from several parts of this side's memory.
     *
     * @param src where from, in this order
     * @param flags any of {@link #F_SIGNALED}, {@link #F_FENCE} and {@link #F_SOLICITED}, or 0
     * @param context comes back as {@link RpmaCompletions#wrId}
     * @return whether it is posted; false if the send queue is full
     * @throws IllegalArgumentException if the parts are more than {@link #maxSendSge}, or the flags are wrong
     * @throws IllegalStateException if the id or a region is closed, or the id is for datagrams
     * @throws io.rpma.RpmaException if there is no connection yet ({@code ENOTCONN}), or the device refuses
     */
    public boolean postSendv(RdmaSgeList src, int flags, long context) {
        checkConnected(flags);
        int count = RdmaSgeList.use(src, maxSendSge);
        int result = Natives.postSendv(sendQueue, src.address(), count, flags, context);
        Reference.reachabilityFence(src);
        if (result < 0) {
            throw Call.failure("rdma_post_sendv", result, object);
        }
        return result == Result.POSTED;
    }

    /**
     * Posts a message whose bytes are copied now and need no region.
     *
     * @param src the bytes
     * @param length how many of them, from the first on
     * @param flags any of {@link #F_SIGNALED}, {@link #F_FENCE} and {@link #F_SOLICITED}, or 0
     * @param context comes back as {@link RpmaCompletions#wrId}
     * @return whether it is posted; false if the send queue is full
     * @throws IndexOutOfBoundsException if {@code length} is negative or beyond the capacity of {@code src}
     * @throws IllegalArgumentException if {@code length} is more than {@link #maxInlineData}, or the flags are wrong
     * @throws IllegalStateException if the id is closed, or it is for datagrams
     * @throws io.rpma.RpmaException if there is no connection yet ({@code ENOTCONN}), or the device refuses
     */
    public boolean postSendInline(RdmaInlineData src, int length, int flags, long context) {
        checkConnected(flags);
        long address = RdmaInlineData.use(src, length, maxInlineData);
        int result = Natives.postSendInline(sendQueue, address, length, flags, context);
        Reference.reachabilityFence(src);
        if (result < 0) {
            throw Call.failure("rdma_post_send", result, object);
        }
        return result == Result.POSTED;
    }

    /**
     * Posts a message with immediate data.
     *
     * @param src where from
     * @param offset in bytes
     * @param length in bytes, 0 to 2^31 - 1
     * @param flags any of {@link #F_SIGNALED}, {@link #F_FENCE} and {@link #F_SOLICITED}, or 0
     * @param imm the immediate data: there {@link RpmaCompletions#immData}
     * @param context comes back as {@link RpmaCompletions#wrId}
     * @return whether it is posted; false if the send queue is full
     * @throws IndexOutOfBoundsException if bytes are outside of the region
     * @throws IllegalArgumentException if the length or the flags are wrong
     * @throws IllegalStateException if the id or the region is closed, or the id is for datagrams
     * @throws io.rpma.RpmaException if there is no connection yet ({@code ENOTCONN}), or the device refuses
     */
    public boolean postSendWithImm(RdmaMr src, long offset, long length, int flags, int imm, long context) {
        checkConnected(flags);
        long mr = RdmaMr.use(src, offset, length);
        int result = Natives.postSendWithImm(sendQueue, mr, offset, length, flags, imm, context);
        if (result < 0) {
            throw Call.failure("ibv_post_send", result, object, src.object());
        }
        return result == Result.POSTED;
    }

    /**
     * Posts a message with immediate data, whose bytes are copied now and need no region.
     *
     * @param src the bytes
     * @param length how many of them, from the first on
     * @param flags any of {@link #F_SIGNALED}, {@link #F_FENCE} and {@link #F_SOLICITED}, or 0
     * @param imm the immediate data: there {@link RpmaCompletions#immData}
     * @param context comes back as {@link RpmaCompletions#wrId}
     * @return whether it is posted; false if the send queue is full
     * @throws IndexOutOfBoundsException if {@code length} is negative or beyond the capacity of {@code src}
     * @throws IllegalArgumentException if {@code length} is more than {@link #maxInlineData}, or the flags are wrong
     * @throws IllegalStateException if the id is closed, or it is for datagrams
     * @throws io.rpma.RpmaException if there is no connection yet ({@code ENOTCONN}), or the device refuses
     */
    public boolean postSendWithImmInline(RdmaInlineData src, int length, int flags, int imm, long context) {
        checkConnected(flags);
        long address = RdmaInlineData.use(src, length, maxInlineData);
        int result = Natives.postSendWithImmInline(sendQueue, address, length, flags, imm, context);
        Reference.reachabilityFence(src);
        if (result < 0) {
            throw Call.failure("ibv_post_send", result, object);
        }
        return result == Result.POSTED;
    }

    /**
     * Posts a compare-and-swap: sets 8 bytes of the other side's memory if they have a value, at once, for all who do it
     * through the same device.
     *
     * @param dst where what was there before arrives, in the byte order of this machine; registered for
     *     {@link RdmaAccess#LOCAL_WRITE}
     * @param offset in bytes
     * @param flags any of {@link #F_SIGNALED}, {@link #F_FENCE} and {@link #F_SOLICITED}, or 0
     * @param remoteAddr the address on the other side, a multiple of 8, in a region for {@link RdmaAccess#REMOTE_ATOMIC}
     * @param rkey the other side's key
     * @param compare the value that they must have
     * @param swap the value that they get
     * @param context comes back as {@link RpmaCompletions#wrId}
     * @return whether it is posted; false if the send queue is full
     * @throws IndexOutOfBoundsException if bytes are outside of the region
     * @throws IllegalArgumentException if the region is not registered for this, {@code remoteAddr} is no multiple of 8, or
     *     the flags are wrong
     * @throws IllegalStateException if the id or the region is closed, or the id is for datagrams
     * @throws io.rpma.RpmaException if there is no connection yet ({@code ENOTCONN}), or the device refuses
     */
    public boolean postCompareAndSwap(
            RdmaMr dst, long offset, int flags, long remoteAddr, int rkey, long compare, long swap, long context) {
        checkConnected(flags);
        long mr = RdmaMr.useWritable(dst, offset, Long.BYTES);
        checkAligned(remoteAddr);
        int result = Natives.postCompareAndSwap(sendQueue, mr, offset, flags, remoteAddr, rkey, compare, swap, context);
        if (result < 0) {
            throw Call.failure("ibv_post_send", result, object, dst.object());
        }
        return result == Result.POSTED;
    }

    /**
     * Posts a fetch-and-add: adds to 8 bytes of the other side's memory, at once, for all who do it through the same device.
     *
     * @param dst where what was there before arrives, in the byte order of this machine; registered for
     *     {@link RdmaAccess#LOCAL_WRITE}
     * @param offset in bytes
     * @param flags any of {@link #F_SIGNALED}, {@link #F_FENCE} and {@link #F_SOLICITED}, or 0
     * @param remoteAddr the address on the other side, a multiple of 8, in a region for {@link RdmaAccess#REMOTE_ATOMIC}
     * @param rkey the other side's key
     * @param add what is added
     * @param context comes back as {@link RpmaCompletions#wrId}
     * @return whether it is posted; false if the send queue is full
     * @throws IndexOutOfBoundsException if bytes are outside of the region
     * @throws IllegalArgumentException if the region is not registered for this, {@code remoteAddr} is no multiple of 8, or
     *     the flags are wrong
     * @throws IllegalStateException if the id or the region is closed, or the id is for datagrams
     * @throws io.rpma.RpmaException if there is no connection yet ({@code ENOTCONN}), or the device refuses
     */
    public boolean postFetchAndAdd(
            RdmaMr dst, long offset, int flags, long remoteAddr, int rkey, long add, long context) {
        checkConnected(flags);
        long mr = RdmaMr.useWritable(dst, offset, Long.BYTES);
        checkAligned(remoteAddr);
        int result = Natives.postFetchAndAdd(sendQueue, mr, offset, flags, remoteAddr, rkey, add, context);
        if (result < 0) {
            throw Call.failure("ibv_post_send", result, object, dst.object());
        }
        return result == Result.POSTED;
    }

    /**
     * Posts a datagram, which is lost if the other side has no receive posted that it fits into.
     *
     * <p>A datagram that is longer than a packet, the MTU of the device's port (256 to 4096 bytes), does not arrive. On
     * soft-RoCE it completes without an error all the same; other devices may fail it.
     *
     * @param src where from
     * @param offset in bytes
     * @param length in bytes, 0 to 2^31 - 1
     * @param flags any of {@link #F_SIGNALED}, {@link #F_FENCE} and {@link #F_SOLICITED}, or 0
     * @param ah where it goes
     * @param remoteQpn the number of the queue pair there: {@link RdmaEvent#qpNum} or {@link RpmaCompletions#srcQp}
     * @param context comes back as {@link RpmaCompletions#wrId}
     * @return whether it is posted; false if the send queue is full
     * @throws IndexOutOfBoundsException if bytes are outside of the region
     * @throws IllegalArgumentException if the length or the flags are wrong
     * @throws IllegalStateException if the id, the region or {@code ah} is closed, or the id is for connections
     * @throws io.rpma.RpmaException if the device refuses
     */
    public boolean postUdSend(RdmaMr src, long offset, long length, int flags, RdmaAh ah, int remoteQpn, long context) {
        checkDatagrams(flags);
        long mr = RdmaMr.use(src, offset, length);
        int result = Natives.postUdSend(sendQueue, mr, offset, length, flags, ah.handle(), remoteQpn, context);
        if (result < 0) {
            throw Call.failure("rdma_post_ud_send", result, object, src.object(), ah.object());
        }
        return result == Result.POSTED;
    }

    /**
     * Posts a datagram, as {@link #postUdSend}, of bytes that are copied now and need no region.
     *
     * @param src the bytes
     * @param length how many of them, from the first on
     * @param flags any of {@link #F_SIGNALED}, {@link #F_FENCE} and {@link #F_SOLICITED}, or 0
     * @param ah where it goes
     * @param remoteQpn the number of the queue pair there: {@link RdmaEvent#qpNum} or {@link RpmaCompletions#srcQp}
     * @param context comes back as {@link RpmaCompletions#wrId}
     * @return whether it is posted; false if the send queue is full
     * @throws IndexOutOfBoundsException if {@code length} is negative or beyond the capacity of {@code src}
     * @throws IllegalArgumentException if {@code length} is more than {@link #maxInlineData}, or the flags are wrong
     * @throws IllegalStateException if the id or {@code ah} is closed, or the id is for connections
     * @throws io.rpma.RpmaException if the device refuses
     */
    public boolean postUdSendInline(RdmaInlineData src, int length, int flags, RdmaAh ah, int remoteQpn, long context) {
        checkDatagrams(flags);
        long address = RdmaInlineData.use(src, length, maxInlineData);
        int result = Natives.postUdSendInline(sendQueue, address, length, flags, ah.handle(), remoteQpn, context);
        Reference.reachabilityFence(src);
        if (result < 0) {
            throw Call.failure("rdma_post_ud_send", result, object, ah.object());
        }
        return result == Result.POSTED;
    }

    /**
     * Posts a receive: a message will arrive in the region. May be done before there is a connection.
     *
     * <p>A datagram arrives behind 40 bytes for its header, which {@link RdmaId#createAh(RpmaCompletions, int, RdmaMr, long)}
     * makes use of.
     *
     * @param dst where to, registered for {@link RdmaAccess#LOCAL_WRITE}
     * @param offset in bytes
     * @param length in bytes, 0 to 2^31 - 1
     * @param context comes back as {@link RpmaCompletions#wrId}
     * @return whether it is posted; false if the receive queue is full
     * @throws IndexOutOfBoundsException if bytes are outside of the region
     * @throws IllegalArgumentException if the region is not registered for this, or the length is wrong
     * @throws IllegalStateException if the id or the region is closed, or the queue pair has a shared receive queue
     * @throws io.rpma.RpmaException if the device refuses
     */
    public boolean postRecv(RdmaMr dst, long offset, long length, long context) {
        checkOwnReceives();
        long mr = RdmaMr.useWritable(dst, offset, length);
        int result = Natives.postRecv(recvQueue, mr, offset, length, context);
        if (result < 0) {
            throw Call.failure("rdma_post_recv", result, object, dst.object());
        }
        return result == Result.POSTED;
    }

    /**
     * Posts a receive: a message will be scattered over the parts, in their order.
     *
     * @param dst where to, in this order, all registered for {@link RdmaAccess#LOCAL_WRITE}
     * @param context comes back as {@link RpmaCompletions#wrId}
     * @return whether it is posted; false if the receive queue is full
     * @throws IllegalArgumentException if a region is not registered for this, or the parts are more than {@link #maxRecvSge}
     * @throws IllegalStateException if the id or a region is closed, or the queue pair has a shared receive queue
     * @throws io.rpma.RpmaException if the device refuses
     */
    public boolean postRecvv(RdmaSgeList dst, long context) {
        checkOwnReceives();
        int count = RdmaSgeList.useWritable(dst, maxRecvSge);
        int result = Natives.postRecvv(recvQueue, dst.address(), count, context);
        Reference.reachabilityFence(dst);
        if (result < 0) {
            throw Call.failure("rdma_post_recvv", result, object);
        }
        return result == Result.POSTED;
    }

    /**
     * Takes completions of operations without waiting.
     *
     * <p>Allocates nothing.
     *
     * @param completions where to; what it had before is gone
     * @return how many were taken, from 0 to the capacity
     * @throws IllegalStateException if the id is closed
     * @throws io.rpma.RpmaException if the device fails
     */
    public int pollSendComp(RpmaCompletions completions) {
        return sendCompletions.pollCount(completions);
    }

    /**
     * Takes completions of operations, and waits without end for the first one.
     *
     * @param completions where to; what it had before is gone
     * @return how many were taken, from 1 to the capacity
     * @throws InterruptedException if the thread is interrupted while waiting
     * @throws IllegalStateException if the id is closed, before or while waiting
     * @throws io.rpma.RpmaException if the device fails
     */
    public int getSendComp(RpmaCompletions completions) throws InterruptedException {
        return sendCompletions.take(completions, false, Waiter.FOREVER);
    }

    /**
     * Takes completions of operations, and waits for the first one if there is none.
     *
     * @param completions where to; what it had before is gone
     * @param timeout how long to wait; 0 does not wait
     * @param unit the unit of {@code timeout}
     * @return how many were taken, 0 if the time is up
     * @throws InterruptedException if the thread is interrupted while waiting
     * @throws IllegalArgumentException if {@code timeout} is negative
     * @throws IllegalStateException if the id is closed, before or while waiting
     * @throws io.rpma.RpmaException if the device fails
     */
    public int getSendComp(RpmaCompletions completions, long timeout, TimeUnit unit) throws InterruptedException {
        return sendCompletions.take(completions, false, Waiter.nanos(timeout, unit));
    }

    /**
     * Takes completions of receives without waiting.
     *
     * <p>Allocates nothing.
     *
     * @param completions where to; what it had before is gone
     * @return how many were taken, from 0 to the capacity
     * @throws IllegalStateException if the id is closed
     * @throws io.rpma.RpmaException if the device fails
     */
    public int pollRecvComp(RpmaCompletions completions) {
        return recvCompletions.pollCount(completions);
    }

    /**
     * Takes completions of receives, and waits without end for the first one.
     *
     * @param completions where to; what it had before is gone
     * @return how many were taken, from 1 to the capacity
     * @throws InterruptedException if the thread is interrupted while waiting
     * @throws IllegalStateException if the id is closed, before or while waiting
     * @throws io.rpma.RpmaException if the device fails
     */
    public int getRecvComp(RpmaCompletions completions) throws InterruptedException {
        return recvCompletions.take(completions, false, Waiter.FOREVER);
    }

    /**
     * Takes completions of receives, and waits for the first one if there is none.
     *
     * @param completions where to; what it had before is gone
     * @param timeout how long to wait; 0 does not wait
     * @param unit the unit of {@code timeout}
     * @return how many were taken, 0 if the time is up
     * @throws InterruptedException if the thread is interrupted while waiting
     * @throws IllegalArgumentException if {@code timeout} is negative
     * @throws IllegalStateException if the id is closed, before or while waiting
     * @throws io.rpma.RpmaException if the device fails
     */
    public int getRecvComp(RpmaCompletions completions, long timeout, TimeUnit unit) throws InterruptedException {
        return recvCompletions.take(completions, false, Waiter.nanos(timeout, unit));
    }

    /**
     * Takes completions of receives, and if there are none waits without end for the first solicited one: of what the other
     * side has posted with {@link #F_SOLICITED}, or of a failure. Unsolicited ones don't end the wait, except perhaps the
     * first after {@link #getRecvComp} has waited for any; they are taken with the one that does. Other waits for this queue
     * begin only when it is over.
     *
     * <p>Soft-RoCE goes by the other side's flag also where a receive fails, and since Linux 6.2 does not count receives that a
     * broken connection leaves: see {@link #getSolicitedRecvComp(RpmaCompletions, long, TimeUnit)}.
     *
     * @param completions where to; what it had before is gone
     * @return how many were taken, from 1 to the capacity
     * @throws InterruptedException if the thread is interrupted while waiting
     * @throws IllegalStateException if the id is closed, before or while waiting
     * @throws io.rpma.RpmaException if the device fails
     */
    public int getSolicitedRecvComp(RpmaCompletions completions) throws InterruptedException {
        return recvCompletions.take(completions, true, Waiter.FOREVER);
    }

    /**
     * Takes completions of receives, and if there are none waits for the first solicited one, as
     * {@link #getSolicitedRecvComp(RpmaCompletions)}, or until the time is up; then it takes those that have come unsolicited.
     *
     * @param completions where to; what it had before is gone
     * @param timeout how long to wait; 0 does not wait
     * @param unit the unit of {@code timeout}
     * @return how many were taken, 0 if there were none until the time was up
     * @throws InterruptedException if the thread is interrupted while waiting
     * @throws IllegalArgumentException if {@code timeout} is negative
     * @throws IllegalStateException if the id is closed, before or while waiting
     * @throws io.rpma.RpmaException if the device fails
     */
    public int getSolicitedRecvComp(RpmaCompletions completions, long timeout, TimeUnit unit)
            throws InterruptedException {
        return recvCompletions.take(completions, true, Waiter.nanos(timeout, unit));
    }

    private void checkConnected(int flags) {
        if (datagrams) {
            throw new IllegalStateException(object + " is for datagrams: see postUdSend()");
        }
        checkFlags(flags);
    }

    private void checkDatagrams(int flags) {
        if (!datagrams) {
            throw new IllegalStateException(object + " is for connections: see postSend()");
        }
        checkFlags(flags);
    }

    private static void checkFlags(int flags) {
        if ((flags & ~FLAGS) != 0) {
            throw new IllegalArgumentException("flags must be of F_SIGNALED, F_FENCE and F_SOLICITED, not " + flags);
        }
    }

    private static void checkAligned(long remoteAddr) {
        if (remoteAddr % Long.BYTES != 0) {
            throw new IllegalArgumentException(
                    "the address of an atomic is a multiple of 8, not 0x" + Long.toHexString(remoteAddr));
        }
    }

    private void checkOwnReceives() {
        if (usesSrq) {
            throw new IllegalStateException(object + " has a shared receive queue: see RdmaSrq.postRecv()");
        }
    }

    NativeObject object() {
        return object;
    }

    long sendQueue() {
        return sendQueue;
    }

    long recvQueue() {
        return recvQueue;
    }

    @Override
    public String toString() {
        return object.toString();
    }
}
