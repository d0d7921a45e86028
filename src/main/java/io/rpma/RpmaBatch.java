package io.rpma;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.LongBuffer;
import java.util.NoSuchElementException;

/**
 * Posts that are recorded first and then made in one downcall: any mix of operations, on any connections.
 *
 * <p>Recording takes the connection or the shared receive queue and the arguments of the post, checks these as the post
 * does, and allocates nothing. {@link #post()} makes the posts in the order in which they were recorded. What is closed
 * meanwhile, or refused by librpma, is told there.
 *
 * <p>Not for use by several threads at once. It is plain memory: it needs no closing, can be used again and again, and outlives
 * its connections. What is recorded neither keeps an object reachable nor hinders its closing: a region's memory is kept by the
 * region, as long as that is open.
 *
 * <p>Manual pages: as {@link RpmaConn} and {@link RpmaSrq}.
 */
public final class RpmaBatch {
    // struct record of native/batch.c
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

    // what is recorded as WHAT
    private static final int OP_MASK = 0xff;
    private static final int FLAGS_SHIFT = 8;
    private static final int TYPE_SHIFT = 16;
    private static final int IMM_SHIFT = 32;

    private static final int MAX_CAPACITY = Integer.MAX_VALUE / (FIELDS * Long.BYTES);

    /** The operations, as enum op of native/batch.c has them. */
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

    private final int capacity;

    /** Filled here and copied in one go: storing into native memory field by field takes longer. */
    private final long[] records;

    private final LongBuffer memory;
    private final long address;
    private int count;
    private int posted;

    private RpmaBatch(int capacity) {
        this.capacity = capacity;
        records = new long[capacity * FIELDS];
        ByteBuffer buffer = ByteBuffer.allocateDirect(records.length * Long.BYTES);
        memory = buffer.order(ByteOrder.nativeOrder()).asLongBuffer();
        address = Natives.bufferAddress(buffer);
    }

    /**
     * Creates an empty batch.
     *
     * @param capacity how many posts it takes, at least 1; each has 72 bytes on the heap and 72 outside of it
     * @return the batch
     */
    public static RpmaBatch create(int capacity) {
        if (capacity < 1 || capacity > MAX_CAPACITY) {
            throw new IllegalArgumentException("capacity must be 1 to " + MAX_CAPACITY + ", not " + capacity);
        }
        return new RpmaBatch(capacity);
    }

    /** {@return how many posts it takes} */
    public int capacity() {
        return capacity;
    }

    /** {@return how many posts are recorded and not made} */
    public int count() {
        return count;
    }

    /** {@return how many posts the last {@link #post()} has made, also if that has thrown} */
    public int posted() {
        return posted;
    }

    /**
     * Records {@link RpmaConn#read(RpmaMrLocal, long, RpmaMrRemote, long, long, int, long)}.
     *
     * @param conn the connection
     * @param dst where to, registered for {@link RpmaMrUsage#READ_DST}
     * @param dstOffset in bytes
     * @param src where from, registered for {@link RpmaMrUsage#READ_SRC}
     * @param srcOffset in bytes
     * @param length in bytes, 0 to 2^31
     * @param flags {@link RpmaConn#F_COMPLETION_ALWAYS} or {@link RpmaConn#F_COMPLETION_ON_ERROR}
     * @param opContext comes back as {@link RpmaCompletions#wrId}
     * @return whether it is recorded; false if the batch is full
     * @throws IndexOutOfBoundsException if bytes are outside of a region
     * @throws IllegalArgumentException if a region is not registered for this, or the length or the flags are wrong
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
        Check.flags(flags);
        long dstId = dst.use(RpmaMrUsage.READ_DST, RpmaConn.DESTINATION, dstOffset, length);
        long srcId = src.use(RpmaMrUsage.READ_SRC, RpmaConn.SOURCE, srcOffset, length);
        return add(what(Op.READ, flags), conn.id(), dstId, dstOffset, srcId, srcOffset, length, opContext);
    }

    /**
     * Records {@link RpmaConn#read(int, long)}.
     *
     * @param conn the connection
     * @param flags {@link RpmaConn#F_COMPLETION_ALWAYS} or {@link RpmaConn#F_COMPLETION_ON_ERROR}
     * @param opContext comes back as {@link RpmaCompletions#wrId}
     * @return whether it is recorded; false if the batch is full
     * @throws IllegalArgumentException if the flags are wrong
     */
    public boolean read(RpmaConn conn, int flags, long opContext) {
        Check.flags(flags);
        return add(what(Op.READ, flags), conn.id(), 0, 0, 0, 0, 0, opContext);
    }

    /**
     * Records {@link RpmaConn#write(RpmaMrRemote, long, RpmaMrLocal, long, long, int, long)}.
     *
     * @param conn the connection
     * @param dst where to, registered for {@link RpmaMrUsage#WRITE_DST}
     * @param dstOffset in bytes
     * @param src where from, registered for {@link RpmaMrUsage#WRITE_SRC}
     * @param srcOffset in bytes
     * @param length in bytes, 0 to 2^31
     * @param flags {@link RpmaConn#F_COMPLETION_ALWAYS} or {@link RpmaConn#F_COMPLETION_ON_ERROR}
     * @param opContext comes back as {@link RpmaCompletions#wrId}
     * @return whether it is recorded; false if the batch is full
     * @throws IndexOutOfBoundsException if bytes are outside of a region
     * @throws IllegalArgumentException if a region is not registered for this, or the length or the flags are wrong
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
        Check.flags(flags);
        long dstId = dst.use(RpmaMrUsage.WRITE_DST, RpmaConn.DESTINATION, dstOffset, length);
        long srcId = src.use(RpmaMrUsage.WRITE_SRC, RpmaConn.SOURCE, srcOffset, length);
        return add(what(Op.WRITE, flags), conn.id(), srcId, srcOffset, dstId, dstOffset, length, opContext);
    }

    /**
     * Records {@link RpmaConn#write(int, long)}.
     *
     * @param conn the connection
     * @param flags {@link RpmaConn#F_COMPLETION_ALWAYS} or {@link RpmaConn#F_COMPLETION_ON_ERROR}
     * @param opContext comes back as {@link RpmaCompletions#wrId}
     * @return whether it is recorded; false if the batch is full
     * @throws IllegalArgumentException if the flags are wrong
     */
    public boolean write(RpmaConn conn, int flags, long opContext) {
        Check.flags(flags);
        return add(what(Op.WRITE, flags), conn.id(), 0, 0, 0, 0, 0, opContext);
    }

    /**
     * Records {@link RpmaConn#writeWithImm(RpmaMrRemote, long, RpmaMrLocal, long, long, int, int, long)}.
     *
     * @param conn the connection
     * @param dst where to, registered for {@link RpmaMrUsage#WRITE_DST}
     * @param dstOffset in bytes
     * @param src where from, registered for {@link RpmaMrUsage#WRITE_SRC}
     * @param srcOffset in bytes
     * @param length in bytes, 0 to 2^31
     * @param flags {@link RpmaConn#F_COMPLETION_ALWAYS} or {@link RpmaConn#F_COMPLETION_ON_ERROR}
     * @param imm the immediate data
     * @param opContext comes back as {@link RpmaCompletions#wrId}
     * @return whether it is recorded; false if the batch is full
     * @throws IndexOutOfBoundsException if bytes are outside of a region
     * @throws IllegalArgumentException if a region is not registered for this, or the length or the flags are wrong
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
        Check.flags(flags);
        long dstId = dst.use(RpmaMrUsage.WRITE_DST, RpmaConn.DESTINATION, dstOffset, length);
        long srcId = src.use(RpmaMrUsage.WRITE_SRC, RpmaConn.SOURCE, srcOffset, length);
        long what = what(Op.WRITE_WITH_IMM, flags) | imm(imm);
        return add(what, conn.id(), srcId, srcOffset, dstId, dstOffset, length, opContext);
    }

    /**
     * Records {@link RpmaConn#writeWithImm(int, int, long)}.
     *
     * @param conn the connection
     * @param flags {@link RpmaConn#F_COMPLETION_ALWAYS} or {@link RpmaConn#F_COMPLETION_ON_ERROR}
     * @param imm the immediate data
     * @param opContext comes back as {@link RpmaCompletions#wrId}
     * @return whether it is recorded; false if the batch is full
     * @throws IllegalArgumentException if the flags are wrong
     */
    public boolean writeWithImm(RpmaConn conn, int flags, int imm, long opContext) {
        Check.flags(flags);
        return add(what(Op.WRITE_WITH_IMM, flags) | imm(imm), conn.id(), 0, 0, 0, 0, 0, opContext);
    }

    /**
     * Records {@link RpmaConn#atomicWrite(RpmaMrRemote, long, long, int, long)}.
     *
     * @param conn the connection
     * @param dst where to, registered for {@link RpmaMrUsage#WRITE_DST}
     * @param dstOffset in bytes; the address there must be a multiple of 8
     * @param value stored in the byte order of this machine
     * @param flags {@link RpmaConn#F_COMPLETION_ALWAYS} or {@link RpmaConn#F_COMPLETION_ON_ERROR}
     * @param opContext comes back as {@link RpmaCompletions#wrId}
     * @return whether it is recorded; false if the batch is full
     * @throws IndexOutOfBoundsException if bytes are outside of the region
     * @throws IllegalArgumentException if the region is not registered for this, the address is not a multiple of 8 or
     *     the flags are wrong
     */
    public boolean atomicWrite(RpmaConn conn, RpmaMrRemote dst, long dstOffset, long value, int flags, long opContext) {
        Check.flags(flags);
        long dstId = dst.useAtomic(dstOffset);
        return add(what(Op.ATOMIC_WRITE, flags), conn.id(), 0, value, dstId, dstOffset, 0, opContext);
    }

    /**
     * Records {@link RpmaConn#writeAtomic(RpmaMrRemote, long, RpmaMrLocal, long, int, long)}, whose 8 bytes are read by
     * {@link #post()}.
     *
     * @param conn the connection
     * @param dst where to, registered for {@link RpmaMrUsage#WRITE_DST}
     * @param dstOffset in bytes; the address there must be a multiple of 8
     * @param src where from, registered for {@link RpmaMrUsage#WRITE_SRC}
     * @param srcOffset in bytes
     * @param flags {@link RpmaConn#F_COMPLETION_ALWAYS} or {@link RpmaConn#F_COMPLETION_ON_ERROR}
     * @param opContext comes back as {@link RpmaCompletions#wrId}
     * @return whether it is recorded; false if the batch is full
     * @throws IndexOutOfBoundsException if bytes are outside of a region
     * @throws IllegalArgumentException if a region is not registered for this, the address is not a multiple of 8 or
     *     the flags are wrong
     */
    public boolean writeAtomic(
            RpmaConn conn,
            RpmaMrRemote dst,
            long dstOffset,
            RpmaMrLocal src,
            long srcOffset,
            int flags,
            long opContext) {
        Check.flags(flags);
        long dstId = dst.useAtomic(dstOffset);
        long srcId = src.use(RpmaMrUsage.WRITE_SRC, RpmaConn.SOURCE, srcOffset, Long.BYTES);
        return add(what(Op.WRITE_ATOMIC, flags), conn.id(), srcId, srcOffset, dstId, dstOffset, 0, opContext);
    }

    /**
     * Records {@link RpmaConn#flush(RpmaMrRemote, long, long, RpmaFlushType, int, long)}.
     *
     * @param conn the connection
     * @param dst what to flush
     * @param dstOffset in bytes; at least 8 bytes before the end of the region
     * @param length in bytes, 0 to 2^31
     * @param type how deep
     * @param flags {@link RpmaConn#F_COMPLETION_ALWAYS} or {@link RpmaConn#F_COMPLETION_ON_ERROR}
     * @param opContext comes back as {@link RpmaCompletions#wrId}
     * @return whether it is recorded; false if the batch is full
     * @throws IndexOutOfBoundsException if bytes, or the 8 bytes at {@code dstOffset}, are outside of the region
     * @throws IllegalArgumentException if the length or the flags are wrong
     */
    public boolean flush(
            RpmaConn conn,
            RpmaMrRemote dst,
            long dstOffset,
            long length,
            RpmaFlushType type,
            int flags,
            long opContext) {
        Check.flags(flags);
        long dstId = dst.useFlushed(dstOffset, length);
        long what = what(Op.FLUSH, flags) | (long) type.ordinal() << TYPE_SHIFT;
        return add(what, conn.id(), 0, 0, dstId, dstOffset, length, opContext);
    }

    /**
     * Records {@link RpmaConn#send(RpmaMrLocal, long, long, int, long)}.
     *
     * @param conn the connection
     * @param src where from, registered for {@link RpmaMrUsage#SEND}
     * @param offset in bytes
     * @param length in bytes, 0 to 2^31
     * @param flags {@link RpmaConn#F_COMPLETION_ALWAYS} or {@link RpmaConn#F_COMPLETION_ON_ERROR}
     * @param opContext comes back as {@link RpmaCompletions#wrId}
     * @return whether it is recorded; false if the batch is full
     * @throws IndexOutOfBoundsException if bytes are outside of the region
     * @throws IllegalArgumentException if the region is not registered for this, or the length or the flags are wrong
     */
    public boolean send(RpmaConn conn, RpmaMrLocal src, long offset, long length, int flags, long opContext) {
        Check.flags(flags);
        long srcId = src.use(RpmaMrUsage.SEND, RpmaConn.SOURCE, offset, length);
        return add(what(Op.SEND, flags), conn.id(), srcId, offset, 0, 0, length, opContext);
    }

    /**
     * Records {@link RpmaConn#send(int, long)}.
     *
     * @param conn the connection
     * @param flags {@link RpmaConn#F_COMPLETION_ALWAYS} or {@link RpmaConn#F_COMPLETION_ON_ERROR}
     * @param opContext comes back as {@link RpmaCompletions#wrId}
     * @return whether it is recorded; false if the batch is full
     * @throws IllegalArgumentException if the flags are wrong
     */
    public boolean send(RpmaConn conn, int flags, long opContext) {
        Check.flags(flags);
        return add(what(Op.SEND, flags), conn.id(), 0, 0, 0, 0, 0, opContext);
    }

    /**
     * Records {@link RpmaConn#sendWithImm(RpmaMrLocal, long, long, int, int, long)}.
     *
     * @param conn the connection
     * @param src where from, registered for {@link RpmaMrUsage#SEND}
     * @param offset in bytes
     * @param length in bytes, 0 to 2^31
     * @param flags {@link RpmaConn#F_COMPLETION_ALWAYS} or {@link RpmaConn#F_COMPLETION_ON_ERROR}
     * @param imm the immediate data
     * @param opContext comes back as {@link RpmaCompletions#wrId}
     * @return whether it is recorded; false if the batch is full
     * @throws IndexOutOfBoundsException if bytes are outside of the region
     * @throws IllegalArgumentException if the region is not registered for this, or the length or the flags are wrong
     */
    public boolean sendWithImm(
            RpmaConn conn, RpmaMrLocal src, long offset, long length, int flags, int imm, long opContext) {
        Check.flags(flags);
        long srcId = src.use(RpmaMrUsage.SEND, RpmaConn.SOURCE, offset, length);
        long what = what(Op.SEND_WITH_IMM, flags) | imm(imm);
        return add(what, conn.id(), srcId, offset, 0, 0, length, opContext);
    }

    /**
     * Records {@link RpmaConn#sendWithImm(int, int, long)}.
     *
     * @param conn the connection
     * @param flags {@link RpmaConn#F_COMPLETION_ALWAYS} or {@link RpmaConn#F_COMPLETION_ON_ERROR}
     * @param imm the immediate data
     * @param opContext comes back as {@link RpmaCompletions#wrId}
     * @return whether it is recorded; false if the batch is full
     * @throws IllegalArgumentException if the flags are wrong
     */
    public boolean sendWithImm(RpmaConn conn, int flags, int imm, long opContext) {
        Check.flags(flags);
        return add(what(Op.SEND_WITH_IMM, flags) | imm(imm), conn.id(), 0, 0, 0, 0, 0, opContext);
    }

    /**
     * Records {@link RpmaConn#recv(RpmaMrLocal, long, long, long)}.
     *
     * @param conn the connection
     * @param dst where to, registered for {@link RpmaMrUsage#RECV}
     * @param offset in bytes
     * @param length in bytes, 0 to 2^31
     * @param opContext comes back as {@link RpmaCompletions#wrId}
     * @return whether it is recorded; false if the batch is full
     * @throws IndexOutOfBoundsException if bytes are outside of the region
     * @throws IllegalArgumentException if the region is not registered for this or the length is wrong
     * @throws IllegalStateException if the connection uses a shared receive queue, which is where to post receives then
     */
    public boolean recv(RpmaConn conn, RpmaMrLocal dst, long offset, long length, long opContext) {
        long dstId = dst.use(RpmaMrUsage.RECV, RpmaConn.DESTINATION, offset, length);
        conn.checkReceives();
        return add(Op.RECV.ordinal(), conn.id(), dstId, offset, 0, 0, length, opContext);
    }

    /**
     * Records {@link RpmaConn#recv(long)}.
     *
     * @param conn the connection
     * @param opContext comes back as {@link RpmaCompletions#wrId}
     * @return whether it is recorded; false if the batch is full
     * @throws IllegalStateException if the connection uses a shared receive queue, which is where to post receives then
     */
    public boolean recv(RpmaConn conn, long opContext) {
        conn.checkReceives();
        return add(Op.RECV.ordinal(), conn.id(), 0, 0, 0, 0, 0, opContext);
    }

    /**
     * Records {@link RpmaSrq#recv(RpmaMrLocal, long, long, long)}.
     *
     * @param srq the shared receive queue
     * @param dst where to, registered for {@link RpmaMrUsage#RECV}
     * @param offset in bytes
     * @param length in bytes, 0 to 2^31
     * @param opContext comes back as {@link RpmaCompletions#wrId}
     * @return whether it is recorded; false if the batch is full
     * @throws IndexOutOfBoundsException if bytes are outside of the region
     * @throws IllegalArgumentException if the region is not registered for this or the length is wrong
     */
    public boolean recv(RpmaSrq srq, RpmaMrLocal dst, long offset, long length, long opContext) {
        long dstId = dst.use(RpmaMrUsage.RECV, RpmaConn.DESTINATION, offset, length);
        return addShared(srq.id(), dstId, offset, length, opContext);
    }

    /**
     * Records {@link RpmaSrq#recv(long)}.
     *
     * @param srq the shared receive queue
     * @param opContext comes back as {@link RpmaCompletions#wrId}
     * @return whether it is recorded; false if the batch is full
     */
    public boolean recv(RpmaSrq srq, long opContext) {
        return addShared(srq.id(), 0, 0, 0, opContext);
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
        int recorded = count;
        if (recorded == capacity) {
            return false;
        }
        int record = recorded * FIELDS;
        records[record + WHAT] = what;
        records[record + CONN] = conn;
        records[record + LOCAL] = local;
        records[record + LOCAL_OFFSET] = localOffset;
        records[record + REMOTE] = remote;
        records[record + REMOTE_OFFSET] = remoteOffset;
        records[record + LENGTH] = length;
        records[record + OP_CONTEXT] = opContext;
        count = recorded + 1;
        return true;
    }

    private boolean addShared(long srq, long local, long offset, long length, long opContext) {
        int recorded = count;
        if (recorded == capacity) {
            return false;
        }
        records[recorded * FIELDS + SRQ] = srq;
        return add(Op.SRQ_RECV.ordinal(), 0, local, offset, 0, 0, length, opContext);
    }

    /**
     * Makes the posts from the first on, until all are made or one can't be. Those that are made leave the batch; the others
     * stay in it in their order.
     *
     * <p>Never blocks. Closing what the batch uses waits for 64 posts of it at most.
     *
     * @return how many posts were made; fewer than were recorded if the next one's queue is full: poll completions and
     *     call this again
     * @throws IllegalStateException if the connection, queue or region of the next post is closed. It is the first in the
     *     batch now: {@link #removeFirst()} or {@link #clear()} drops it; {@link #posted()} tells how many were made before
     * @throws RpmaException if librpma fails at the next post, for example because the connection is not established; the
     *     same applies
     */
    public int post() {
        int recorded = count;
        memory.put(0, records, 0, recorded * FIELDS);
        long result = Natives.batchPost(address, recorded);
        posted = (int) result;
        drop(posted, recorded);
        if (result < 0) {
            throw Call.failure(Op.VALUES[(int) records[WHAT] & OP_MASK].function, result >> Integer.SIZE);
        }
        return posted;
    }

    /**
     * Drops the post that was recorded first.
     *
     * @throws NoSuchElementException if the batch is empty
     */
    public void removeFirst() {
        int recorded = count;
        if (recorded == 0) {
            throw new NoSuchElementException("the batch is empty");
        }
        drop(1, recorded);
    }

    private void drop(int first, int recorded) {
        int left = recorded - first;
        if (left > 0) {
            System.arraycopy(records, first * FIELDS, records, 0, left * FIELDS);
        }
        count = left;
    }

    /** Drops all posts that are recorded and not made. */
    public void clear() {
        count = 0;
    }

    @Override
    public String toString() {
        return "RpmaBatch[" + count + " of " + capacity + "]";
    }
}
