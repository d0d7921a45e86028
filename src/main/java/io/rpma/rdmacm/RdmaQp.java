// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.rdmacm;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaEventLoop;
import io.rpma.internal.Access;
import io.rpma.internal.Call;
import io.rpma.internal.Check;
import io.rpma.internal.Natives;
import io.rpma.internal.Resource;
import io.rpma.internal.Result;
import io.rpma.internal.Waiter;
import io.rpma.internal.loop.PeerProbe;
import java.lang.ref.Reference;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/**
 * The queue pair of an id: posts operations and receives, and takes their completions. {@link RdmaId#createQp} creates
 * it.
 *
 * <p>A write, and the wait for its completion:
 *
 * <pre>{@code
 * if (!qp.postWrite(mr, 0, 4096, RdmaQp.F_SIGNALED, remoteAddr, rkey, 42)) {
 *     throw new IllegalStateException("the send queue is full");
 * }
 * if (qp.getSendComp(completions, 5, TimeUnit.SECONDS) == 0) {
 *     throw new TimeoutException("no completion in 5 seconds");
 * }
 * for (int i = 0; i < completions.count(); i++) {
 *     System.out.println(completions.wrId(i) + ": " + completions.status(i));
 * }
 * }</pre>
 *
 * <p>Safe for use by many threads. The queue pair is closed with its id. The id can be closed while other threads post,
 * poll or wait: their calls finish first, or throw {@link IllegalStateException}.
 *
 * <p>A post never blocks and allocates nothing. It returns before the operation is complete. {@link #pollSendComp} and
 * {@link #pollRecvComp} take the completion, which has the context of the post. Until then, the program must not use
 * the local memory of the operation. An inline post copies its bytes, so that the program can change them after the
 * post returns.
 *
 * <p>A post returns {@code false} if its queue is full: poll completions and post again. Some devices free the entries
 * of the send queue only when a completion is polled. So set {@link #F_SIGNALED} for at least one of the operations
 * that fill the queue. Other devices, for example soft-RoCE, free an entry when its operation completes. Never have
 * more completions outstanding than the completion queues hold: {@link RdmaQpInitAttr#maxSendWr} and
 * {@link RdmaQpInitAttr#maxRecvWr} set their sizes. Otherwise the device loses completions, or breaks the connection.
 *
 * <p>{@link RdmaBatch} posts many operations in one downcall.
 *
 * <p>The remote address and the key are numbers that the other side sends. The remote device checks them, and checks
 * whether the remote region is registered for the operation. If a check fails, the operation completes with
 * {@link io.rpma.RpmaWcStatus#REM_ACCESS_ERR}. Each failed operation breaks the connection.
 *
 * <p>Inline posts are separate methods instead of a flag, because their bytes come from an {@link RdmaInlineData},
 * which needs no registration. No inline post takes its bytes from a memory region: the copy would end the process if
 * the region maps a file that was truncated. No inline post takes a list of parts: write the parts to the
 * {@link RdmaInlineData} one after the other. Neither posts with immediate data nor posts of datagrams take lists.
 *
 * <p>One operation transfers at most 2^31 - 1 bytes, or the maximum message size of the device's port if that is
 * smaller ({@code max_msg_sz} of ibv_devinfo(1)).
 *
 * <p>Manual pages: rdma_post_write(3), rdma_post_read(3), rdma_post_send(3), rdma_post_recv(3), rdma_post_writev(3),
 * rdma_post_readv(3), rdma_post_sendv(3), rdma_post_recvv(3), rdma_post_ud_send(3), ibv_post_send(3),
 * rdma_get_send_comp(3), rdma_get_recv_comp(3), ibv_poll_cq(3), ibv_req_notify_cq(3).
 */
public final class RdmaQp {
    /** Start the operation after all earlier reads and atomics are complete: {@code IBV_SEND_FENCE}. */
    public static final int F_FENCE = 1;

    /**
     * Generate a completion: {@code IBV_SEND_SIGNALED}. Without this flag, only a failed operation has a completion.
     */
    public static final int F_SIGNALED = 2;

    /**
     * Mark the completion on the other side as solicited: {@code IBV_SEND_SOLICITED}. See
     * {@link #getSolicitedRecvComp}.
     */
    public static final int F_SOLICITED = 4;

    /** The key that librdmacm gives the datagram queue pairs of {@link RdmaPortSpace#UDP}: {@code RDMA_UDP_QKEY}. */
    public static final int UDP_QKEY = 0x01234567;

    private static final int FLAGS = F_FENCE | F_SIGNALED | F_SOLICITED;

    /** {@code IBV_SEND_INLINE}. */
    private static final int INLINE = 8;

    // enum ibv_wr_opcode
    private static final int WRITE = 0;
    private static final int WRITE_WITH_IMM = 1;
    private static final int SEND = 2;
    private static final int SEND_WITH_IMM = 3;
    private static final int READ = 4;
    private static final int COMPARE_AND_SWAP = 5;
    private static final int FETCH_AND_ADD = 6;

    /** The id with this queue pair. Failures in an event loop are reported for the id, which the program can close. */
    private final RdmaId owner;

    private final Resource object;
    private final RdmaCompletionWait sendCompletions;
    private final RdmaCompletionWait recvCompletions;
    private final boolean datagrams;
    private final boolean usesSrq;
    private final boolean sigAll;

    // set by made

    private long sendQueue;
    private long recvQueue;
    private int maxSendWr;
    private int maxRecvWr;
    private int maxSendSge;
    private int maxRecvSge;
    private int maxInlineData;
    private int maxReadSge;
    private int qpNum;

    RdmaQp(RdmaId owner, Resource id, boolean datagrams, boolean usesSrq, boolean sigAll) {
        this.owner = owner;
        object = id.part("RdmaQp");
        sendCompletions = RdmaCompletionWait.ofOperations(id.part("send queue"));
        recvCompletions = RdmaCompletionWait.ofReceives(id.part("receive queue"));
        this.datagrams = datagrams;
        this.usesSrq = usesSrq;
        this.sigAll = sigAll;
    }

    /**
     * Takes the numbers and the handles of the native queue pair. Allocates nothing.
     *
     * @param numbers the numbers of native/rdmacm_qp.c
     * @param queues the handles of the send queue and of the receive queue
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
        maxReadSge = numbers[5];
        qpNum = numbers[6];
    }

    /** {@return the maximum number of outstanding operations, at least the requested number} */
    public int maxSendWr() {
        return maxSendWr;
    }

    /** {@return the maximum number of posted receives, at least the requested number} */
    public int maxRecvWr() {
        return maxRecvWr;
    }

    /** {@return the maximum number of parts of an operation, at least the requested number} */
    public int maxSendSge() {
        return maxSendSge;
    }

    /** {@return the maximum number of parts of a receive, at least the requested number} */
    public int maxRecvSge() {
        return maxRecvSge;
    }

    /** {@return the maximum number of bytes of an inline post, at least the requested number} */
    public int maxInlineData() {
        return maxInlineData;
    }

    /**
     * {@return the maximum number of parts of a read, at most {@link #maxSendSge}}
     *
     * <p>Most iWARP devices read into one part only.
     */
    public int maxReadSge() {
        return maxReadSge;
    }

    /**
     * {@return the number of the queue pair, unsigned, which {@link RpmaCompletions#qpNum} returns for its completions}
     */
    public int qpNum() {
        return qpNum;
    }

    /**
     * Posts a write, which copies bytes from local to remote memory.
     *
     * @param src the region to read from
     * @param offset the offset in the region, in bytes
     * @param length the number of bytes, 0 to 2^31 - 1
     * @param flags a combination of {@link #F_SIGNALED}, {@link #F_FENCE} and {@link #F_SOLICITED}, or 0
     * @param remoteAddr the remote address
     * @param rkey the key of the remote region
     * @param context the value that {@link RpmaCompletions#wrId} returns for the completion
     * @return true if the operation is posted, false if the send queue is full
     * @throws IndexOutOfBoundsException if {@code length} is negative, or the bytes are not all inside the region
     * @throws IllegalArgumentException if {@code length} exceeds the maximum of one operation, or the flags are invalid
     * @throws IllegalStateException if the id or the region is closed, or the id is for datagrams
     * @throws io.rpma.RpmaException if the id is not connected yet ({@code ENOTCONN}), or the device refuses the
     *     operation
     */
    public boolean postWrite(RdmaMr src, long offset, long length, int flags, long remoteAddr, int rkey, long context) {
        checkConnected(flags);
        long mr = RdmaMr.use(src, offset, length);
        int result = Natives.postRegion(sendQueue, what(WRITE, flags), mr, offset, length, remoteAddr, rkey, context);
        if (result < 0) {
            throw Call.failure("rdma_post_write", result, object, src.object());
        }
        return result == Result.POSTED;
    }

    /**
     * Posts a write that gathers its bytes from several parts of local memory.
     *
     * @param src the parts to read from, in this order
     * @param flags a combination of {@link #F_SIGNALED}, {@link #F_FENCE} and {@link #F_SOLICITED}, or 0
     * @param remoteAddr the remote address
     * @param rkey the key of the remote region
     * @param context the value that {@link RpmaCompletions#wrId} returns for the completion
     * @return true if the operation is posted, false if the send queue is full
     * @throws IllegalArgumentException if there are more than {@link #maxSendSge} parts, or the flags are invalid
     * @throws IllegalStateException if the id or a region is closed, or the id is for datagrams
     * @throws io.rpma.RpmaException if the id is not connected yet ({@code ENOTCONN}), or the device refuses the
     *     operation
     */
    public boolean postWritev(RdmaSgeList src, int flags, long remoteAddr, int rkey, long context) {
        checkConnected(flags);
        int count = RdmaSgeList.use(src, maxSendSge);
        int result = Natives.postParts(sendQueue, what(WRITE, flags), src.address(), count, remoteAddr, rkey, context);
        Reference.reachabilityFence(src);
        if (result < 0) {
            throw Call.failure("rdma_post_writev", result, object);
        }
        return result == Result.POSTED;
    }

    /**
     * Posts a write of bytes that the call copies, without a memory region.
     *
     * @param src the bytes to copy
     * @param length the number of bytes to copy, from the first byte
     * @param flags a combination of {@link #F_SIGNALED}, {@link #F_FENCE} and {@link #F_SOLICITED}, or 0
     * @param remoteAddr the remote address
     * @param rkey the key of the remote region
     * @param context the value that {@link RpmaCompletions#wrId} returns for the completion
     * @return true if the operation is posted, false if the send queue is full
     * @throws IndexOutOfBoundsException if {@code length} is negative or exceeds the capacity of {@code src}
     * @throws IllegalArgumentException if {@code length} exceeds {@link #maxInlineData}, or the flags are invalid
     * @throws IllegalStateException if the id is closed or for datagrams
     * @throws io.rpma.RpmaException if the id is not connected yet ({@code ENOTCONN}), or the device refuses the
     *     operation
     */
    public boolean postWriteInline(RdmaInlineData src, int length, int flags, long remoteAddr, int rkey, long context) {
        checkConnected(flags);
        long address = RdmaInlineData.use(src, length, maxInlineData);
        int result = Natives.postInline(sendQueue, what(WRITE, flags), address, length, remoteAddr, rkey, context);
        Reference.reachabilityFence(src);
        if (result < 0) {
            throw Call.failure("rdma_post_write", result, object);
        }
        return result == Result.POSTED;
    }

    /**
     * Posts a write with immediate data. After the bytes are written, the other side gets a completion with the
     * immediate data. The completion consumes a receive, which the other side must have posted.
     *
     * @param src the region to read from
     * @param offset the offset in the region, in bytes
     * @param length the number of bytes, 0 to 2^31 - 1
     * @param flags a combination of {@link #F_SIGNALED}, {@link #F_FENCE} and {@link #F_SOLICITED}, or 0
     * @param remoteAddr the remote address
     * @param rkey the key of the remote region
     * @param imm the immediate data, which {@link RpmaCompletions#immData} returns on the other side
     * @param context the value that {@link RpmaCompletions#wrId} returns for the completion
     * @return true if the operation is posted, false if the send queue is full
     * @throws IndexOutOfBoundsException if {@code length} is negative, or the bytes are not all inside the region
     * @throws IllegalArgumentException if {@code length} exceeds the maximum of one operation, or the flags are invalid
     * @throws IllegalStateException if the id or the region is closed, or the id is for datagrams
     * @throws io.rpma.RpmaException if the id is not connected yet ({@code ENOTCONN}), or the device refuses the
     *     operation
     */
    public boolean postWriteWithImm(
            RdmaMr src, long offset, long length, int flags, long remoteAddr, int rkey, int imm, long context) {
        checkConnected(flags);
        long mr = RdmaMr.use(src, offset, length);
        int result = Natives.postRegion(
                sendQueue, what(WRITE_WITH_IMM, flags, imm), mr, offset, length, remoteAddr, rkey, context);
        if (result < 0) {
            throw Call.failure("ibv_post_send", result, object, src.object());
        }
        return result == Result.POSTED;
    }

    /**
     * Posts a write with immediate data, as {@link #postWriteWithImm}, of bytes that the call copies, without a memory
     * region.
     *
     * @param src the bytes to copy
     * @param length the number of bytes to copy, from the first byte
     * @param flags a combination of {@link #F_SIGNALED}, {@link #F_FENCE} and {@link #F_SOLICITED}, or 0
     * @param remoteAddr the remote address
     * @param rkey the key of the remote region
     * @param imm the immediate data, which {@link RpmaCompletions#immData} returns on the other side
     * @param context the value that {@link RpmaCompletions#wrId} returns for the completion
     * @return true if the operation is posted, false if the send queue is full
     * @throws IndexOutOfBoundsException if {@code length} is negative or exceeds the capacity of {@code src}
     * @throws IllegalArgumentException if {@code length} exceeds {@link #maxInlineData}, or the flags are invalid
     * @throws IllegalStateException if the id is closed or for datagrams
     * @throws io.rpma.RpmaException if the id is not connected yet ({@code ENOTCONN}), or the device refuses the
     *     operation
     */
    public boolean postWriteWithImmInline(
            RdmaInlineData src, int length, int flags, long remoteAddr, int rkey, int imm, long context) {
        checkConnected(flags);
        long address = RdmaInlineData.use(src, length, maxInlineData);
        int result = Natives.postInline(
                sendQueue, what(WRITE_WITH_IMM, flags, imm), address, length, remoteAddr, rkey, context);
        Reference.reachabilityFence(src);
        if (result < 0) {
            throw Call.failure("ibv_post_send", result, object);
        }
        return result == Result.POSTED;
    }

    /**
     * Posts a read, which copies bytes from remote to local memory.
     *
     * @param dst the region to write to, registered for {@link RdmaAccess#LOCAL_WRITE}
     * @param offset the offset in the region, in bytes
     * @param length the number of bytes, 0 to 2^31 - 1
     * @param flags a combination of {@link #F_SIGNALED}, {@link #F_FENCE} and {@link #F_SOLICITED}, or 0
     * @param remoteAddr the remote address
     * @param rkey the key of the remote region
     * @param context the value that {@link RpmaCompletions#wrId} returns for the completion
     * @return true if the operation is posted, false if the send queue is full
     * @throws IndexOutOfBoundsException if {@code length} is negative, or the bytes are not all inside the region
     * @throws IllegalArgumentException if the region is not registered for {@link RdmaAccess#LOCAL_WRITE},
     *     {@code length} exceeds the maximum of one operation, or the flags are invalid
     * @throws IllegalStateException if the id or the region is closed, or the id is for datagrams
     * @throws io.rpma.RpmaException if the id is not connected yet ({@code ENOTCONN}), or the device refuses the
     *     operation
     */
    public boolean postRead(RdmaMr dst, long offset, long length, int flags, long remoteAddr, int rkey, long context) {
        checkConnected(flags);
        long mr = RdmaMr.useWritable(dst, offset, length);
        int result = Natives.postRegion(sendQueue, what(READ, flags), mr, offset, length, remoteAddr, rkey, context);
        if (result < 0) {
            throw Call.failure("rdma_post_read", result, object, dst.object());
        }
        return result == Result.POSTED;
    }

    /**
     * Posts a read that scatters its bytes over several parts of local memory.
     *
     * @param dst the parts to write to, in this order, all registered for {@link RdmaAccess#LOCAL_WRITE}
     * @param flags a combination of {@link #F_SIGNALED}, {@link #F_FENCE} and {@link #F_SOLICITED}, or 0
     * @param remoteAddr the remote address
     * @param rkey the key of the remote region
     * @param context the value that {@link RpmaCompletions#wrId} returns for the completion
     * @return true if the operation is posted, false if the send queue is full
     * @throws IllegalArgumentException if a region is not registered for {@link RdmaAccess#LOCAL_WRITE}, there are more
     *     than {@link #maxReadSge} parts, or the flags are invalid
     * @throws IllegalStateException if the id or a region is closed, or the id is for datagrams
     * @throws io.rpma.RpmaException if the id is not connected yet ({@code ENOTCONN}), or the device refuses the
     *     operation
     */
    public boolean postReadv(RdmaSgeList dst, int flags, long remoteAddr, int rkey, long context) {
        checkConnected(flags);
        int count = RdmaSgeList.useWritable(dst, maxReadSge);
        int result = Natives.postParts(sendQueue, what(READ, flags), dst.address(), count, remoteAddr, rkey, context);
        Reference.reachabilityFence(dst);
        if (result < 0) {
            throw Call.failure("rdma_post_readv", result, object);
        }
        return result == Result.POSTED;
    }

    /**
     * Posts a message to the other side, which must have posted a receive that is large enough.
     *
     * @param src the region to read from
     * @param offset the offset in the region, in bytes
     * @param length the number of bytes, 0 to 2^31 - 1
     * @param flags a combination of {@link #F_SIGNALED}, {@link #F_FENCE} and {@link #F_SOLICITED}, or 0
     * @param context the value that {@link RpmaCompletions#wrId} returns for the completion
     * @return true if the operation is posted, false if the send queue is full
     * @throws IndexOutOfBoundsException if {@code length} is negative, or the bytes are not all inside the region
     * @throws IllegalArgumentException if {@code length} exceeds the maximum of one operation, or the flags are invalid
     * @throws IllegalStateException if the id or the region is closed, or the id is for datagrams
     * @throws io.rpma.RpmaException if the id is not connected yet ({@code ENOTCONN}), or the device refuses the
     *     operation
     */
    public boolean postSend(RdmaMr src, long offset, long length, int flags, long context) {
        checkConnected(flags);
        long mr = RdmaMr.use(src, offset, length);
        int result = Natives.postRegion(sendQueue, what(SEND, flags), mr, offset, length, 0, 0, context);
        if (result < 0) {
            throw Call.failure("rdma_post_send", result, object, src.object());
        }
        return result == Result.POSTED;
    }

    /**
     * Posts a message that gathers its bytes from several parts of local memory.
     *
     * @param src the parts to read from, in this order
     * @param flags a combination of {@link #F_SIGNALED}, {@link #F_FENCE} and {@link #F_SOLICITED}, or 0
     * @param context the value that {@link RpmaCompletions#wrId} returns for the completion
     * @return true if the operation is posted, false if the send queue is full
     * @throws IllegalArgumentException if there are more than {@link #maxSendSge} parts, or the flags are invalid
     * @throws IllegalStateException if the id or a region is closed, or the id is for datagrams
     * @throws io.rpma.RpmaException if the id is not connected yet ({@code ENOTCONN}), or the device refuses the
     *     operation
     */
    public boolean postSendv(RdmaSgeList src, int flags, long context) {
        checkConnected(flags);
        int count = RdmaSgeList.use(src, maxSendSge);
        int result = Natives.postParts(sendQueue, what(SEND, flags), src.address(), count, 0, 0, context);
        Reference.reachabilityFence(src);
        if (result < 0) {
            throw Call.failure("rdma_post_sendv", result, object);
        }
        return result == Result.POSTED;
    }

    /**
     * Posts a message of bytes that the call copies, without a memory region.
     *
     * @param src the bytes to copy
     * @param length the number of bytes to copy, from the first byte
     * @param flags a combination of {@link #F_SIGNALED}, {@link #F_FENCE} and {@link #F_SOLICITED}, or 0
     * @param context the value that {@link RpmaCompletions#wrId} returns for the completion
     * @return true if the operation is posted, false if the send queue is full
     * @throws IndexOutOfBoundsException if {@code length} is negative or exceeds the capacity of {@code src}
     * @throws IllegalArgumentException if {@code length} exceeds {@link #maxInlineData}, or the flags are invalid
     * @throws IllegalStateException if the id is closed or for datagrams
     * @throws io.rpma.RpmaException if the id is not connected yet ({@code ENOTCONN}), or the device refuses the
     *     operation
     */
    public boolean postSendInline(RdmaInlineData src, int length, int flags, long context) {
        checkConnected(flags);
        long address = RdmaInlineData.use(src, length, maxInlineData);
        int result = Natives.postInline(sendQueue, what(SEND, flags), address, length, 0, 0, context);
        Reference.reachabilityFence(src);
        if (result < 0) {
            throw Call.failure("rdma_post_send", result, object);
        }
        return result == Result.POSTED;
    }

    /**
     * Posts a message with immediate data.
     *
     * @param src the region to read from
     * @param offset the offset in the region, in bytes
     * @param length the number of bytes, 0 to 2^31 - 1
     * @param flags a combination of {@link #F_SIGNALED}, {@link #F_FENCE} and {@link #F_SOLICITED}, or 0
     * @param imm the immediate data, which {@link RpmaCompletions#immData} returns on the other side
     * @param context the value that {@link RpmaCompletions#wrId} returns for the completion
     * @return true if the operation is posted, false if the send queue is full
     * @throws IndexOutOfBoundsException if {@code length} is negative, or the bytes are not all inside the region
     * @throws IllegalArgumentException if {@code length} exceeds the maximum of one operation, or the flags are invalid
     * @throws IllegalStateException if the id or the region is closed, or the id is for datagrams
     * @throws io.rpma.RpmaException if the id is not connected yet ({@code ENOTCONN}), or the device refuses the
     *     operation
     */
    public boolean postSendWithImm(RdmaMr src, long offset, long length, int flags, int imm, long context) {
        checkConnected(flags);
        long mr = RdmaMr.use(src, offset, length);
        int result = Natives.postRegion(sendQueue, what(SEND_WITH_IMM, flags, imm), mr, offset, length, 0, 0, context);
        if (result < 0) {
            throw Call.failure("ibv_post_send", result, object, src.object());
        }
        return result == Result.POSTED;
    }

    /**
     * Posts a message with immediate data, of bytes that the call copies, without a memory region.
     *
     * @param src the bytes to copy
     * @param length the number of bytes to copy, from the first byte
     * @param flags a combination of {@link #F_SIGNALED}, {@link #F_FENCE} and {@link #F_SOLICITED}, or 0
     * @param imm the immediate data, which {@link RpmaCompletions#immData} returns on the other side
     * @param context the value that {@link RpmaCompletions#wrId} returns for the completion
     * @return true if the operation is posted, false if the send queue is full
     * @throws IndexOutOfBoundsException if {@code length} is negative or exceeds the capacity of {@code src}
     * @throws IllegalArgumentException if {@code length} exceeds {@link #maxInlineData}, or the flags are invalid
     * @throws IllegalStateException if the id is closed or for datagrams
     * @throws io.rpma.RpmaException if the id is not connected yet ({@code ENOTCONN}), or the device refuses the
     *     operation
     */
    public boolean postSendWithImmInline(RdmaInlineData src, int length, int flags, int imm, long context) {
        checkConnected(flags);
        long address = RdmaInlineData.use(src, length, maxInlineData);
        int result = Natives.postInline(sendQueue, what(SEND_WITH_IMM, flags, imm), address, length, 0, 0, context);
        Reference.reachabilityFence(src);
        if (result < 0) {
            throw Call.failure("ibv_post_send", result, object);
        }
        return result == Result.POSTED;
    }

    /**
     * Posts a compare-and-swap, which sets 8 bytes of remote memory if they have an expected value. It is atomic with
     * respect to other atomics through the same remote device.
     *
     * @param dst the region to write the previous value to, in the byte order of this machine; registered for
     *     {@link RdmaAccess#LOCAL_WRITE}
     * @param offset the offset in the region, in bytes
     * @param flags a combination of {@link #F_SIGNALED}, {@link #F_FENCE} and {@link #F_SOLICITED}, or 0
     * @param remoteAddr the remote address, a multiple of 8, in a region that is registered for
     *     {@link RdmaAccess#REMOTE_ATOMIC}
     * @param rkey the key of the remote region
     * @param compare the expected value
     * @param swap the new value
     * @param context the value that {@link RpmaCompletions#wrId} returns for the completion
     * @return true if the operation is posted, false if the send queue is full
     * @throws IndexOutOfBoundsException if the bytes are not all inside the region
     * @throws IllegalArgumentException if the region is not registered for {@link RdmaAccess#LOCAL_WRITE},
     *     {@code remoteAddr} is not a multiple of 8, or the flags are invalid
     * @throws IllegalStateException if the id or the region is closed, or the id is for datagrams
     * @throws io.rpma.RpmaException if the id is not connected yet ({@code ENOTCONN}), or the device refuses the
     *     operation
     */
    public boolean postCompareAndSwap(
            RdmaMr dst, long offset, int flags, long remoteAddr, int rkey, long compare, long swap, long context) {
        checkConnected(flags);
        long mr = RdmaMr.useWritable(dst, offset, Long.BYTES);
        checkAligned(remoteAddr);
        int result = Natives.postAtomic(
                sendQueue, what(COMPARE_AND_SWAP, flags), mr, offset, remoteAddr, rkey, compare, swap, context);
        if (result < 0) {
            throw Call.failure("ibv_post_send", result, object, dst.object());
        }
        return result == Result.POSTED;
    }

    /**
     * Posts a fetch-and-add, which adds a number to 8 bytes of remote memory. It is atomic with respect to other
     * atomics through the same remote device.
     *
     * @param dst the region to write the previous value to, in the byte order of this machine; registered for
     *     {@link RdmaAccess#LOCAL_WRITE}
     * @param offset the offset in the region, in bytes
     * @param flags a combination of {@link #F_SIGNALED}, {@link #F_FENCE} and {@link #F_SOLICITED}, or 0
     * @param remoteAddr the remote address, a multiple of 8, in a region that is registered for
     *     {@link RdmaAccess#REMOTE_ATOMIC}
     * @param rkey the key of the remote region
     * @param add the number to add
     * @param context the value that {@link RpmaCompletions#wrId} returns for the completion
     * @return true if the operation is posted, false if the send queue is full
     * @throws IndexOutOfBoundsException if the bytes are not all inside the region
     * @throws IllegalArgumentException if the region is not registered for {@link RdmaAccess#LOCAL_WRITE},
     *     {@code remoteAddr} is not a multiple of 8, or the flags are invalid
     * @throws IllegalStateException if the id or the region is closed, or the id is for datagrams
     * @throws io.rpma.RpmaException if the id is not connected yet ({@code ENOTCONN}), or the device refuses the
     *     operation
     */
    public boolean postFetchAndAdd(
            RdmaMr dst, long offset, int flags, long remoteAddr, int rkey, long add, long context) {
        checkConnected(flags);
        long mr = RdmaMr.useWritable(dst, offset, Long.BYTES);
        checkAligned(remoteAddr);
        int result = Natives.postAtomic(
                sendQueue, what(FETCH_AND_ADD, flags), mr, offset, remoteAddr, rkey, add, 0, context);
        if (result < 0) {
            throw Call.failure("ibv_post_send", result, object, dst.object());
        }
        return result == Result.POSTED;
    }

    /**
     * Posts a datagram. The datagram is lost if the other side has not posted a receive that is large enough.
     *
     * <p>The key of the remote queue pair is librdmacm's default, {@code RDMA_UDP_QKEY}.
     *
     * <p>A datagram that is longer than a packet does not arrive. The maximum length of a packet is the MTU of the
     * device's port, 256 to 4096 bytes. On soft-RoCE, a longer datagram completes without an error; other devices may
     * report a failure.
     *
     * @param src the region to read from
     * @param offset the offset in the region, in bytes
     * @param length the number of bytes, 0 to 2^31 - 1
     * @param flags a combination of {@link #F_SIGNALED}, {@link #F_FENCE} and {@link #F_SOLICITED}, or 0
     * @param ah the destination
     * @param remoteQpn the number of the remote queue pair: {@link RdmaEvent#qpNum} or {@link RpmaCompletions#srcQp}
     * @param context the value that {@link RpmaCompletions#wrId} returns for the completion
     * @return true if the operation is posted, false if the send queue is full
     * @throws IndexOutOfBoundsException if {@code length} is negative, or the bytes are not all inside the region
     * @throws IllegalArgumentException if {@code length} exceeds the maximum of one operation, or the flags are invalid
     * @throws IllegalStateException if the id, the region or {@code ah} is closed, or the id is for connections
     * @throws io.rpma.RpmaException if the device refuses the operation
     */
    public boolean postUdSend(RdmaMr src, long offset, long length, int flags, RdmaAh ah, int remoteQpn, long context) {
        return postUdSend(src, offset, length, flags, ah, remoteQpn, UDP_QKEY, context);
    }

    /**
     * Posts a datagram, as {@link #postUdSend(RdmaMr, long, long, int, RdmaAh, int, long)}, to a queue pair with its
     * own key.
     *
     * @param src the region to read from
     * @param offset the offset in the region, in bytes
     * @param length the number of bytes, 0 to 2^31 - 1
     * @param flags a combination of {@link #F_SIGNALED}, {@link #F_FENCE} and {@link #F_SOLICITED}, or 0
     * @param ah the destination
     * @param remoteQpn the number of the remote queue pair: {@link RdmaEvent#qpNum} or {@link RpmaCompletions#srcQp}
     * @param remoteQkey the key of the remote queue pair: {@link RdmaEvent#qkey}
     * @param context the value that {@link RpmaCompletions#wrId} returns for the completion
     * @return true if the operation is posted, false if the send queue is full
     * @throws IndexOutOfBoundsException if {@code length} is negative, or the bytes are not all inside the region
     * @throws IllegalArgumentException if {@code length} exceeds the maximum of one operation, or the flags are invalid
     * @throws IllegalStateException if the id, the region or {@code ah} is closed, or the id is for connections
     * @throws io.rpma.RpmaException if the device refuses the operation
     */
    public boolean postUdSend(
            RdmaMr src, long offset, long length, int flags, RdmaAh ah, int remoteQpn, int remoteQkey, long context) {
        checkDatagrams(flags);
        long mr = RdmaMr.use(src, offset, length);
        long to = RdmaAh.use(ah);
        int result = Natives.postDatagram(
                sendQueue, what(SEND, flags), mr, offset, length, to, remoteQpn, remoteQkey, context);
        if (result < 0) {
            throw Call.failure("ibv_post_send", result, object, src.object(), ah.object());
        }
        return result == Result.POSTED;
    }

    /**
     * Posts a datagram, as {@link #postUdSend(RdmaMr, long, long, int, RdmaAh, int, long)}, of bytes that the call
     * copies, without a memory region.
     *
     * @param src the bytes to copy
     * @param length the number of bytes to copy, from the first byte
     * @param flags a combination of {@link #F_SIGNALED}, {@link #F_FENCE} and {@link #F_SOLICITED}, or 0
     * @param ah the destination
     * @param remoteQpn the number of the remote queue pair: {@link RdmaEvent#qpNum} or {@link RpmaCompletions#srcQp}
     * @param context the value that {@link RpmaCompletions#wrId} returns for the completion
     * @return true if the operation is posted, false if the send queue is full
     * @throws IndexOutOfBoundsException if {@code length} is negative or exceeds the capacity of {@code src}
     * @throws IllegalArgumentException if {@code length} exceeds {@link #maxInlineData}, or the flags are invalid
     * @throws IllegalStateException if the id or {@code ah} is closed, or the id is for connections
     * @throws io.rpma.RpmaException if the device refuses the operation
     */
    public boolean postUdSendInline(RdmaInlineData src, int length, int flags, RdmaAh ah, int remoteQpn, long context) {
        return postUdSendInline(src, length, flags, ah, remoteQpn, UDP_QKEY, context);
    }

    /**
     * Posts a datagram, as {@link #postUdSendInline(RdmaInlineData, int, int, RdmaAh, int, long)}, to a queue pair with
     * its own key.
     *
     * @param src the bytes to copy
     * @param length the number of bytes to copy, from the first byte
     * @param flags a combination of {@link #F_SIGNALED}, {@link #F_FENCE} and {@link #F_SOLICITED}, or 0
     * @param ah the destination
     * @param remoteQpn the number of the remote queue pair: {@link RdmaEvent#qpNum} or {@link RpmaCompletions#srcQp}
     * @param remoteQkey the key of the remote queue pair: {@link RdmaEvent#qkey}
     * @param context the value that {@link RpmaCompletions#wrId} returns for the completion
     * @return true if the operation is posted, false if the send queue is full
     * @throws IndexOutOfBoundsException if {@code length} is negative or exceeds the capacity of {@code src}
     * @throws IllegalArgumentException if {@code length} exceeds {@link #maxInlineData}, or the flags are invalid
     * @throws IllegalStateException if the id or {@code ah} is closed, or the id is for connections
     * @throws io.rpma.RpmaException if the device refuses the operation
     */
    public boolean postUdSendInline(
            RdmaInlineData src, int length, int flags, RdmaAh ah, int remoteQpn, int remoteQkey, long context) {
        checkDatagrams(flags);
        long address = RdmaInlineData.use(src, length, maxInlineData);
        long to = RdmaAh.use(ah);
        int result = Natives.postDatagram(
                sendQueue, what(SEND, flags | INLINE), 0, address, length, to, remoteQpn, remoteQkey, context);
        Reference.reachabilityFence(src);
        if (result < 0) {
            throw Call.failure("ibv_post_send", result, object, ah.object());
        }
        return result == Result.POSTED;
    }

    /**
     * Posts a datagram with immediate data, as {@link #postUdSend(RdmaMr, long, long, int, RdmaAh, int, int, long)}.
     *
     * @param src the region to read from
     * @param offset the offset in the region, in bytes
     * @param length the number of bytes, 0 to 2^31 - 1
     * @param flags a combination of {@link #F_SIGNALED}, {@link #F_FENCE} and {@link #F_SOLICITED}, or 0
     * @param ah the destination
     * @param remoteQpn the number of the remote queue pair: {@link RdmaEvent#qpNum} or {@link RpmaCompletions#srcQp}
     * @param remoteQkey the key of the remote queue pair: {@link RdmaEvent#qkey}
     * @param imm the immediate data, which {@link RpmaCompletions#immData} returns on the other side
     * @param context the value that {@link RpmaCompletions#wrId} returns for the completion
     * @return true if the operation is posted, false if the send queue is full
     * @throws IndexOutOfBoundsException if {@code length} is negative, or the bytes are not all inside the region
     * @throws IllegalArgumentException if {@code length} exceeds the maximum of one operation, or the flags are invalid
     * @throws IllegalStateException if the id, the region or {@code ah} is closed, or the id is for connections
     * @throws io.rpma.RpmaException if the device refuses the operation
     */
    public boolean postUdSendWithImm(
            RdmaMr src,
            long offset,
            long length,
            int flags,
            RdmaAh ah,
            int remoteQpn,
            int remoteQkey,
            int imm,
            long context) {
        checkDatagrams(flags);
        long mr = RdmaMr.use(src, offset, length);
        long to = RdmaAh.use(ah);
        int result = Natives.postDatagram(
                sendQueue, what(SEND_WITH_IMM, flags, imm), mr, offset, length, to, remoteQpn, remoteQkey, context);
        if (result < 0) {
            throw Call.failure("ibv_post_send", result, object, src.object(), ah.object());
        }
        return result == Result.POSTED;
    }

    /**
     * Posts a datagram with immediate data, as {@link #postUdSendWithImm}, of bytes that the call copies, without a
     * memory region.
     *
     * @param src the bytes to copy
     * @param length the number of bytes to copy, from the first byte
     * @param flags a combination of {@link #F_SIGNALED}, {@link #F_FENCE} and {@link #F_SOLICITED}, or 0
     * @param ah the destination
     * @param remoteQpn the number of the remote queue pair: {@link RdmaEvent#qpNum} or {@link RpmaCompletions#srcQp}
     * @param remoteQkey the key of the remote queue pair: {@link RdmaEvent#qkey}
     * @param imm the immediate data, which {@link RpmaCompletions#immData} returns on the other side
     * @param context the value that {@link RpmaCompletions#wrId} returns for the completion
     * @return true if the operation is posted, false if the send queue is full
     * @throws IndexOutOfBoundsException if {@code length} is negative or exceeds the capacity of {@code src}
     * @throws IllegalArgumentException if {@code length} exceeds {@link #maxInlineData}, or the flags are invalid
     * @throws IllegalStateException if the id or {@code ah} is closed, or the id is for connections
     * @throws io.rpma.RpmaException if the device refuses the operation
     */
    public boolean postUdSendWithImmInline(
            RdmaInlineData src,
            int length,
            int flags,
            RdmaAh ah,
            int remoteQpn,
            int remoteQkey,
            int imm,
            long context) {
        checkDatagrams(flags);
        long address = RdmaInlineData.use(src, length, maxInlineData);
        long to = RdmaAh.use(ah);
        int result = Natives.postDatagram(
                sendQueue,
                what(SEND_WITH_IMM, flags | INLINE, imm),
                0,
                address,
                length,
                to,
                remoteQpn,
                remoteQkey,
                context);
        Reference.reachabilityFence(src);
        if (result < 0) {
            throw Call.failure("ibv_post_send", result, object, ah.object());
        }
        return result == Result.POSTED;
    }

    /**
     * Posts a receive, which writes a message to the region. Receives can be posted before the id is connected.
     *
     * <p>If the id is for datagrams, the first 40 bytes of a receive are for the header of the datagram, and the bytes
     * of the datagram follow. The receive must therefore have 40 bytes more than the datagram.
     * {@link RdmaId#createAh(RpmaCompletions, int, RdmaMr, long)} reads the header.
     *
     * @param dst the region to write to, registered for {@link RdmaAccess#LOCAL_WRITE}
     * @param offset the offset in the region, in bytes
     * @param length the number of bytes, 0 to 2^31 - 1
     * @param context the value that {@link RpmaCompletions#wrId} returns for the completion
     * @return true if the receive is posted, false if the receive queue is full
     * @throws IndexOutOfBoundsException if {@code length} is negative, or the bytes are not all inside the region
     * @throws IllegalArgumentException if the region is not registered for {@link RdmaAccess#LOCAL_WRITE}, or
     *     {@code length} exceeds the maximum of one operation
     * @throws IllegalStateException if the id or the region is closed, or the queue pair has a shared receive queue
     * @throws io.rpma.RpmaException if the device refuses the operation
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
     * Posts a receive, which scatters a message over the parts in their order.
     *
     * @param dst the parts to write to, in this order, all registered for {@link RdmaAccess#LOCAL_WRITE}
     * @param context the value that {@link RpmaCompletions#wrId} returns for the completion
     * @return true if the receive is posted, false if the receive queue is full
     * @throws IllegalArgumentException if a region is not registered for {@link RdmaAccess#LOCAL_WRITE}, or there are
     *     more than {@link #maxRecvSge} parts
     * @throws IllegalStateException if the id or a region is closed, or the queue pair has a shared receive queue
     * @throws io.rpma.RpmaException if the device refuses the operation
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
     * @param completions the array to fill; its previous contents are discarded
     * @return the number of completions, from 0 to the capacity of the array
     * @throws IllegalStateException if the id is closed
     * @throws io.rpma.RpmaException if the device fails
     */
    public int pollSendComp(RpmaCompletions completions) {
        return sendCompletions.pollCount(completions);
    }

    /**
     * Takes completions of operations. If there are none, waits for the first one, without a timeout.
     *
     * @param completions the array to fill; its previous contents are discarded
     * @return the number of completions, from 1 to the capacity of the array
     * @throws InterruptedException if the thread is interrupted before or during the call
     * @throws IllegalStateException if the id is closed before or during the wait
     * @throws io.rpma.RpmaException if the device fails
     */
    public int getSendComp(RpmaCompletions completions) throws InterruptedException {
        return sendCompletions.take(completions, false, null, Waiter.FOREVER);
    }

    /**
     * Takes completions of operations. If there are none, waits for the first one.
     *
     * @param completions the array to fill; its previous contents are discarded
     * @param timeout the maximum time to wait; 0 does not wait
     * @param unit the unit of {@code timeout}
     * @return the number of completions, 0 if the wait times out
     * @throws InterruptedException if the thread is interrupted before or during the call
     * @throws IllegalArgumentException if {@code timeout} is negative
     * @throws IllegalStateException if the id is closed before or during the wait
     * @throws io.rpma.RpmaException if the device fails
     */
    public int getSendComp(RpmaCompletions completions, long timeout, TimeUnit unit) throws InterruptedException {
        return sendCompletions.take(completions, false, null, Waiter.nanos(timeout, unit));
    }

    /**
     * Takes completions of operations. If there are none, waits for the first one, as long as the id is connected: the
     * wait also ends with an event that reports the end of the connection, such as {@link RdmaEventType#DISCONNECTED}.
     *
     * <p>Completions that have arrived come first. Those of operations that the other side has executed can still come
     * after the event. The wait takes the event, unless another thread waits for events or a loop serves them;
     * {@link RdmaId#nextEvent()} still returns it afterwards. While another thread waits for this queue by a method that
     * does not watch the connection, only the timeout ends this wait.
     *
     * @param completions the array to fill; its previous contents are discarded
     * @param timeout the maximum time to wait; 0 does not wait
     * @param unit the unit of {@code timeout}
     * @return the number of completions, 0 if the wait times out
     * @throws InterruptedException if the thread is interrupted before or during the call
     * @throws IllegalArgumentException if {@code timeout} is negative
     * @throws IllegalStateException if the id is closed before or during the wait
     * @throws io.rpma.RpmaException with {@code ENOTCONN} and the event if the connection has ended and there are no
     *     completions, with {@code ECONNREFUSED} if it was rejected; or if the device fails
     */
    public int getSendCompWhileConnected(RpmaCompletions completions, long timeout, TimeUnit unit)
            throws InterruptedException {
        return sendCompletions.take(completions, false, owner.events(), Waiter.nanos(timeout, unit));
    }

    /**
     * Takes completions of receives without waiting.
     *
     * <p>Allocates nothing.
     *
     * @param completions the array to fill; its previous contents are discarded
     * @return the number of completions, from 0 to the capacity of the array
     * @throws IllegalStateException if the id is closed
     * @throws io.rpma.RpmaException if the device fails
     */
    public int pollRecvComp(RpmaCompletions completions) {
        return recvCompletions.pollCount(completions);
    }

    /**
     * Takes completions of receives. If there are none, waits for the first one, without a timeout.
     *
     * @param completions the array to fill; its previous contents are discarded
     * @return the number of completions, from 1 to the capacity of the array
     * @throws InterruptedException if the thread is interrupted before or during the call
     * @throws IllegalStateException if the id is closed before or during the wait
     * @throws io.rpma.RpmaException if the device fails
     */
    public int getRecvComp(RpmaCompletions completions) throws InterruptedException {
        return recvCompletions.take(completions, false, null, Waiter.FOREVER);
    }

    /**
     * Takes completions of receives. If there are none, waits for the first one.
     *
     * @param completions the array to fill; its previous contents are discarded
     * @param timeout the maximum time to wait; 0 does not wait
     * @param unit the unit of {@code timeout}
     * @return the number of completions, 0 if the wait times out
     * @throws InterruptedException if the thread is interrupted before or during the call
     * @throws IllegalArgumentException if {@code timeout} is negative
     * @throws IllegalStateException if the id is closed before or during the wait
     * @throws io.rpma.RpmaException if the device fails
     */
    public int getRecvComp(RpmaCompletions completions, long timeout, TimeUnit unit) throws InterruptedException {
        return recvCompletions.take(completions, false, null, Waiter.nanos(timeout, unit));
    }

    /**
     * Takes completions of receives. If there are none, waits for the first one, as long as the id is connected: the
     * wait also ends with an event that reports the end of the connection, such as {@link RdmaEventType#DISCONNECTED}.
     *
     * <p>Completions that have arrived come first. Those of operations that the other side has executed can still come
     * after the event. The wait takes the event, unless another thread waits for events or a loop serves them;
     * {@link RdmaId#nextEvent()} still returns it afterwards. While another thread waits for this queue by a method that
     * does not watch the connection, only the timeout ends this wait.
     *
     * @param completions the array to fill; its previous contents are discarded
     * @param timeout the maximum time to wait; 0 does not wait
     * @param unit the unit of {@code timeout}
     * @return the number of completions, 0 if the wait times out
     * @throws InterruptedException if the thread is interrupted before or during the call
     * @throws IllegalArgumentException if {@code timeout} is negative
     * @throws IllegalStateException if the id is closed before or during the wait
     * @throws io.rpma.RpmaException with {@code ENOTCONN} and the event if the connection has ended and there are no
     *     completions, with {@code ECONNREFUSED} if it was rejected; or if the device fails
     */
    public int getRecvCompWhileConnected(RpmaCompletions completions, long timeout, TimeUnit unit)
            throws InterruptedException {
        return recvCompletions.take(completions, false, owner.events(), Waiter.nanos(timeout, unit));
    }

    /**
     * Takes completions of receives. If there are none, waits for the first solicited completion, without a timeout. A
     * completion is solicited if the other side has posted its operation with {@link #F_SOLICITED}, or if the
     * completion reports a failure.
     *
     * <p>Unsolicited completions do not end the wait. The call takes them together with the solicited completion.
     * Exceptions: after a wait of {@link #getRecvComp}, the first unsolicited completion can end the next solicited
     * wait; so can an interruption that reaches its thread late, after the wait that it was meant for. While this call waits, any other call that waits for this queue polls the queue once, and then blocks until
     * this call or its own timeout ends.
     *
     * <p>On soft-RoCE, the completion of a failed receive is solicited only if the other side has set the flag. On
     * soft-RoCE since Linux 6.2, a receive that fails because the connection is broken does not end the wait: use
     * {@link #getSolicitedRecvComp(RpmaCompletions, long, TimeUnit)}.
     *
     * @param completions the array to fill; its previous contents are discarded
     * @return the number of completions, from 1 to the capacity of the array
     * @throws InterruptedException if the thread is interrupted before or during the call
     * @throws IllegalStateException if the id is closed before or during the wait
     * @throws io.rpma.RpmaException if the device fails
     */
    public int getSolicitedRecvComp(RpmaCompletions completions) throws InterruptedException {
        return recvCompletions.take(completions, true, null, Waiter.FOREVER);
    }

    /**
     * Takes completions of receives. If there are none, waits for the first solicited completion, as
     * {@link #getSolicitedRecvComp(RpmaCompletions)}. If the wait times out, takes the unsolicited completions.
     *
     * @param completions the array to fill; its previous contents are discarded
     * @param timeout the maximum time to wait; 0 does not wait
     * @param unit the unit of {@code timeout}
     * @return the number of completions, 0 if the wait times out and there are none
     * @throws InterruptedException if the thread is interrupted before or during the call
     * @throws IllegalArgumentException if {@code timeout} is negative
     * @throws IllegalStateException if the id is closed before or during the wait
     * @throws io.rpma.RpmaException if the device fails
     */
    public int getSolicitedRecvComp(RpmaCompletions completions, long timeout, TimeUnit unit)
            throws InterruptedException {
        return recvCompletions.take(completions, true, null, Waiter.nanos(timeout, unit));
    }

    /**
     * Registers a handler of the completions of operations with an event loop, including completions that are already
     * in the queue.
     *
     * @param loop the loop
     * @param batchSize the maximum number of completions in one call, at least 1
     * @param handler handles each batch: at least one completion; the array belongs to the registration and is valid
     *     until the call returns
     * @return the registration
     * @throws IllegalArgumentException if {@code batchSize} is out of range (see {@link RpmaCompletions#create})
     * @throws IllegalStateException if the id of this queue pair or the loop is closed, if a loop already serves the
     *     queue, or if a thread waits for it
     * @throws io.rpma.RpmaException if the kernel refuses to watch another descriptor
     */
    public RpmaEventLoop.Registration onSendComp(
            RpmaEventLoop loop, int batchSize, RpmaEventLoop.Handler<? super RpmaCompletions> handler) {
        return sendCompletions.register(loop, owner, batchSize, false, handler);
    }

    /**
     * Registers a handler that is called once, if the other side no longer answers. The loop must serve the completions
     * of operations ({@link #onSendComp}). After each {@code period} it checks whether an operation has completed since
     * the previous check. If none has, it posts a probe, a write of 0 bytes. If nothing completes within {@code limit}
     * after that, the other side is lost: the handler is called at most {@code 2 * period + limit} after the other host
     * has died. On iWARP, it takes minutes. {@link RpmaEventLoop#onPeerLost RpmaEventLoop.onPeerLost} documents the
     * failures, the transports, the limit and the cost: the same applies to this method.
     *
     * <p>A probe occupies one place in the send queue and in its completion queue: add one to
     * {@link RdmaQpInitAttr#maxSendWr}. Receives do not count as completions. The check ends before the call of the
     * handler, at {@link RdmaId#disconnect} and {@link RdmaId#close}, and when the loop no longer serves the
     * completions of operations. If a probe can't be posted, for example because the id is not connected at the second
     * check, the check ends and {@link RpmaEventLoop#onFailure} gets the exception.
     *
     * @param loop the loop
     * @param period the time between checks, at least 1
     * @param limit the time after a probe within which an operation must complete, at least 1
     * @param unit the unit of {@code period} and {@code limit}
     * @param handler handles the id, for example closes it in another thread: {@link RdmaId#close} takes seconds if the
     *     other host is dead
     * @return the registration
     * @throws IllegalArgumentException if {@code period} or {@code limit} is not positive
     * @throws IllegalStateException if the id or the loop is closed, if the id is for datagrams, if the loop does not
     *     serve the completions of operations, or if a check is active
     */
    public RpmaEventLoop.Registration onPeerLost(
            RpmaEventLoop loop, long period, long limit, TimeUnit unit, RpmaEventLoop.Handler<? super RdmaId> handler) {
        Objects.requireNonNull(loop, "loop");
        checkConnected(0);
        return Access.get().check(loop, probe(), owner, period, limit, unit, handler);
    }

    /** The probes of this queue pair, made by the first call. */
    synchronized PeerProbe probe() {
        if (sendCompletions.probe() == null) {
            sendCompletions.attach(new Probe());
        }
        return sendCompletions.probe();
    }

    /** Wakes the threads that wait for completions and watch the connection. */
    void wakeWaits() {
        sendCompletions.wake();
        recvCompletions.wake();
    }

    /** Ends the check of the other side, if there is one. */
    void endCheck() {
        PeerProbe attached = sendCompletions.probe();
        if (attached != null) {
            attached.end();
        }
    }

    private final class Probe extends PeerProbe {
        Probe() {
            super(sendCompletions.channel());
        }

        @Override
        protected boolean post(long context) {
            int result = Natives.postParts(sendQueue, what(WRITE, F_SIGNALED), 0, 0, 0, 0, context);
            if (result < 0) {
                throw Call.failure("rdma_post_writev", result, object);
            }
            return result == Result.POSTED;
        }
    }

    /**
     * Registers a handler of the completions of receives with an event loop, including completions that are already in
     * the queue.
     *
     * @param loop the loop
     * @param batchSize the maximum number of completions in one call, at least 1
     * @param handler handles each batch: at least one completion; the array belongs to the registration and is valid
     *     until the call returns
     * @return the registration
     * @throws IllegalArgumentException if {@code batchSize} is out of range (see {@link RpmaCompletions#create})
     * @throws IllegalStateException if the id of this queue pair or the loop is closed, if a loop already serves the
     *     queue, or if a thread waits for it
     * @throws io.rpma.RpmaException if the kernel refuses to watch another descriptor
     */
    public RpmaEventLoop.Registration onRecvComp(
            RpmaEventLoop loop, int batchSize, RpmaEventLoop.Handler<? super RpmaCompletions> handler) {
        return recvCompletions.register(loop, owner, batchSize, false, handler);
    }

    /**
     * Registers a handler of the completions of receives with an event loop. Only a solicited completion makes the loop
     * take completions, with the same exceptions as in {@link #getSolicitedRecvComp(RpmaCompletions)}. The loop then
     * takes all completions. It also takes the completions that are already in the queue at the registration, and those
     * that arrive while it takes completions.
     *
     * @param loop the loop
     * @param batchSize the maximum number of completions in one call, at least 1
     * @param handler handles each batch: at least one completion; the array belongs to the registration and is valid
     *     until the call returns
     * @return the registration
     * @throws IllegalArgumentException if {@code batchSize} is out of range (see {@link RpmaCompletions#create})
     * @throws IllegalStateException if the id of this queue pair or the loop is closed, if a loop already serves the
     *     queue, or if a thread waits for it
     * @throws io.rpma.RpmaException if the kernel refuses to watch another descriptor
     */
    public RpmaEventLoop.Registration onSolicitedRecvComp(
            RpmaEventLoop loop, int batchSize, RpmaEventLoop.Handler<? super RpmaCompletions> handler) {
        return recvCompletions.register(loop, owner, batchSize, true, handler);
    }

    private static long what(int opcode, int flags) {
        return opcode | (long) flags << 8;
    }

    private static long what(int opcode, int flags, int imm) {
        return what(opcode, flags) | (long) imm << Integer.SIZE;
    }

    static void checkConnected(RdmaQp qp, int flags) {
        if (qp == null) {
            throw Check.isNull("queue pair");
        }
        qp.checkConnected(flags);
    }

    static void checkOwnReceives(RdmaQp qp) {
        if (qp == null) {
            throw Check.isNull("queue pair");
        }
        qp.checkOwnReceives();
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

    static void checkAligned(long remoteAddr) {
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

    Resource object() {
        return object;
    }

    long sendQueue() {
        return sendQueue;
    }

    /** Whether each operation has a completion, also without {@link #F_SIGNALED}. */
    boolean sigAll() {
        return sigAll;
    }

    long recvQueue() {
        return recvQueue;
    }

    @Override
    public String toString() {
        return object.describe("queue pair " + Integer.toUnsignedString(qpNum));
    }
}
