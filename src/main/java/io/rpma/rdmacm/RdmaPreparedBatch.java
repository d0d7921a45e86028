// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.rdmacm;

import io.rpma.internal.Check;
import io.rpma.internal.Natives;
import io.rpma.internal.PreparedPost;
import io.rpma.internal.PreparedRecords;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;

/**
 * A sequence of operations that are recorded once and posted repeatedly, each time in one downcall and in chains, as by
 * {@link RdmaBatch}.
 *
 * <pre>{@code
 * RdmaBatch batch = RdmaBatch.create(2);
 * batch.write(qp, mr, 0, 64, 0, remoteAddr, rkey, 0);
 * batch.writeWithImm(qp, mr, 1024, 8, RdmaQp.F_SIGNALED, remoteAddr + 1024, rkey, 0, 1);
 * RdmaPreparedBatch put = batch.prepare();
 * RpmaCompletions completions = RpmaCompletions.create(1);
 * for (int slot = 0; slot < 16; slot++) {
 *     put.setRange(0, 64 * slot, 64);
 *     put.setRemoteAddr(0, remoteAddr + 64 * slot);
 *     put.setImm(1, slot);
 *     while (!put.post()) {
 *         qp.getSendComp(completions);
 *     }
 * }
 * }</pre>
 *
 * <p>{@link RdmaBatch#prepare()} makes a prepared batch. The number of an operation is its place in the sequence, from 0. The
 * range in the local region, the inline data, the remote address, the operands, the immediate data and the context of an
 * operation can be changed between posts; its kind, its objects, its flags, its list of parts, the key of its remote region and
 * the numbers and keys of remote queue pairs can't. The methods allocate nothing.
 *
 * <p>A length can be changed up to the recorded length: record each operation with its greatest length. While a sequence is
 * posted in part, a change of an operation that is posted takes effect in the next round.
 *
 * <p>A sequence of one operation whose bytes, remote address and context change before each post has no advantage: a single
 * post, for example {@link RdmaQp#postWrite}, takes less time.
 *
 * <p>{@link #post()} checks each time that the objects are open. The change of a range checks the range.
 *
 * <p>On JDK 22 and later, a post of at most 64 operations is a critical call of {@code java.lang.foreign} instead of a call of JNI,
 * and takes about 4 ns less. A safepoint of the JVM waits for its end, also if the device is software and posts by a system call.
 * The first batch that a JVM prepares takes about 50 ms then. JDK 22 and 23 need {@code --enable-native-access} for it.
 *
 * <p>The last operation of each send queue should have {@link RdmaQp#F_SIGNALED}: {@link RdmaBatch} describes why. Without a
 * completion at its end, a sequence that is posted repeatedly fills the queue for good.
 *
 * <p>Not safe for use by several threads at once. A prepared batch is plain memory: it needs no close, and outlives its ids. It
 * neither keeps an object reachable nor prevents its close. The memory of a region stays reachable while the region is open.
 *
 * <p>Manual pages: see {@link RdmaQp}.
 */
public final class RdmaPreparedBatch {
    /** The size of struct built in native/rdmacm_batch.c: a work request in front of the header. */
    static final int BUILT_SIZE = 152;

    private final PreparedRecords records;

    // the copies of the operations; the header of the records contains their addresses
    private final ByteBuffer parts;
    private final ByteBuffer inlineData;

    // the arguments of the downcall: fields of this object, because a load from another object would delay each post

    private final long address;

    /** As {@link PreparedRecords#range}. */
    private long range;

    // of each operation

    private final RdmaBatch.Op[] ops;

    /** The kind, the flags and the immediate data. */
    private final long[] whats;

    /** The size of the region; 0 for operations without a region, or with several. */
    private final long[] sizes;

    /** The recorded number of bytes; 0 for a list of parts. */
    private final long[] maxLengths;

    /**
     * Copies the parts and the inline data.
     *
     * @param parts the batch's parts
     * @param inlineData the batch's inline data
     */
    RdmaPreparedBatch(PreparedRecords records, ByteBuffer parts, ByteBuffer inlineData) {
        this.records = records;
        int count = records.count();
        ops = new RdmaBatch.Op[count];
        whats = new long[count];
        sizes = new long[count];
        maxLengths = new long[count];
        int partsEnd = 0;
        int inlineEnd = 0;
        for (int i = 0; i < count; i++) {
            whats[i] = records.get(i, RdmaBatch.WHAT);
            ops[i] = RdmaBatch.op(whats[i]);
            long source = records.get(i, RdmaBatch.SOURCE);
            switch (RdmaBatch.sourceOf(source)) {
                case RdmaBatch.REGION:
                    sizes[i] = sizeOf(i);
                    maxLengths[i] = RdmaBatch.upperOf(source);
                    break;
                case RdmaBatch.INLINE:
                    maxLengths[i] = RdmaBatch.countOf(source);
                    inlineEnd = Math.max(inlineEnd, RdmaBatch.upperOf(source) + RdmaBatch.countOf(source));
                    break;
                default:
                    int bytes = RdmaBatch.countOf(source) * RdmaSgeList.SIZE;
                    partsEnd = Math.max(partsEnd, RdmaBatch.upperOf(source) + bytes);
                    break;
            }
        }
        this.parts = copyOf(parts, partsEnd);
        this.inlineData = copyOf(inlineData, inlineEnd);
        records.setHeader(0, Natives.bufferAddress(this.parts));
        records.setHeader(1, Natives.bufferAddress(this.inlineData));
        address = records.address();
        range = records.range(0);
        // posts nothing, and links the call, so that the first post need not
        PreparedPost.post(address, records.range(count));
        Reference.reachabilityFence(this);
    }

    private static ByteBuffer copyOf(ByteBuffer bytes, int length) {
        return ByteBuffer.allocateDirect(length).put(0, bytes, 0, length);
    }

    /** Changes a field, so that the next post builds the work request again. */
    private void change(int index, int field, long value) {
        records.set(index, field, value);
        records.set(index, RdmaBatch.WHAT, whats[index]);
    }

    private int source(int index) {
        return RdmaBatch.sourceOf(records.get(index, RdmaBatch.SOURCE));
    }

    private long sizeOf(int index) {
        long size = Natives.rdmaMrSize(records.get(index, RdmaBatch.MR));
        if (size < 0) {
            throw new IllegalStateException("the region of operation " + index + " is closed");
        }
        return size;
    }

    /** {@return the number of operations in the sequence} */
    public int count() {
        return records.count();
    }

    /**
     * {@return the number of operations that the current round has posted; 0 if the last call of {@link #post} has posted all
     * operations}
     */
    public int posted() {
        return (int) (range >>> Integer.SIZE);
    }

    /**
     * Posts the operations in their order, until all are posted or one can't be posted. If an earlier call has posted only a
     * part of the sequence, this call begins with the next operation.
     *
     * <p>Does not block. The close of an object that the batch uses waits for at most 64 posts of the batch.
     *
     * @return {@code true} if the last operation of the sequence is posted: the next call begins with the first operation.
     *     {@code false} if the queue of the next operation is full: poll completions and call this method again for the rest of
     *     the sequence. {@link #posted()} is the number of the next operation
     * @throws IllegalStateException if the id, region or address handle of the next operation is closed; the message names it.
     *     {@link #posted()} is then the number of that operation
     * @throws io.rpma.RpmaException if the id of the next operation is not connected yet ({@code ENOTCONN}), or the device
     *     refuses the operation; {@link #posted()} is then the number of that operation
     */
    public boolean post() {
        long result = PreparedPost.post(address, range);
        Reference.reachabilityFence(this);
        // the usual case: the whole sequence at once
        if (result == range) {
            return true;
        }
        boolean complete = advance((int) result);
        if (result < 0) {
            throw RdmaBatch.refused(result >> Integer.SIZE, records.get(posted()));
        }
        return complete;
    }

    /** Counts the operations that an incomplete round or a failed post has posted. Returns whether the round is complete. */
    private boolean advance(int count) {
        int next = posted() + count;
        boolean complete = next >= count();
        range = records.range(complete ? 0 : next);
        return complete;
    }

    /**
     * Gives up the rest of a sequence that is posted in part: the next {@link #post} begins with the first operation. The
     * operations that are posted remain in their queues, and the next post repeats them. If none of them is signalled, they
     * can fill the send queue for good.
     */
    public void rewind() {
        range = records.range(0);
    }

    /**
     * Changes the bytes of an operation on a region.
     *
     * @param index the number of the operation, 0 to {@link #count()} - 1
     * @param offset the offset in the region, in bytes
     * @param length the number of bytes, 0 to the recorded length; 8 for an atomic
     * @throws IndexOutOfBoundsException if there is no such operation, {@code length} is negative, or the bytes are not all
     *     inside the region
     * @throws IllegalArgumentException if the operation has inline data or a list of parts, {@code length} exceeds the recorded
     *     length, or the operation is an atomic and {@code length} is not 8
     */
    public void setRange(int index, long offset, long length) {
        check(index, source(index) == RdmaBatch.REGION, "region");
        checkLength(index, length);
        if (isAtomic(index) && length != Long.BYTES) {
            throw new IllegalArgumentException("an atomic has 8 bytes, not " + length);
        }
        Check.range("local", offset, length, sizes[index]);
        records.set(index, RdmaBatch.OFFSET, offset);
        change(index, RdmaBatch.SOURCE, RdmaBatch.source(RdmaBatch.REGION, 0, (int) length));
    }

    /**
     * Copies other inline data for an operation.
     *
     * @param index the number of the operation, 0 to {@link #count()} - 1
     * @param src the bytes to copy
     * @param length the number of bytes to copy, from the first byte; 0 to the recorded length
     * @throws IndexOutOfBoundsException if there is no such operation, or {@code length} is negative or exceeds the capacity of
     *     {@code src}
     * @throws IllegalArgumentException if the operation has no inline data, or {@code length} exceeds the recorded length
     */
    public void setInline(int index, RdmaInlineData src, int length) {
        check(index, source(index) == RdmaBatch.INLINE, "inline data");
        checkLength(index, length);
        RdmaInlineData.use(src, length, length);
        int place = RdmaBatch.upperOf(records.get(index, RdmaBatch.SOURCE));
        src.copy(inlineData, place, length);
        change(index, RdmaBatch.SOURCE, RdmaBatch.source(RdmaBatch.INLINE, length, place));
    }

    private void checkLength(int index, long length) {
        if (length > maxLengths[index]) {
            throw new IllegalArgumentException("operation " + index + " was recorded with " + maxLengths[index]
                    + " bytes, and can't have more: " + length);
        }
    }

    /**
     * Changes the remote address of an operation.
     *
     * @param index the number of the operation, 0 to {@link #count()} - 1
     * @param remoteAddr the remote address; a multiple of 8 for an atomic
     * @throws IndexOutOfBoundsException if there is no such operation
     * @throws IllegalArgumentException if the operation has no remote address, or is an atomic and {@code remoteAddr} is not a
     *     multiple of 8
     */
    public void setRemoteAddr(int index, long remoteAddr) {
        RdmaBatch.Op op = ops[records.check(index)];
        boolean has = isAtomic(index)
                || op == RdmaBatch.Op.WRITE
                || op == RdmaBatch.Op.WRITE_WITH_IMM
                || op == RdmaBatch.Op.READ;
        check(index, has, "remote address");
        if (isAtomic(index)) {
            RdmaQp.checkAligned(remoteAddr);
        }
        change(index, RdmaBatch.REMOTE_ADDR, remoteAddr);
    }

    /**
     * Changes the operands of a compare-and-swap.
     *
     * @param index the number of the operation, 0 to {@link #count()} - 1
     * @param compare the expected value
     * @param swap the new value
     * @throws IndexOutOfBoundsException if there is no such operation
     * @throws IllegalArgumentException if the operation is no compare-and-swap
     */
    public void setCompareAndSwap(int index, long compare, long swap) {
        check(index, ops[records.check(index)] == RdmaBatch.Op.COMPARE_AND_SWAP, "value to compare with");
        change(index, RdmaBatch.COMPARE_ADD, compare);
        change(index, RdmaBatch.SWAP, swap);
    }

    /**
     * Changes the number that a fetch-and-add adds.
     *
     * @param index the number of the operation, 0 to {@link #count()} - 1
     * @param add the number
     * @throws IndexOutOfBoundsException if there is no such operation
     * @throws IllegalArgumentException if the operation is no fetch-and-add
     */
    public void setAdd(int index, long add) {
        check(index, ops[records.check(index)] == RdmaBatch.Op.FETCH_AND_ADD, "number to add");
        change(index, RdmaBatch.COMPARE_ADD, add);
    }

    private boolean isAtomic(int index) {
        return ops[index] == RdmaBatch.Op.COMPARE_AND_SWAP || ops[index] == RdmaBatch.Op.FETCH_AND_ADD;
    }

    /**
     * Changes the immediate data of an operation.
     *
     * @param index the number of the operation, 0 to {@link #count()} - 1
     * @param imm the immediate data
     * @throws IndexOutOfBoundsException if there is no such operation
     * @throws IllegalArgumentException if the operation has no immediate data
     */
    public void setImm(int index, int imm) {
        RdmaBatch.Op op = ops[records.check(index)];
        boolean has = op == RdmaBatch.Op.WRITE_WITH_IMM
                || op == RdmaBatch.Op.SEND_WITH_IMM
                || op == RdmaBatch.Op.UD_SEND_WITH_IMM;
        check(index, has, "immediate data");
        whats[index] = whats[index] & RdmaBatch.LOWER_MASK | (long) imm << RdmaBatch.UPPER;
        records.set(index, RdmaBatch.WHAT, whats[index]);
    }

    private void check(int index, boolean has, String missing) {
        if (!has) {
            throw new IllegalArgumentException("operation " + index + ", " + ops[index] + ", has no " + missing);
        }
    }

    /**
     * Changes the context of an operation.
     *
     * @param index the number of the operation, 0 to {@link #count()} - 1
     * @param context the value that {@link io.rpma.RpmaCompletions#wrId} returns for the completion
     * @throws IndexOutOfBoundsException if there is no such operation
     */
    public void setContext(int index, long context) {
        change(index, RdmaBatch.CONTEXT, context);
    }

    @Override
    public String toString() {
        return "RdmaPreparedBatch[" + posted() + " of " + count() + " posted]";
    }
}
