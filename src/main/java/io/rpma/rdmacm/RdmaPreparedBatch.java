// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.rdmacm;

import io.rpma.internal.BatchRecords;
import io.rpma.internal.Check;
import io.rpma.internal.Natives;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A chain of sends, writes and reads of one queue pair, which is built once and posted repeatedly, each time with one
 * call of {@code ibv_post_send}.
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
 * <p>{@link RdmaBatch#prepare()} makes a prepared batch. The number of an operation is its place in the chain, from 0.
 * The range in the local region, the inline data, the remote address, the immediate data and the context of an
 * operation can be changed between posts, and nothing else. The methods allocate nothing. A length can be changed up to
 * the recorded length: record each operation with its greatest length.
 *
 * <p>{@link #post()} checks each time that the queue pair and the regions are open. The change of a range checks the
 * range.
 *
 * <p>The last operation should have {@link RdmaQp#F_SIGNALED}: {@link RdmaBatch} describes why. Without a completion at
 * its end, a chain that is posted repeatedly fills the queue for good.
 *
 * <p>Not safe for use by several threads at once. A prepared batch is plain memory: it needs no close, and outlives its
 * id. It neither keeps an object reachable nor prevents its close. The memory of a region stays reachable while the
 * region is open.
 *
 * <p>Manual pages: see {@link RdmaQp}.
 */
public final class RdmaPreparedBatch {
    // struct prepared of native/rdmacm_batch.c
    private static final int HEADER = 16;
    private static final int SIZE = 152;
    private static final int WR_ID = 0;
    private static final int IMM_DATA = 36;
    private static final int REMOTE_ADDR = 40;
    private static final int BYTES = 128;
    private static final int LENGTH = 136;

    /** The work requests, and behind them the inline data. */
    private final ByteBuffer memory;

    private final long address;

    /** The operations as they were recorded. */
    private final long[][] records;

    /** The address of the region of each operation, or the place of its inline data in the memory. */
    private final long[] bases;

    /** The size of the region of each operation. */
    private final long[] sizes;

    /** The number of operations that the current round has posted. */
    private int posted;

    /**
     * Builds the operations.
     *
     * @param records the operations
     * @param inlineData the batch's inline data, which are copied
     */
    RdmaPreparedBatch(long[][] records, ByteBuffer inlineData) {
        this.records = records;
        bases = new long[records.length];
        sizes = new long[records.length];
        int inlineAt = at(records.length);
        int inlineEnd = inlineEnd(records);
        memory = ByteBuffer.allocateDirect(inlineAt + inlineEnd).order(ByteOrder.nativeOrder());
        memory.put(inlineAt, inlineData, 0, inlineEnd);
        address = Natives.bufferAddress(memory);
        // not the batch's own memory, which threads that race could change meanwhile
        BatchRecords copies = RdmaBatch.copies(records, address + inlineAt);
        int result = Natives.rdmaPrepare(copies.address(), records.length, address);
        Reference.reachabilityFence(copies);
        Reference.reachabilityFence(memory);
        if (result < 0) {
            throw RdmaBatch.refused(result, firstClosed());
        }
        for (int i = 0; i < records.length; i++) {
            long[] record = records[i];
            if (isInline(i)) {
                bases[i] = inlineAt + RdmaBatch.upperOf(record[RdmaBatch.SOURCE]);
            } else {
                bases[i] = memory.getLong(at(i) + BYTES) - record[RdmaBatch.OFFSET];
                sizes[i] = Natives.rdmaMrSize(record[RdmaBatch.MR]);
                if (sizes[i] < 0) {
                    // closed since it was prepared
                    throw RdmaBatch.refused(sizes[i], record);
                }
            }
        }
    }

    /** Not the batch's number, which threads that race could change meanwhile. */
    private static int inlineEnd(long[][] records) {
        int end = 0;
        for (long[] record : records) {
            long source = record[RdmaBatch.SOURCE];
            if (RdmaBatch.sourceOf(source) == RdmaBatch.INLINE) {
                end = Math.max(end, RdmaBatch.upperOf(source) + RdmaBatch.countOf(source));
            }
        }
        return end;
    }

    private static int at(int index) {
        return HEADER + index * SIZE;
    }

    private boolean isInline(int index) {
        return RdmaBatch.sourceOf(records[index][RdmaBatch.SOURCE]) == RdmaBatch.INLINE;
    }

    private RdmaBatch.Op op(int index) {
        return RdmaBatch.op(records[index][RdmaBatch.WHAT]);
    }

    /** {@return the number of operations in the chain} */
    public int count() {
        return records.length;
    }

    /**
     * {@return the number of operations that the current round has posted; 0 if the last call of {@link #post} has posted the whole chain}
     */
    public int posted() {
        return posted;
    }

    /**
     * Posts the chain. If the send queue had room for a part of it only, the next call posts the rest.
     *
     * <p>Does not block. The close of an object that the chain uses waits for the end of the call.
     *
     * @return {@code true} if the whole chain is posted; {@code false} if the send queue is full: poll completions and
     *     call this method again. {@link #posted()} is the number of the next operation
     * @throws IllegalStateException if the id, or the region of an operation that is not posted yet, is closed; the
     *     message names it, and nothing is posted
     * @throws io.rpma.RpmaException if the id is not connected yet ({@code ENOTCONN}), or the device refuses an
     *     operation: {@link #posted()} is then the number of that operation, with which the next call begins: to begin
     *     anew, record and prepare the operations again
     */
    public boolean post() {
        int from = posted;
        long result = Natives.rdmaPreparedPost(address, from);
        Reference.reachabilityFence(this);
        int next = from + (int) result;
        posted = next < records.length ? next : 0;
        if (result < 0) {
            throw RdmaBatch.refused(result >> Integer.SIZE, firstClosed());
        }
        return posted == 0 && next > 0;
    }

    /** Returns the next operation with a closed object; without one, the next operation. */
    private long[] firstClosed() {
        for (int i = posted; i < records.length; i++) {
            if (!RdmaBatch.isOpen(records[i])) {
                return records[i];
            }
        }
        return records[posted];
    }

    /**
     * Changes the bytes of an operation on a region.
     *
     * @param index the number of the operation, 0 to {@link #count()} - 1
     * @param offset the offset in the region, in bytes
     * @param length the number of bytes, 0 to the recorded length
     * @throws IndexOutOfBoundsException if there is no such operation, {@code length} is negative, or the bytes are not
     *     all inside the region
     * @throws IllegalArgumentException if the operation has inline data, or {@code length} exceeds the recorded length
     */
    public void setRange(int index, long offset, long length) {
        check(index, !isInline(check(index)), "region");
        checkLength(index, length, RdmaBatch.upperOf(records[index][RdmaBatch.SOURCE]));
        Check.range("local", offset, length, sizes[index]);
        memory.putLong(at(index) + BYTES, bases[index] + offset);
        memory.putInt(at(index) + LENGTH, (int) length);
    }

    /**
     * Copies other inline data for an operation.
     *
     * @param index the number of the operation, 0 to {@link #count()} - 1
     * @param src the bytes to copy
     * @param length the number of bytes to copy, from the first byte; 0 to the recorded length
     * @throws IndexOutOfBoundsException if there is no such operation, or {@code length} is negative or exceeds the
     *     capacity of {@code src}
     * @throws IllegalArgumentException if the operation has no inline data, or {@code length} exceeds the recorded
     *     length
     */
    public void setInline(int index, RdmaInlineData src, int length) {
        check(index, isInline(check(index)), "inline data");
        checkLength(index, length, RdmaBatch.countOf(records[index][RdmaBatch.SOURCE]));
        RdmaInlineData.use(src, length, length);
        src.copy(memory, (int) bases[index], length);
        memory.putInt(at(index) + LENGTH, length);
    }

    private static void checkLength(int index, long length, int most) {
        if (length > most) {
            throw new IllegalArgumentException(
                    "operation " + index + " was recorded with " + most + " bytes, and can't have more: " + length);
        }
    }

    /**
     * Changes the remote address of a write or a read.
     *
     * @param index the number of the operation, 0 to {@link #count()} - 1
     * @param remoteAddr the remote address
     * @throws IndexOutOfBoundsException if there is no such operation
     * @throws IllegalArgumentException if the operation is a send
     */
    public void setRemoteAddr(int index, long remoteAddr) {
        RdmaBatch.Op op = op(check(index));
        check(index, op != RdmaBatch.Op.SEND && op != RdmaBatch.Op.SEND_WITH_IMM, "remote address");
        memory.putLong(at(index) + REMOTE_ADDR, remoteAddr);
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
        RdmaBatch.Op op = op(check(index));
        check(index, op == RdmaBatch.Op.WRITE_WITH_IMM || op == RdmaBatch.Op.SEND_WITH_IMM, "immediate data");
        boolean swaps = memory.order() == ByteOrder.LITTLE_ENDIAN;
        memory.putInt(at(index) + IMM_DATA, swaps ? Integer.reverseBytes(imm) : imm);
    }

    /**
     * Changes the context of an operation.
     *
     * @param index the number of the operation, 0 to {@link #count()} - 1
     * @param context the value that {@link io.rpma.RpmaCompletions#wrId} returns for the completion
     * @throws IndexOutOfBoundsException if there is no such operation
     */
    public void setContext(int index, long context) {
        memory.putLong(at(check(index)) + WR_ID, context);
        records[index][RdmaBatch.CONTEXT] = context;
    }

    private int check(int index) {
        if (index < 0 || index >= records.length) {
            throw new IndexOutOfBoundsException("operation " + index + " of " + records.length);
        }
        return index;
    }

    private void check(int index, boolean has, String missing) {
        if (!has) {
            throw new IllegalArgumentException("operation " + index + ", " + op(index) + ", has no " + missing);
        }
    }

    @Override
    public String toString() {
        return "RdmaPreparedBatch[" + posted + " of " + records.length + " posted]";
    }
}
