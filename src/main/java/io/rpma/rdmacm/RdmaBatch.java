// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.rdmacm;

import io.rpma.internal.BatchRecords;
import io.rpma.internal.Call;
import io.rpma.internal.Loader;
import io.rpma.internal.Natives;
import io.rpma.internal.Result;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.NoSuchElementException;

/**
 * A sequence of operations that are recorded first and then posted in one downcall. The operations can be of different
 * kinds and of different queues. Datagrams are sent, and lists of parts posted, one by one: see {@link RdmaQp}.
 *
 * <p>{@link #post()} posts each run of operations of one queue as a chain: one call of {@code ibv_post_send},
 * {@code ibv_post_recv} or {@code ibv_post_srq_recv}. A chain of sends needs one doorbell on a network card and one
 * system call on soft-RoCE. A chain has at most 64 operations.
 *
 * <pre>{@code
 * RdmaBatch batch = RdmaBatch.create(16);
 * for (int i = 0; i < 16; i++) {
 *     batch.write(qp, mr, 64 * i, 64, 0, remoteAddr + 64 * i, rkey, i);
 * }
 * batch.signalLast();
 * int posted = batch.post();
 * System.out.println(posted + " are posted, " + batch.count() + " wait for room in the send queue");
 * }</pre>
 *
 * <p>A recording method takes the queue and the arguments of the post. It checks the arguments as the post does, but
 * not whether the objects are open. It allocates nothing. {@link #post()} posts the operations in the order in which
 * they were recorded. It throws an exception if an object of the next operation is closed, or if the device refuses the
 * operation.
 *
 * <p><b>Signalling.</b> Some devices free the entries of the send queue only when a completion is polled. The
 * completion of an operation frees the entries of all earlier operations of the same queue pair. One completion for
 * each batch is therefore enough: record the operations without {@link RdmaQp#F_SIGNALED}, and call {@link #signalLast}
 * after the last operation of each queue pair. On such a device, {@link RdmaQp#maxSendWr} operations without a
 * signalled one fill the send queue for good. A batch therefore records no more operations of the same queue pair after
 * so many in succession, until {@link #signalLast}.
 *
 * <p><b>Copies.</b> A recording method copies inline data, so that it can change when the method returns.
 * {@link #create(int, int)} sets the size of the room for the copies. If there is too little room, the method returns
 * {@code false}. All of the room is free again when the batch is empty. Inline data that exceed all of the room cause
 * an {@link IllegalArgumentException}.
 *
 * <p>{@link #prepare()} makes a chain of sends, writes and reads of one queue pair, which is built once and posted
 * repeatedly.
 *
 * <p>Not safe for use by several threads at once. A batch is plain memory: it needs no close, can be reused, and
 * outlives its ids. A recorded operation neither keeps an object reachable nor prevents its close. The memory of a
 * region stays reachable while the region is open.
 *
 * <p>Manual pages: see {@link RdmaQp}.
 */
public final class RdmaBatch {
    // the fields of struct record in native/rdmacm_batch.c
    private static final int FIELDS = 10;
    static final int WHAT = 0;
    private static final int QUEUE = 1;
    static final int SOURCE = 2;
    static final int MR = 3;
    static final int OFFSET = 4;
    private static final int REMOTE_ADDR = 5;
    private static final int RKEY = 6;
    static final int CONTEXT = 7;
    private static final int COMPARE_ADD = 8;
    private static final int SWAP = 9;

    // the parts of the field WHAT
    private static final int OP_MASK = 0xff;
    private static final int FLAGS_SHIFT = 8;
    private static final long SIGNALED = (long) RdmaQp.F_SIGNALED << FLAGS_SHIFT;

    // the parts of the field SOURCE
    private static final int SOURCE_MASK = 0xff;
    private static final int COUNT_SHIFT = 8;

    // enum source of native/rdmacm_batch.c
    static final int REGION = 0;
    static final int INLINE = 1;

    private static final int UPPER = Integer.SIZE;

    /** As in native/rdmacm_batch.c. */
    private static final int AT_ONCE = 64;

    /** The operations, as in enum op of native/rdmacm_batch.c. */
    enum Op {
        WRITE,
        WRITE_WITH_IMM,
        READ,
        SEND,
        SEND_WITH_IMM,
        COMPARE_AND_SWAP,
        FETCH_AND_ADD,
        RECV;

        private static final Op[] VALUES = values();
    }

    private final BatchRecords records;

    private final ByteBuffer inlineData;

    /** In bytes. */
    private int inlineUsed;

    /** The send queue of the last operation that is not a receive. */
    private long lastQueue;

    /**
     * The number of operations of this queue since the last signalled one, or since another queue was used, or since
     * the batch was empty.
     */
    private int unsignaled;

    private RdmaBatch(int capacity, int inlineBytes) {
        Loader.ensureLoaded();
        inlineData = ByteBuffer.allocateDirect(inlineBytes);
        records = new BatchRecords(capacity, FIELDS, Natives.bufferAddress(inlineData));
    }

    /**
     * Creates an empty batch for operations without inline data.
     *
     * @param capacity the maximum number of operations, at least 1; each takes 80 bytes on the heap and 80 bytes
     *     outside it
     * @return the batch
     * @throws IllegalArgumentException if {@code capacity} is less than 1 or more than 26,843,543
     */
    public static RdmaBatch create(int capacity) {
        return create(capacity, 0);
    }

    /**
     * Creates an empty batch, with room for inline data.
     *
     * @param capacity the maximum number of operations, at least 1; each takes 80 bytes on the heap and 80 bytes
     *     outside it
     * @param inlineBytes the maximum number of bytes of all inline data together, at least 0
     * @return the batch
     * @throws IllegalArgumentException if {@code capacity} is less than 1 or more than 26,843,543, or {@code inlineBytes}
     *     is negative
     */
    public static RdmaBatch create(int capacity, int inlineBytes) {
        if (inlineBytes < 0) {
            throw new IllegalArgumentException("inlineBytes must be at least 0, not " + inlineBytes);
        }
        return new RdmaBatch(capacity, inlineBytes);
    }

    /** {@return the maximum number of operations} */
    public int capacity() {
        return records.capacity();
    }

    /** {@return the number of operations in the batch, which are recorded and not yet posted} */
    public int count() {
        return records.count();
    }

    /** {@return the number of operations that the last {@link #post()} has posted, also if it threw an exception} */
    public int posted() {
        return records.posted();
    }

    /**
     * Records {@link RdmaQp#postWrite(RdmaMr, long, long, int, long, int, long)}.
     *
     * @param qp the queue pair
     * @param src the region to read from
     * @param offset the offset in the region, in bytes
     * @param length the number of bytes, 0 to 2^31 - 1
     * @param flags a combination of {@link RdmaQp#F_SIGNALED}, {@link RdmaQp#F_FENCE} and {@link RdmaQp#F_SOLICITED},
     *     or 0
     * @param remoteAddr the remote address
     * @param rkey the key of the remote region
     * @param context the value that {@link io.rpma.RpmaCompletions#wrId} returns for the completion
     * @return {@code true} if the operation is recorded, {@code false} if the batch is full
     * @throws IndexOutOfBoundsException if {@code length} is negative, or the bytes are not all inside the region
     * @throws IllegalArgumentException if {@code length} exceeds the maximum of one operation, or the flags are invalid
     * @throws IllegalStateException if the queue pair is for datagrams, or the operations before this one fill its send
     *     queue for good: see {@link #signalLast}
     */
    public boolean write(
            RdmaQp qp, RdmaMr src, long offset, long length, int flags, long remoteAddr, int rkey, long context) {
        RdmaQp.checkConnected(qp, flags);
        long mr = RdmaMr.use(src, offset, length);
        return addRegion(qp, what(Op.WRITE, flags), mr, offset, length, remoteAddr, rkey, context);
    }

    /**
     * Records {@link RdmaQp#postWriteInline(RdmaInlineData, int, int, long, int, long)}.
     *
     * @param qp the queue pair
     * @param src the bytes to copy
     * @param length the number of bytes to copy, from the first byte
     * @param flags a combination of {@link RdmaQp#F_SIGNALED}, {@link RdmaQp#F_FENCE} and {@link RdmaQp#F_SOLICITED},
     *     or 0
     * @param remoteAddr the remote address
     * @param rkey the key of the remote region
     * @param context the value that {@link io.rpma.RpmaCompletions#wrId} returns for the completion
     * @return {@code true} if the operation is recorded, {@code false} if the batch or its room for copies is full
     * @throws IndexOutOfBoundsException if {@code length} is negative or exceeds the capacity of {@code src}
     * @throws IllegalArgumentException if {@code length} exceeds {@link RdmaQp#maxInlineData}, or the flags are invalid
     * @throws IllegalStateException if the queue pair is for datagrams, or the operations before this one fill its send
     *     queue for good: see {@link #signalLast}
     */
    public boolean writeInline(
            RdmaQp qp, RdmaInlineData src, int length, int flags, long remoteAddr, int rkey, long context) {
        RdmaQp.checkConnected(qp, flags);
        RdmaInlineData.use(src, length, qp.maxInlineData());
        return addInline(qp, what(Op.WRITE, flags), src, length, remoteAddr, rkey, context);
    }

    /**
     * Records {@link RdmaQp#postWriteWithImm(RdmaMr, long, long, int, long, int, int, long)}.
     *
     * @param qp the queue pair
     * @param src the region to read from
     * @param offset the offset in the region, in bytes
     * @param length the number of bytes, 0 to 2^31 - 1
     * @param flags a combination of {@link RdmaQp#F_SIGNALED}, {@link RdmaQp#F_FENCE} and {@link RdmaQp#F_SOLICITED},
     *     or 0
     * @param remoteAddr the remote address
     * @param rkey the key of the remote region
     * @param imm the immediate data
     * @param context the value that {@link io.rpma.RpmaCompletions#wrId} returns for the completion
     * @return {@code true} if the operation is recorded, {@code false} if the batch is full
     * @throws IndexOutOfBoundsException if {@code length} is negative, or the bytes are not all inside the region
     * @throws IllegalArgumentException if {@code length} exceeds the maximum of one operation, or the flags are invalid
     * @throws IllegalStateException if the queue pair is for datagrams, or the operations before this one fill its send
     *     queue for good: see {@link #signalLast}
     */
    public boolean writeWithImm(
            RdmaQp qp,
            RdmaMr src,
            long offset,
            long length,
            int flags,
            long remoteAddr,
            int rkey,
            int imm,
            long context) {
        RdmaQp.checkConnected(qp, flags);
        long mr = RdmaMr.use(src, offset, length);
        return addRegion(qp, what(Op.WRITE_WITH_IMM, flags, imm), mr, offset, length, remoteAddr, rkey, context);
    }

    /**
     * Records {@link RdmaQp#postWriteWithImmInline(RdmaInlineData, int, int, long, int, int, long)}.
     *
     * @param qp the queue pair
     * @param src the bytes to copy
     * @param length the number of bytes to copy, from the first byte
     * @param flags a combination of {@link RdmaQp#F_SIGNALED}, {@link RdmaQp#F_FENCE} and {@link RdmaQp#F_SOLICITED},
     *     or 0
     * @param remoteAddr the remote address
     * @param rkey the key of the remote region
     * @param imm the immediate data
     * @param context the value that {@link io.rpma.RpmaCompletions#wrId} returns for the completion
     * @return {@code true} if the operation is recorded, {@code false} if the batch or its room for copies is full
     * @throws IndexOutOfBoundsException if {@code length} is negative or exceeds the capacity of {@code src}
     * @throws IllegalArgumentException if {@code length} exceeds {@link RdmaQp#maxInlineData}, or the flags are invalid
     * @throws IllegalStateException if the queue pair is for datagrams, or the operations before this one fill its send
     *     queue for good: see {@link #signalLast}
     */
    public boolean writeWithImmInline(
            RdmaQp qp, RdmaInlineData src, int length, int flags, long remoteAddr, int rkey, int imm, long context) {
        RdmaQp.checkConnected(qp, flags);
        RdmaInlineData.use(src, length, qp.maxInlineData());
        return addInline(qp, what(Op.WRITE_WITH_IMM, flags, imm), src, length, remoteAddr, rkey, context);
    }

    /**
     * Records {@link RdmaQp#postRead(RdmaMr, long, long, int, long, int, long)}.
     *
     * @param qp the queue pair
     * @param dst the region to write to, registered for {@link RdmaAccess#LOCAL_WRITE}
     * @param offset the offset in the region, in bytes
     * @param length the number of bytes, 0 to 2^31 - 1
     * @param flags a combination of {@link RdmaQp#F_SIGNALED}, {@link RdmaQp#F_FENCE} and {@link RdmaQp#F_SOLICITED},
     *     or 0
     * @param remoteAddr the remote address
     * @param rkey the key of the remote region
     * @param context the value that {@link io.rpma.RpmaCompletions#wrId} returns for the completion
     * @return {@code true} if the operation is recorded, {@code false} if the batch is full
     * @throws IndexOutOfBoundsException if {@code length} is negative, or the bytes are not all inside the region
     * @throws IllegalArgumentException if the region is not registered for {@link RdmaAccess#LOCAL_WRITE},
     *     {@code length} exceeds the maximum of one operation, or the flags are invalid
     * @throws IllegalStateException if the queue pair is for datagrams, or the operations before this one fill its send
     *     queue for good: see {@link #signalLast}
     */
    public boolean read(
            RdmaQp qp, RdmaMr dst, long offset, long length, int flags, long remoteAddr, int rkey, long context) {
        RdmaQp.checkConnected(qp, flags);
        long mr = RdmaMr.useWritable(dst, offset, length);
        return addRegion(qp, what(Op.READ, flags), mr, offset, length, remoteAddr, rkey, context);
    }

    /**
     * Records {@link RdmaQp#postSend(RdmaMr, long, long, int, long)}.
     *
     * @param qp the queue pair
     * @param src the region to read from
     * @param offset the offset in the region, in bytes
     * @param length the number of bytes, 0 to 2^31 - 1
     * @param flags a combination of {@link RdmaQp#F_SIGNALED}, {@link RdmaQp#F_FENCE} and {@link RdmaQp#F_SOLICITED},
     *     or 0
     * @param context the value that {@link io.rpma.RpmaCompletions#wrId} returns for the completion
     * @return {@code true} if the operation is recorded, {@code false} if the batch is full
     * @throws IndexOutOfBoundsException if {@code length} is negative, or the bytes are not all inside the region
     * @throws IllegalArgumentException if {@code length} exceeds the maximum of one operation, or the flags are invalid
     * @throws IllegalStateException if the queue pair is for datagrams, or the operations before this one fill its send
     *     queue for good: see {@link #signalLast}
     */
    public boolean send(RdmaQp qp, RdmaMr src, long offset, long length, int flags, long context) {
        RdmaQp.checkConnected(qp, flags);
        long mr = RdmaMr.use(src, offset, length);
        return addRegion(qp, what(Op.SEND, flags), mr, offset, length, 0, 0, context);
    }

    /**
     * Records {@link RdmaQp#postSendInline(RdmaInlineData, int, int, long)}.
     *
     * @param qp the queue pair
     * @param src the bytes to copy
     * @param length the number of bytes to copy, from the first byte
     * @param flags a combination of {@link RdmaQp#F_SIGNALED}, {@link RdmaQp#F_FENCE} and {@link RdmaQp#F_SOLICITED},
     *     or 0
     * @param context the value that {@link io.rpma.RpmaCompletions#wrId} returns for the completion
     * @return {@code true} if the operation is recorded, {@code false} if the batch or its room for copies is full
     * @throws IndexOutOfBoundsException if {@code length} is negative or exceeds the capacity of {@code src}
     * @throws IllegalArgumentException if {@code length} exceeds {@link RdmaQp#maxInlineData}, or the flags are invalid
     * @throws IllegalStateException if the queue pair is for datagrams, or the operations before this one fill its send
     *     queue for good: see {@link #signalLast}
     */
    public boolean sendInline(RdmaQp qp, RdmaInlineData src, int length, int flags, long context) {
        RdmaQp.checkConnected(qp, flags);
        RdmaInlineData.use(src, length, qp.maxInlineData());
        return addInline(qp, what(Op.SEND, flags), src, length, 0, 0, context);
    }

    /**
     * Records {@link RdmaQp#postSendWithImm(RdmaMr, long, long, int, int, long)}.
     *
     * @param qp the queue pair
     * @param src the region to read from
     * @param offset the offset in the region, in bytes
     * @param length the number of bytes, 0 to 2^31 - 1
     * @param flags a combination of {@link RdmaQp#F_SIGNALED}, {@link RdmaQp#F_FENCE} and {@link RdmaQp#F_SOLICITED},
     *     or 0
     * @param imm the immediate data
     * @param context the value that {@link io.rpma.RpmaCompletions#wrId} returns for the completion
     * @return {@code true} if the operation is recorded, {@code false} if the batch is full
     * @throws IndexOutOfBoundsException if {@code length} is negative, or the bytes are not all inside the region
     * @throws IllegalArgumentException if {@code length} exceeds the maximum of one operation, or the flags are invalid
     * @throws IllegalStateException if the queue pair is for datagrams, or the operations before this one fill its send
     *     queue for good: see {@link #signalLast}
     */
    public boolean sendWithImm(RdmaQp qp, RdmaMr src, long offset, long length, int flags, int imm, long context) {
        RdmaQp.checkConnected(qp, flags);
        long mr = RdmaMr.use(src, offset, length);
        return addRegion(qp, what(Op.SEND_WITH_IMM, flags, imm), mr, offset, length, 0, 0, context);
    }

    /**
     * Records {@link RdmaQp#postSendWithImmInline(RdmaInlineData, int, int, int, long)}.
     *
     * @param qp the queue pair
     * @param src the bytes to copy
     * @param length the number of bytes to copy, from the first byte
     * @param flags a combination of {@link RdmaQp#F_SIGNALED}, {@link RdmaQp#F_FENCE} and {@link RdmaQp#F_SOLICITED},
     *     or 0
     * @param imm the immediate data
     * @param context the value that {@link io.rpma.RpmaCompletions#wrId} returns for the completion
     * @return {@code true} if the operation is recorded, {@code false} if the batch or its room for copies is full
     * @throws IndexOutOfBoundsException if {@code length} is negative or exceeds the capacity of {@code src}
     * @throws IllegalArgumentException if {@code length} exceeds {@link RdmaQp#maxInlineData}, or the flags are invalid
     * @throws IllegalStateException if the queue pair is for datagrams, or the operations before this one fill its send
     *     queue for good: see {@link #signalLast}
     */
    public boolean sendWithImmInline(RdmaQp qp, RdmaInlineData src, int length, int flags, int imm, long context) {
        RdmaQp.checkConnected(qp, flags);
        RdmaInlineData.use(src, length, qp.maxInlineData());
        return addInline(qp, what(Op.SEND_WITH_IMM, flags, imm), src, length, 0, 0, context);
    }

    /**
     * Records {@link RdmaQp#postCompareAndSwap(RdmaMr, long, int, long, int, long, long, long)}.
     *
     * @param qp the queue pair
     * @param dst the region to write to, registered for {@link RdmaAccess#LOCAL_WRITE}
     * @param offset the offset in the region, in bytes
     * @param flags a combination of {@link RdmaQp#F_SIGNALED}, {@link RdmaQp#F_FENCE} and {@link RdmaQp#F_SOLICITED},
     *     or 0
     * @param remoteAddr the remote address, a multiple of 8
     * @param rkey the key of the remote region
     * @param compare the expected value
     * @param swap the new value
     * @param context the value that {@link io.rpma.RpmaCompletions#wrId} returns for the completion
     * @return {@code true} if the operation is recorded, {@code false} if the batch is full
     * @throws IndexOutOfBoundsException if the bytes are not all inside the region
     * @throws IllegalArgumentException if the region is not registered for {@link RdmaAccess#LOCAL_WRITE},
     *     {@code remoteAddr} is not a multiple of 8, or the flags are invalid
     * @throws IllegalStateException if the queue pair is for datagrams, or the operations before this one fill its send
     *     queue for good: see {@link #signalLast}
     */
    public boolean compareAndSwap(
            RdmaQp qp,
            RdmaMr dst,
            long offset,
            int flags,
            long remoteAddr,
            int rkey,
            long compare,
            long swap,
            long context) {
        RdmaQp.checkConnected(qp, flags);
        RdmaQp.checkAligned(remoteAddr);
        long mr = RdmaMr.useWritable(dst, offset, Long.BYTES);
        return addAtomic(qp, what(Op.COMPARE_AND_SWAP, flags), mr, offset, remoteAddr, rkey, compare, swap, context);
    }

    /**
     * Records {@link RdmaQp#postFetchAndAdd(RdmaMr, long, int, long, int, long, long)}.
     *
     * @param qp the queue pair
     * @param dst the region to write to, registered for {@link RdmaAccess#LOCAL_WRITE}
     * @param offset the offset in the region, in bytes
     * @param flags a combination of {@link RdmaQp#F_SIGNALED}, {@link RdmaQp#F_FENCE} and {@link RdmaQp#F_SOLICITED},
     *     or 0
     * @param remoteAddr the remote address, a multiple of 8
     * @param rkey the key of the remote region
     * @param add the number to add
     * @param context the value that {@link io.rpma.RpmaCompletions#wrId} returns for the completion
     * @return {@code true} if the operation is recorded, {@code false} if the batch is full
     * @throws IndexOutOfBoundsException if the bytes are not all inside the region
     * @throws IllegalArgumentException if the region is not registered for {@link RdmaAccess#LOCAL_WRITE},
     *     {@code remoteAddr} is not a multiple of 8, or the flags are invalid
     * @throws IllegalStateException if the queue pair is for datagrams, or the operations before this one fill its send
     *     queue for good: see {@link #signalLast}
     */
    public boolean fetchAndAdd(
            RdmaQp qp, RdmaMr dst, long offset, int flags, long remoteAddr, int rkey, long add, long context) {
        RdmaQp.checkConnected(qp, flags);
        RdmaQp.checkAligned(remoteAddr);
        long mr = RdmaMr.useWritable(dst, offset, Long.BYTES);
        return addAtomic(qp, what(Op.FETCH_AND_ADD, flags), mr, offset, remoteAddr, rkey, add, 0, context);
    }

    /**
     * Records {@link RdmaQp#postRecv(RdmaMr, long, long, long)}.
     *
     * @param qp the queue pair
     * @param dst the region to write to, registered for {@link RdmaAccess#LOCAL_WRITE}
     * @param offset the offset in the region, in bytes
     * @param length the number of bytes, 0 to 2^31 - 1
     * @param context the value that {@link io.rpma.RpmaCompletions#wrId} returns for the completion
     * @return {@code true} if the operation is recorded, {@code false} if the batch is full
     * @throws IndexOutOfBoundsException if {@code length} is negative, or the bytes are not all inside the region
     * @throws IllegalArgumentException if the region is not registered for {@link RdmaAccess#LOCAL_WRITE}, or
     *     {@code length} exceeds the maximum of one operation
     * @throws IllegalStateException if the queue pair has a shared receive queue: record the receive for that queue
     */
    public boolean recv(RdmaQp qp, RdmaMr dst, long offset, long length, long context) {
        RdmaQp.checkOwnReceives(qp);
        long queue = qp.recvQueue();
        long mr = RdmaMr.useWritable(dst, offset, length);
        return addRecv(queue, mr, offset, length, context);
    }

    /**
     * Records {@link RdmaSrq#postRecv(RdmaMr, long, long, long)}.
     *
     * @param srq the shared receive queue
     * @param dst the region to write to, registered for {@link RdmaAccess#LOCAL_WRITE}
     * @param offset the offset in the region, in bytes
     * @param length the number of bytes, 0 to 2^31 - 1
     * @param context the value that {@link io.rpma.RpmaCompletions#wrId} returns for the completion
     * @return {@code true} if the operation is recorded, {@code false} if the batch is full
     * @throws IndexOutOfBoundsException if {@code length} is negative, or the bytes are not all inside the region
     * @throws IllegalArgumentException if the region is not registered for {@link RdmaAccess#LOCAL_WRITE}, or
     *     {@code length} exceeds the maximum of one operation
     */
    public boolean recv(RdmaSrq srq, RdmaMr dst, long offset, long length, long context) {
        long queue = RdmaSrq.use(srq);
        long mr = RdmaMr.useWritable(dst, offset, length);
        return addRecv(queue, mr, offset, length, context);
    }

    /**
     * Sets {@link RdmaQp#F_SIGNALED} for the last operation in the batch that is not a receive. Its completion then
     * stands for all operations before it of the same queue pair.
     *
     * @throws NoSuchElementException if the batch is empty
     * @throws IllegalStateException if all operations in the batch are receives, which always have completions
     */
    public void signalLast() {
        int record = records.last();
        long[] fields = records.array();
        while (op(fields[record + WHAT]) == Op.RECV) {
            if (record <= records.first()) {
                throw new IllegalStateException("all operations are receives, which always have completions");
            }
            record -= FIELDS;
        }
        fields[record + WHAT] |= SIGNALED;
        records.changed(record);
        unsignaled = 0;
    }

    static Op op(long what) {
        return Op.VALUES[(int) what & OP_MASK];
    }

    private static long what(Op op, int flags) {
        return op.ordinal() | (long) flags << FLAGS_SHIFT;
    }

    private static long what(Op op, int flags, int imm) {
        return what(op, flags) | (long) imm << UPPER;
    }

    private boolean addRegion(
            RdmaQp qp, long what, long mr, long offset, long length, long remoteAddr, int rkey, long context) {
        int record = next(qp, what);
        if (record < 0) {
            return false;
        }
        setRegion(record, mr, offset, length);
        setRemote(record, remoteAddr, rkey);
        return addSend(qp, record, context);
    }

    private boolean addInline(
            RdmaQp qp, long what, RdmaInlineData data, int length, long remoteAddr, int rkey, long context) {
        int record = next(qp, what);
        if (record < 0 || !setInline(record, data, length)) {
            return false;
        }
        setRemote(record, remoteAddr, rkey);
        return addSend(qp, record, context);
    }

    private boolean addAtomic(
            RdmaQp qp,
            long what,
            long mr,
            long offset,
            long remoteAddr,
            int rkey,
            long compareAdd,
            long swap,
            long context) {
        int record = next(qp, what);
        if (record < 0) {
            return false;
        }
        setRegion(record, mr, offset, Long.BYTES);
        setRemote(record, remoteAddr, rkey);
        long[] fields = records.array();
        fields[record + COMPARE_ADD] = compareAdd;
        fields[record + SWAP] = swap;
        return addSend(qp, record, context);
    }

    private boolean addRecv(long queue, long mr, long offset, long length, long context) {
        int record = next(queue, Op.RECV.ordinal());
        if (record < 0) {
            return false;
        }
        setRegion(record, mr, offset, length);
        return add(record, context);
    }

    /** Returns the index of a new record for an operation of a send queue, or -1 if the batch is full. */
    private int next(RdmaQp qp, long what) {
        long queue = qp.sendQueue();
        int record = next(queue, qp.sigAll() ? what | SIGNALED : what);
        if (record >= 0 && queue == lastQueue && unsignaled >= qp.maxSendWr()) {
            throw new IllegalStateException(unsignaled + " operations without F_SIGNALED fill the send queue of "
                    + qp.object() + ": see signalLast()");
        }
        return record;
    }

    /** Returns the index of a new record, or -1 if the batch is full. */
    private int next(long queue, long what) {
        int record = records.next();
        if (record >= 0) {
            long[] fields = records.array();
            fields[record + WHAT] = what;
            fields[record + QUEUE] = queue;
        }
        return record;
    }

    private void setRegion(int record, long mr, long offset, long length) {
        long[] fields = records.array();
        fields[record + SOURCE] = source(REGION, 0, (int) length);
        fields[record + MR] = mr;
        fields[record + OFFSET] = offset;
    }

    /** Copies inline data. Returns false if there is too little room at the moment. */
    private boolean setInline(int record, RdmaInlineData data, int length) {
        int at = inlineUsed;
        if (length > inlineData.capacity() - at) {
            if (length > inlineData.capacity()) {
                throw new IllegalArgumentException(length + " bytes exceed the batch's room for "
                        + inlineData.capacity() + " bytes of inline data: see create()");
            }
            return false;
        }
        data.copy(inlineData, at, length);
        inlineUsed = at + length;
        records.array()[record + SOURCE] = source(INLINE, length, at);
        return true;
    }

    private static long source(int kind, int count, int upper) {
        return (long) upper << UPPER | (long) count << COUNT_SHIFT | kind;
    }

    // the parts of a source

    static int sourceOf(long source) {
        return (int) source & SOURCE_MASK;
    }

    static int countOf(long source) {
        return (int) source >>> COUNT_SHIFT;
    }

    /** Returns the offset of inline data in the batch's memory, or the length in a region. */
    static int upperOf(long source) {
        return (int) (source >>> UPPER);
    }

    private void setRemote(int record, long remoteAddr, int rkey) {
        long[] fields = records.array();
        fields[record + REMOTE_ADDR] = remoteAddr;
        fields[record + RKEY] = rkey;
    }

    private boolean addSend(RdmaQp qp, int record, long context) {
        long[] fields = records.array();
        boolean signaled = (fields[record + WHAT] & SIGNALED) != 0;
        long queue = qp.sendQueue();
        if (queue != lastQueue) {
            lastQueue = queue;
            unsignaled = 0;
        }
        unsignaled = signaled ? 0 : unsignaled + 1;
        return add(record, context);
    }

    private boolean add(int record, long context) {
        records.array()[record + CONTEXT] = context;
        records.add(record + FIELDS);
        return true;
    }

    /**
     * Posts the operations in their order, until all are posted or one can't be posted. Posted operations leave the
     * batch. The others stay in it, in their order.
     *
     * <p>Does not block. The close of an object that the batch uses waits for at most 64 posts of the batch.
     *
     * @return the number of operations posted. If the queue of the next operation is full, this is less than the number
     *     recorded: poll completions and call this method again. {@link #firstContext()} identifies the next operation
     * @throws IllegalStateException if the id or region of the next operation is closed; the message
     *     names it. That operation is then the first in the batch: {@link #firstContext()} returns its context,
     *     {@link #removeFirst()} or {@link #clear()} drops it, and {@link #posted()} returns the number of operations
     *     posted before it
     * @throws io.rpma.RpmaException if the id of the next operation is not connected yet ({@code ENOTCONN}), or the
     *     device refuses the operation; the batch is in the same state as after an {@code IllegalStateException}
     */
    public int post() {
        int to = records.copy();
        int from = records.first();
        long range = (long) (from / FIELDS) << UPPER | to / FIELDS;
        long result = Natives.rdmaBatchPost(records.address(), range);
        Reference.reachabilityFence(this);
        records.posted(from, to, (int) result);
        removed();
        if (result < 0) {
            throw refused(result >> Integer.SIZE, records.firstRecord());
        }
        return (int) result;
    }

    /** Returns the exception for an operation that can't be posted. */
    static RuntimeException refused(long result, long[] record) {
        String function = op(record[WHAT]) == Op.RECV ? "ibv_post_recv" : "ibv_post_send";
        return result == Result.CLOSED
                ? new IllegalStateException(function + " with context " + record[CONTEXT] + ": " + closedOf(record))
                : Call.failure(function, result);
    }

    private static String closedOf(long[] record) {
        return Natives.handleIsOpen(record[QUEUE]) ? "its region is closed" : "its id is closed";
    }

    /** Returns whether the queue and the region of a send, a write or a read are open. */
    static boolean isOpen(long[] record) {
        return Natives.handleIsOpen(record[QUEUE])
                && (sourceOf(record[SOURCE]) != REGION || Natives.handleIsOpen(record[MR]));
    }

    /** Returns a field of the first operation. */
    private long first(int field) {
        return records.array()[records.first() + field];
    }

    /**
     * Moves the operations to a prepared batch, which can post them repeatedly. This batch is empty afterwards.
     *
     * @return the prepared batch, which takes 152 bytes outside the heap for each operation, and the inline data
     * @throws NoSuchElementException if this batch is empty
     * @throws IllegalArgumentException if this batch has more than 64 operations, operations of several queue pairs, or
     *     others than sends, writes and reads of a region or of inline data; this batch then keeps its operations
     * @throws IllegalStateException if the queue pair or the region of an operation is closed; this batch then keeps
     *     its operations
     * @throws io.rpma.RpmaException if there is no memory
     */
    public RdmaPreparedBatch prepare() {
        int count = records.count();
        if (count == 0) {
            throw new NoSuchElementException("the batch is empty");
        }
        if (count > AT_ONCE) {
            throw new IllegalArgumentException("a prepared batch has at most " + AT_ONCE + " operations, not " + count);
        }
        int from = records.first();
        long[][] operations = new long[count][];
        for (int i = 0; i < count; i++) {
            operations[i] = Arrays.copyOfRange(records.array(), from + i * FIELDS, from + (i + 1) * FIELDS);
            checkPrepares(operations[i], operations[0][QUEUE]);
        }
        RdmaPreparedBatch prepared = new RdmaPreparedBatch(operations, inlineData);
        clear();
        return prepared;
    }

    /** Returns copies of operations in native memory. */
    static BatchRecords copies(long[][] operations, long inlineAddress) {
        BatchRecords copies = new BatchRecords(operations.length, FIELDS, inlineAddress);
        for (long[] operation : operations) {
            int next = copies.next();
            System.arraycopy(operation, 0, copies.array(), next, FIELDS);
            copies.add(next + FIELDS);
        }
        copies.copy();
        return copies;
    }

    private static void checkPrepares(long[] record, long queue) {
        if (op(record[WHAT]).compareTo(Op.SEND_WITH_IMM) > 0 || record[QUEUE] != queue) {
            throw new IllegalArgumentException(
                    "a prepared batch has sends, writes and reads of a region or of inline data,"
                            + " of one queue pair: the one with context " + record[CONTEXT] + " is none");
        }
    }

    /**
     * {@return the context of the first operation in the batch}
     *
     * @throws NoSuchElementException if the batch is empty
     */
    public long firstContext() {
        records.checkNotEmpty();
        return first(CONTEXT);
    }

    /**
     * Drops the first operation in the batch.
     *
     * @throws NoSuchElementException if the batch is empty
     */
    public void removeFirst() {
        records.checkNotEmpty();
        boolean counted = op(first(WHAT)) != Op.RECV && (first(WHAT) & SIGNALED) == 0 && first(QUEUE) == lastQueue;
        unsignaled = Math.max(0, unsignaled - (counted ? 1 : 0));
        records.removeFirst();
        removed();
    }

    /** Drops all operations in the batch. */
    public void clear() {
        records.clear();
        removed();
    }

    /** An empty batch has all of its room for copies, and no operation without a completion. */
    private void removed() {
        if (records.isEmpty()) {
            inlineUsed = 0;
            unsignaled = 0;
        }
    }

    @Override
    public String toString() {
        return "RdmaBatch[" + count() + " of " + capacity() + "]";
    }
}
