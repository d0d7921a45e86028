// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import io.rpma.internal.BatchRecords;
import io.rpma.internal.Call;
import io.rpma.internal.Natives;
import io.rpma.internal.Result;
import java.lang.ref.Reference;
import java.util.NoSuchElementException;

/**
 * A sequence of operations that are recorded first and then posted in one downcall. The operations can be of different
 * kinds and of different connections.
 *
 * <pre>{@code
 * RpmaBatch batch = RpmaBatch.create(8);
 * for (int i = 0; i < 7; i++) {
 *     batch.write(conn, remote, 64 * i, local, 64 * i, 64, RpmaConn.F_COMPLETION_ON_ERROR, i);
 * }
 * batch.flush(conn, remote, 0, 7 * 64, RpmaFlushType.VISIBILITY, RpmaConn.F_COMPLETION_ALWAYS, 7);
 * int posted = batch.post();
 * System.out.println(posted + " are posted, " + batch.count() + " wait for room in the send queue");
 * }</pre>
 *
 * <p>A recording method takes the connection or the shared receive queue, and the arguments of the post. It checks the
 * arguments as the post does, but not whether the objects are open. It allocates nothing. {@link #post()} posts the
 * operations in the order in which they were recorded. It throws an exception if an object of the next operation is
 * closed, or if librpma fails.
 *
 * <p>Not safe for use by several threads at once. A batch is plain memory: it needs no close, can be reused, and
 * outlives its connections. A recorded operation neither keeps an object reachable nor prevents its close. The memory
 * of a region stays reachable while the region is open.
 *
 * <p>Manual pages: see {@link RpmaConn} and {@link RpmaSrq}.
 */
public final class RpmaBatch {
    // the fields of struct record in native/batch.c
    private static final int FIELDS = 9;
    private static final int WHAT = 0;
    private static final int CONN = 1;
    private static final int SRQ = 2;
    private static final int LOCAL = 3;
    private static final int LOCAL_OFFSET = 4;
    private static final int REMOTE = 5;
    private static final int REMOTE_OFFSET = 6;
    private static final int LENGTH = 7;
    private static final int OP_CONTEXT = 8;

    // the parts of the field WHAT
    private static final int OP_MASK = 0xff;
    private static final int FLAGS_SHIFT = 8;
    private static final int TYPE_SHIFT = 16;
    private static final int IMM_SHIFT = 32;

    /** The operations, as in enum op of native/batch.c. */
    enum Op {
        READ("rpma_read"),
        WRITE("rpma_write"),
        WRITE_WITH_IMM("rpma_write_with_imm"),
        ATOMIC_WRITE("rpma_atomic_write"),
        WRITE_ATOMIC("rpma_atomic_write"),
        FLUSH("rpma_flush"),
        SEND("rpma_send"),
        SEND_WITH_IMM("rpma_send_with_imm"),
        RECV("rpma_recv"),
        SRQ_RECV("rpma_srq_recv");

        private static final Op[] VALUES = values();

        private final String function;

        Op(String function) {
            this.function = function;
        }
    }

    private final BatchRecords records;

    private RpmaBatch(int capacity) {
        records = new BatchRecords(capacity, FIELDS);
    }

    /**
     * Creates an empty batch.
     *
     * @param capacity the maximum number of operations, at least 1; each takes 72 bytes on the heap and 72 bytes
     *     outside it
     * @return the batch
     * @throws IllegalArgumentException if {@code capacity} is less than 1 or more than 29,826,159
     */
    public static RpmaBatch create(int capacity) {
        return new RpmaBatch(capacity);
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
     * Records {@link RpmaConn#read(RpmaMrLocal, long, RpmaMrRemote, long, long, int, long)}.
     *
     * @param conn the connection
     * @param dst the destination region, registered for {@link RpmaMrUsage#READ_DST}
     * @param dstOffset the offset in {@code dst} in bytes
     * @param src the source region, registered for {@link RpmaMrUsage#READ_SRC}
     * @param srcOffset the offset in {@code src} in bytes
     * @param length the number of bytes, 0 to 2^31 - 1
     * @param flags {@link RpmaConn#F_COMPLETION_ALWAYS} or {@link RpmaConn#F_COMPLETION_ON_ERROR}
     * @param opContext the operation context, returned by {@link RpmaCompletions#wrId}
     * @return {@code true} if the operation is recorded, {@code false} if the batch is full
     * @throws IndexOutOfBoundsException if {@code length} is negative, or a byte is outside a region
     * @throws IllegalArgumentException if a region is not registered for this operation, {@code length} exceeds the
     *     maximum of one operation, or {@code flags} is invalid
     */
    public boolean read(
            RpmaConn conn,
            RpmaMrLocal dst,
            long dstOffset,
            RpmaMrRemote src,
            long srcOffset,
            long length,
            int flags,
            long opContext) {
        RpmaConn.checkFlags(flags);
        long dstHandle = RpmaMrLocal.use(dst, RpmaMrUsage.READ_DST, dstOffset, length);
        long srcHandle = RpmaMrRemote.use(src, RpmaMrUsage.READ_SRC, srcOffset, length);
        return add(
                what(Op.READ, flags),
                RpmaConn.handleOf(conn),
                dstHandle,
                dstOffset,
                srcHandle,
                srcOffset,
                length,
                opContext);
    }

    /**
     * Records {@link RpmaConn#read(int, long)}.
     *
     * @param conn the connection
     * @param flags {@link RpmaConn#F_COMPLETION_ALWAYS} or {@link RpmaConn#F_COMPLETION_ON_ERROR}
     * @param opContext the operation context, returned by {@link RpmaCompletions#wrId}
     * @return {@code true} if the operation is recorded, {@code false} if the batch is full
     * @throws IllegalArgumentException if {@code flags} is invalid
     */
    public boolean read(RpmaConn conn, int flags, long opContext) {
        RpmaConn.checkFlags(flags);
        return add(what(Op.READ, flags), RpmaConn.handleOf(conn), 0, 0, 0, 0, 0, opContext);
    }

    /**
     * Records {@link RpmaConn#write(RpmaMrRemote, long, RpmaMrLocal, long, long, int, long)}.
     *
     * @param conn the connection
     * @param dst the destination region, registered for {@link RpmaMrUsage#WRITE_DST}
     * @param dstOffset the offset in {@code dst} in bytes
     * @param src the source region, registered for {@link RpmaMrUsage#WRITE_SRC}
     * @param srcOffset the offset in {@code src} in bytes
     * @param length the number of bytes, 0 to 2^31 - 1
     * @param flags {@link RpmaConn#F_COMPLETION_ALWAYS} or {@link RpmaConn#F_COMPLETION_ON_ERROR}
     * @param opContext the operation context, returned by {@link RpmaCompletions#wrId}
     * @return {@code true} if the operation is recorded, {@code false} if the batch is full
     * @throws IndexOutOfBoundsException if {@code length} is negative, or a byte is outside a region
     * @throws IllegalArgumentException if a region is not registered for this operation, {@code length} exceeds the
     *     maximum of one operation, or {@code flags} is invalid
     */
    public boolean write(
            RpmaConn conn,
            RpmaMrRemote dst,
            long dstOffset,
            RpmaMrLocal src,
            long srcOffset,
            long length,
            int flags,
            long opContext) {
        RpmaConn.checkFlags(flags);
        long dstHandle = RpmaMrRemote.use(dst, RpmaMrUsage.WRITE_DST, dstOffset, length);
        long srcHandle = RpmaMrLocal.use(src, RpmaMrUsage.WRITE_SRC, srcOffset, length);
        return add(
                what(Op.WRITE, flags),
                RpmaConn.handleOf(conn),
                srcHandle,
                srcOffset,
                dstHandle,
                dstOffset,
                length,
                opContext);
    }

    /**
     * Records {@link RpmaConn#write(int, long)}.
     *
     * @param conn the connection
     * @param flags {@link RpmaConn#F_COMPLETION_ALWAYS} or {@link RpmaConn#F_COMPLETION_ON_ERROR}
     * @param opContext the operation context, returned by {@link RpmaCompletions#wrId}
     * @return {@code true} if the operation is recorded, {@code false} if the batch is full
     * @throws IllegalArgumentException if {@code flags} is invalid
     */
    public boolean write(RpmaConn conn, int flags, long opContext) {
        RpmaConn.checkFlags(flags);
        return add(what(Op.WRITE, flags), RpmaConn.handleOf(conn), 0, 0, 0, 0, 0, opContext);
    }

    /**
     * Records {@link RpmaConn#writeWithImm(RpmaMrRemote, long, RpmaMrLocal, long, long, int, int, long)}.
     *
     * @param conn the connection
     * @param dst the destination region, registered for {@link RpmaMrUsage#WRITE_DST}
     * @param dstOffset the offset in {@code dst} in bytes
     * @param src the source region, registered for {@link RpmaMrUsage#WRITE_SRC}
     * @param srcOffset the offset in {@code src} in bytes
     * @param length the number of bytes, 0 to 2^31 - 1
     * @param flags {@link RpmaConn#F_COMPLETION_ALWAYS} or {@link RpmaConn#F_COMPLETION_ON_ERROR}
     * @param imm the immediate data
     * @param opContext the operation context, returned by {@link RpmaCompletions#wrId}
     * @return {@code true} if the operation is recorded, {@code false} if the batch is full
     * @throws IndexOutOfBoundsException if {@code length} is negative, or a byte is outside a region
     * @throws IllegalArgumentException if a region is not registered for this operation, {@code length} exceeds the
     *     maximum of one operation, or {@code flags} is invalid
     */
    public boolean writeWithImm(
            RpmaConn conn,
            RpmaMrRemote dst,
            long dstOffset,
            RpmaMrLocal src,
            long srcOffset,
            long length,
            int flags,
            int imm,
            long opContext) {
        RpmaConn.checkFlags(flags);
        long dstHandle = RpmaMrRemote.use(dst, RpmaMrUsage.WRITE_DST, dstOffset, length);
        long srcHandle = RpmaMrLocal.use(src, RpmaMrUsage.WRITE_SRC, srcOffset, length);
        long what = what(Op.WRITE_WITH_IMM, flags) | imm(imm);
        return add(what, RpmaConn.handleOf(conn), srcHandle, srcOffset, dstHandle, dstOffset, length, opContext);
    }

    /**
     * Records {@link RpmaConn#writeWithImm(int, int, long)}.
     *
     * @param conn the connection
     * @param flags {@link RpmaConn#F_COMPLETION_ALWAYS} or {@link RpmaConn#F_COMPLETION_ON_ERROR}
     * @param imm the immediate data
     * @param opContext the operation context, returned by {@link RpmaCompletions#wrId}
     * @return {@code true} if the operation is recorded, {@code false} if the batch is full
     * @throws IllegalArgumentException if {@code flags} is invalid
     */
    public boolean writeWithImm(RpmaConn conn, int flags, int imm, long opContext) {
        RpmaConn.checkFlags(flags);
        return add(what(Op.WRITE_WITH_IMM, flags) | imm(imm), RpmaConn.handleOf(conn), 0, 0, 0, 0, 0, opContext);
    }

    /**
     * Records {@link RpmaConn#atomicWrite(RpmaMrRemote, long, long, int, long)}.
     *
     * @param conn the connection
     * @param dst the destination region, registered for {@link RpmaMrUsage#WRITE_DST}
     * @param dstOffset the offset in {@code dst} in bytes; the address must be a multiple of 8
     * @param value the value, stored in the byte order of this machine
     * @param flags {@link RpmaConn#F_COMPLETION_ALWAYS} or {@link RpmaConn#F_COMPLETION_ON_ERROR}
     * @param opContext the operation context, returned by {@link RpmaCompletions#wrId}
     * @return {@code true} if the operation is recorded, {@code false} if the batch is full
     * @throws IndexOutOfBoundsException if a byte is outside the region
     * @throws IllegalArgumentException if the region is not registered for this operation, the address is not a
     *     multiple of 8, or {@code flags} is invalid
     */
    public boolean atomicWrite(RpmaConn conn, RpmaMrRemote dst, long dstOffset, long value, int flags, long opContext) {
        RpmaConn.checkFlags(flags);
        long dstHandle = RpmaMrRemote.useAtomic(dst, dstOffset);
        return add(what(Op.ATOMIC_WRITE, flags), RpmaConn.handleOf(conn), 0, value, dstHandle, dstOffset, 0, opContext);
    }

    /**
     * Records {@link RpmaConn#writeAtomic(RpmaMrRemote, long, RpmaMrLocal, long, int, long)}.
     *
     * <p>{@link #post()} reads the 8 bytes of {@code src}. This method does not read them.
     *
     * @param conn the connection
     * @param dst the destination region, registered for {@link RpmaMrUsage#WRITE_DST}
     * @param dstOffset the offset in {@code dst} in bytes; the address must be a multiple of 8
     * @param src the source region, registered for {@link RpmaMrUsage#WRITE_SRC}
     * @param srcOffset the offset in {@code src} in bytes
     * @param flags {@link RpmaConn#F_COMPLETION_ALWAYS} or {@link RpmaConn#F_COMPLETION_ON_ERROR}
     * @param opContext the operation context, returned by {@link RpmaCompletions#wrId}
     * @return {@code true} if the operation is recorded, {@code false} if the batch is full
     * @throws IndexOutOfBoundsException if a byte is outside a region
     * @throws IllegalArgumentException if a region is not registered for this operation, the address is not a multiple
     *     of 8, or {@code flags} is invalid
     */
    public boolean writeAtomic(
            RpmaConn conn,
            RpmaMrRemote dst,
            long dstOffset,
            RpmaMrLocal src,
            long srcOffset,
            int flags,
            long opContext) {
        RpmaConn.checkFlags(flags);
        long dstHandle = RpmaMrRemote.useAtomic(dst, dstOffset);
        long srcHandle = RpmaMrLocal.use(src, RpmaMrUsage.WRITE_SRC, srcOffset, Long.BYTES);
        return add(
                what(Op.WRITE_ATOMIC, flags),
                RpmaConn.handleOf(conn),
                srcHandle,
                srcOffset,
                dstHandle,
                dstOffset,
                0,
                opContext);
    }

    /**
     * Records {@link RpmaConn#flush(RpmaMrRemote, long, long, RpmaFlushType, int, long)}.
     *
     * @param conn the connection
     * @param dst the region to flush
     * @param dstOffset the offset in {@code dst} in bytes, at most the size of the region - 8
     * @param length the number of bytes, 0 to 2^31 - 1
     * @param type the type of the flush
     * @param flags {@link RpmaConn#F_COMPLETION_ALWAYS} or {@link RpmaConn#F_COMPLETION_ON_ERROR}
     * @param opContext the operation context, returned by {@link RpmaCompletions#wrId}
     * @return {@code true} if the operation is recorded, {@code false} if the batch is full
     * @throws IndexOutOfBoundsException if {@code length} is negative; or if a byte, or one of the 8 bytes at
     *     {@code dstOffset}, is outside the region
     * @throws IllegalArgumentException if {@code length} exceeds 2^31 - 1, or {@code flags} is invalid
     */
    public boolean flush(
            RpmaConn conn,
            RpmaMrRemote dst,
            long dstOffset,
            long length,
            RpmaFlushType type,
            int flags,
            long opContext) {
        RpmaConn.checkFlags(flags);
        long dstHandle = RpmaMrRemote.useFlushed(dst, dstOffset, length);
        long what = what(Op.FLUSH, flags) | (long) RpmaFlushType.code(type) << TYPE_SHIFT;
        return add(what, RpmaConn.handleOf(conn), 0, 0, dstHandle, dstOffset, length, opContext);
    }

    /**
     * Records {@link RpmaConn#send(RpmaMrLocal, long, long, int, long)}.
     *
     * @param conn the connection
     * @param src the source region, registered for {@link RpmaMrUsage#SEND}
     * @param offset the offset in the region in bytes
     * @param length the number of bytes, 0 to 2^31 - 1
     * @param flags {@link RpmaConn#F_COMPLETION_ALWAYS} or {@link RpmaConn#F_COMPLETION_ON_ERROR}
     * @param opContext the operation context, returned by {@link RpmaCompletions#wrId}
     * @return {@code true} if the operation is recorded, {@code false} if the batch is full
     * @throws IndexOutOfBoundsException if {@code length} is negative, or a byte is outside the region
     * @throws IllegalArgumentException if the region is not registered for this operation, {@code length} exceeds the
     *     maximum of one operation, or {@code flags} is invalid
     */
    public boolean send(RpmaConn conn, RpmaMrLocal src, long offset, long length, int flags, long opContext) {
        RpmaConn.checkFlags(flags);
        long srcHandle = RpmaMrLocal.use(src, RpmaMrUsage.SEND, offset, length);
        return add(what(Op.SEND, flags), RpmaConn.handleOf(conn), srcHandle, offset, 0, 0, length, opContext);
    }

    /**
     * Records {@link RpmaConn#send(int, long)}.
     *
     * @param conn the connection
     * @param flags {@link RpmaConn#F_COMPLETION_ALWAYS} or {@link RpmaConn#F_COMPLETION_ON_ERROR}
     * @param opContext the operation context, returned by {@link RpmaCompletions#wrId}
     * @return {@code true} if the operation is recorded, {@code false} if the batch is full
     * @throws IllegalArgumentException if {@code flags} is invalid
     */
    public boolean send(RpmaConn conn, int flags, long opContext) {
        RpmaConn.checkFlags(flags);
        return add(what(Op.SEND, flags), RpmaConn.handleOf(conn), 0, 0, 0, 0, 0, opContext);
    }

    /**
     * Records {@link RpmaConn#sendWithImm(RpmaMrLocal, long, long, int, int, long)}.
     *
     * @param conn the connection
     * @param src the source region, registered for {@link RpmaMrUsage#SEND}
     * @param offset the offset in the region in bytes
     * @param length the number of bytes, 0 to 2^31 - 1
     * @param flags {@link RpmaConn#F_COMPLETION_ALWAYS} or {@link RpmaConn#F_COMPLETION_ON_ERROR}
     * @param imm the immediate data
     * @param opContext the operation context, returned by {@link RpmaCompletions#wrId}
     * @return {@code true} if the operation is recorded, {@code false} if the batch is full
     * @throws IndexOutOfBoundsException if {@code length} is negative, or a byte is outside the region
     * @throws IllegalArgumentException if the region is not registered for this operation, {@code length} exceeds the
     *     maximum of one operation, or {@code flags} is invalid
     */
    public boolean sendWithImm(
            RpmaConn conn, RpmaMrLocal src, long offset, long length, int flags, int imm, long opContext) {
        RpmaConn.checkFlags(flags);
        long srcHandle = RpmaMrLocal.use(src, RpmaMrUsage.SEND, offset, length);
        long what = what(Op.SEND_WITH_IMM, flags) | imm(imm);
        return add(what, RpmaConn.handleOf(conn), srcHandle, offset, 0, 0, length, opContext);
    }

    /**
     * Records {@link RpmaConn#sendWithImm(int, int, long)}.
     *
     * @param conn the connection
     * @param flags {@link RpmaConn#F_COMPLETION_ALWAYS} or {@link RpmaConn#F_COMPLETION_ON_ERROR}
     * @param imm the immediate data
     * @param opContext the operation context, returned by {@link RpmaCompletions#wrId}
     * @return {@code true} if the operation is recorded, {@code false} if the batch is full
     * @throws IllegalArgumentException if {@code flags} is invalid
     */
    public boolean sendWithImm(RpmaConn conn, int flags, int imm, long opContext) {
        RpmaConn.checkFlags(flags);
        return add(what(Op.SEND_WITH_IMM, flags) | imm(imm), RpmaConn.handleOf(conn), 0, 0, 0, 0, 0, opContext);
    }

    /**
     * Records {@link RpmaConn#recv(RpmaMrLocal, long, long, long)}.
     *
     * @param conn the connection
     * @param dst the destination region, registered for {@link RpmaMrUsage#RECV}
     * @param offset the offset in the region in bytes
     * @param length the number of bytes, 0 to 2^31 - 1
     * @param opContext the operation context, returned by {@link RpmaCompletions#wrId}
     * @return {@code true} if the operation is recorded, {@code false} if the batch is full
     * @throws IndexOutOfBoundsException if {@code length} is negative, or a byte is outside the region
     * @throws IllegalArgumentException if the region is not registered for receives, or {@code length} exceeds the
     *     maximum of one operation
     * @throws IllegalStateException if the connection uses a shared receive queue: post the receive to that queue
     */
    public boolean recv(RpmaConn conn, RpmaMrLocal dst, long offset, long length, long opContext) {
        long dstHandle = RpmaMrLocal.use(dst, RpmaMrUsage.RECV, offset, length);
        long connHandle = RpmaConn.handleOf(conn);
        conn.checkReceives();
        return add(Op.RECV.ordinal(), connHandle, dstHandle, offset, 0, 0, length, opContext);
    }

    /**
     * Records {@link RpmaConn#recv(long)}.
     *
     * @param conn the connection
     * @param opContext the operation context, returned by {@link RpmaCompletions#wrId}
     * @return {@code true} if the operation is recorded, {@code false} if the batch is full
     * @throws IllegalStateException if the connection uses a shared receive queue: post the receive to that queue
     */
    public boolean recv(RpmaConn conn, long opContext) {
        long connHandle = RpmaConn.handleOf(conn);
        conn.checkReceives();
        return add(Op.RECV.ordinal(), connHandle, 0, 0, 0, 0, 0, opContext);
    }

    /**
     * Records {@link RpmaSrq#recv(RpmaMrLocal, long, long, long)}.
     *
     * @param srq the shared receive queue
     * @param dst the destination region, registered for {@link RpmaMrUsage#RECV}
     * @param offset the offset in the region in bytes
     * @param length the number of bytes, 0 to 2^31 - 1
     * @param opContext the operation context, returned by {@link RpmaCompletions#wrId}
     * @return {@code true} if the operation is recorded, {@code false} if the batch is full
     * @throws IndexOutOfBoundsException if {@code length} is negative, or a byte is outside the region
     * @throws IllegalArgumentException if the region is not registered for receives, or {@code length} exceeds the
     *     maximum of one operation
     */
    public boolean recv(RpmaSrq srq, RpmaMrLocal dst, long offset, long length, long opContext) {
        long dstHandle = RpmaMrLocal.use(dst, RpmaMrUsage.RECV, offset, length);
        return addShared(RpmaSrq.handleOf(srq), dstHandle, offset, length, opContext);
    }

    /**
     * Records {@link RpmaSrq#recv(long)}.
     *
     * @param srq the shared receive queue
     * @param opContext the operation context, returned by {@link RpmaCompletions#wrId}
     * @return {@code true} if the operation is recorded, {@code false} if the batch is full
     */
    public boolean recv(RpmaSrq srq, long opContext) {
        return addShared(RpmaSrq.handleOf(srq), 0, 0, 0, opContext);
    }

    private static long what(Op op, int flags) {
        return op.ordinal() | flags << FLAGS_SHIFT;
    }

    private static long imm(int imm) {
        return (long) imm << IMM_SHIFT;
    }

    private boolean add(
            long what,
            long conn,
            long local,
            long localOffset,
            long remote,
            long remoteOffset,
            long length,
            long opContext) {
        int record = records.next();
        if (record < 0) {
            return false;
        }
        long[] fields = records.array();
        fields[record + WHAT] = what;
        fields[record + CONN] = conn;
        fields[record + LOCAL] = local;
        fields[record + LOCAL_OFFSET] = localOffset;
        fields[record + REMOTE] = remote;
        fields[record + REMOTE_OFFSET] = remoteOffset;
        fields[record + LENGTH] = length;
        fields[record + OP_CONTEXT] = opContext;
        records.add(record + FIELDS);
        return true;
    }

    private boolean addShared(long srq, long local, long offset, long length, long opContext) {
        int record = records.next();
        if (record < 0) {
            return false;
        }
        records.array()[record + SRQ] = srq;
        return add(Op.SRQ_RECV.ordinal(), 0, local, offset, 0, 0, length, opContext);
    }

    /**
     * Posts the operations in their order, until all are posted or one can't be posted. Posted operations leave the
     * batch. The others stay in it, in their order.
     *
     * <p>Does not block, except that a {@code writeAtomic} can wait for the page of its bytes: see
     * {@link RpmaConn#writeAtomic}. The close of an object that the batch uses waits for at most 64 posts of the batch.
     *
     * @return the number of operations posted. If the queue of the next operation is full, this is less than the number
     *     recorded: poll completions and call this method again. {@link #firstOpContext()} identifies the next
     *     operation
     * @throws IllegalStateException if the connection, queue or region of the next operation is closed; the message
     *     names it. That operation is then the first in the batch: {@link #firstOpContext()} returns its context,
     *     {@link #removeFirst()} or {@link #clear()} drops it, and {@link #posted()} returns the number of operations
     *     posted before it
     * @throws RpmaException if librpma fails at the next operation, for example because the connection is not
     *     established; the batch is in the same state as after an {@code IllegalStateException}
     */
    public int post() {
        int to = records.copy();
        int from = records.first();
        long result = Natives.batchPost(records.address(from), (to - from) / FIELDS);
        Reference.reachabilityFence(this);
        records.posted(from, to, (int) result);
        if (result < 0) {
            throw refused(result >> Integer.SIZE, records.firstRecord());
        }
        return (int) result;
    }

    /** Returns the exception for an operation that can't be posted. */
    private static RuntimeException refused(long result, long[] record) {
        Op op = op(record[WHAT]);
        return result == Result.CLOSED
                ? new IllegalStateException(
                        op.function + " with opContext " + record[OP_CONTEXT] + ": " + closedOf(op, record))
                : Call.failure(op.function, result);
    }

    private static String closedOf(Op op, long[] record) {
        if (op == Op.SRQ_RECV) {
            return isClosed(record[LOCAL]) ? "its local region is closed" : "its shared receive queue is closed";
        }
        if (isClosed(record[CONN])) {
            return "its connection is closed";
        }
        return isClosed(record[REMOTE]) ? "its remote region is closed" : "its local region is closed";
    }

    /** The handle of an absent region is 0. */
    private static boolean isClosed(long handle) {
        return handle != 0 && !Natives.handleIsOpen(handle);
    }

    private static Op op(long what) {
        return Op.VALUES[(int) what & OP_MASK];
    }

    /**
     * {@return the operation context of the first operation in the batch}
     *
     * @throws NoSuchElementException if the batch is empty
     */
    public long firstOpContext() {
        records.checkNotEmpty();
        return records.array()[records.first() + OP_CONTEXT];
    }

    /**
     * Drops the first operation in the batch.
     *
     * @throws NoSuchElementException if the batch is empty
     */
    public void removeFirst() {
        records.removeFirst();
    }

    /** Drops all operations in the batch. */
    public void clear() {
        records.clear();
    }

    @Override
    public String toString() {
        return "RpmaBatch[" + count() + " of " + capacity() + "]";
    }
}
