// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import io.rpma.internal.Check;
import io.rpma.internal.Natives;
import io.rpma.internal.PreparedRecords;
import java.lang.ref.Reference;

/**
 * A sequence of operations that are recorded once and posted repeatedly, each time in one downcall.
 *
 * <pre>{@code
 * RpmaBatch batch = RpmaBatch.create(2);
 * batch.write(conn, remote, 0, local, 0, 64, RpmaConn.F_COMPLETION_ON_ERROR, 0);
 * batch.flush(conn, remote, 0, 64, RpmaFlushType.VISIBILITY, RpmaConn.F_COMPLETION_ALWAYS, 1);
 * RpmaPreparedBatch put = batch.prepare();
 * RpmaCompletions completions = RpmaCompletions.create(1);
 * for (int slot = 0; slot < 16; slot++) {
 *     put.setRange(0, 64 * slot, 64 * slot, 64);
 *     put.setRange(1, 0, 64 * slot, 64);
 *     while (!put.post()) {
 *         conn.getCq().await(completions);
 *     }
 * }
 * }</pre>
 *
 * <p>{@link RpmaBatch#prepare()} makes a prepared batch. The number of an operation is its place in the sequence, from 0. The
 * range, the immediate data, the value and the operation context of an operation can be changed between posts; its kind, its
 * objects, its flags and the type of its flush can't. The methods allocate nothing.
 *
 * <p>A length can be changed up to the recorded length: record each operation with its greatest length. While a sequence is
 * posted in part, a change of an operation that is posted takes effect in the next round.
 *
 * <p>A sequence of one operation whose ranges and context change before each post has no advantage: a single post, for
 * example {@link RpmaConn#write}, takes less time.
 *
 * <p>{@link #post()} checks each time that the objects are open. The change of a range checks the range.
 *
 * <p>The last operation of each connection should have {@link RpmaConn#F_COMPLETION_ALWAYS}. Some devices free the entries of
 * the send queue only when a completion is polled: a sequence without a completion at its end fills the queue for good.
 *
 * <p>Not safe for use by several threads at once. A prepared batch is plain memory: it needs no close, and outlives its
 * connections. It neither keeps an object reachable nor prevents its close. The memory of a region stays reachable while the
 * region is open.
 *
 * <p>Manual pages: see {@link RpmaConn} and {@link RpmaSrq}.
 */
public final class RpmaPreparedBatch {
    private static final int ATOMIC_LENGTH = 8;
    private static final long LOWER_MASK = 0xffff_ffffL;

    private final PreparedRecords records;

    // the arguments of the downcall: fields of this object, because a load from another object would delay each post

    private final long address;

    /** As {@link PreparedRecords#range}. */
    private long range;

    // of each operation

    private final RpmaBatch.Op[] ops;

    /** The size of the region; 0 without a region. */
    private final long[] localSizes;

    private final long[] remoteSizes;
    private final long[] maxLengths;

    RpmaPreparedBatch(PreparedRecords records) {
        this.records = records;
        address = records.address();
        range = records.range(0);
        int count = records.count();
        ops = new RpmaBatch.Op[count];
        localSizes = new long[count];
        remoteSizes = new long[count];
        maxLengths = new long[count];
        for (int i = 0; i < count; i++) {
            ops[i] = RpmaBatch.op(records.get(i, RpmaBatch.WHAT));
            maxLengths[i] = isAtomic(i) ? ATOMIC_LENGTH : records.get(i, RpmaBatch.LENGTH);
            long local = records.get(i, RpmaBatch.LOCAL);
            localSizes[i] = local == 0 ? 0 : sizeOf("local", i, Natives.mrGetSize(local));
            long remote = records.get(i, RpmaBatch.REMOTE);
            remoteSizes[i] = remote == 0 ? 0 : sizeOf("remote", i, Natives.mrRemoteGetSize(remote));
        }
    }

    private static long sizeOf(String region, int index, long size) {
        if (size < 0) {
            throw new IllegalStateException("the " + region + " region of operation " + index + " is closed");
        }
        return size;
    }

    private boolean isAtomic(int index) {
        return ops[index] == RpmaBatch.Op.ATOMIC_WRITE || ops[index] == RpmaBatch.Op.WRITE_ATOMIC;
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
     * <p>Does not block, except that a {@code writeAtomic} can wait for the page of its bytes: see
     * {@link RpmaConn#writeAtomic}. The close of an object that the batch uses waits for at most 64 posts of the batch.
     *
     * @return {@code true} if the last operation of the sequence is posted: the next call begins with the first operation.
     *     {@code false} if the queue of the next operation is full: poll completions and call this method again for the rest of
     *     the sequence. {@link #posted()} is the number of the next operation
     * @throws IllegalStateException if the connection, queue or region of the next operation is closed; the message names it.
     *     {@link #posted()} is then the number of that operation
     * @throws RpmaException if librpma fails at the next operation, for example because the connection is not established;
     *     {@link #posted()} is then the number of that operation
     */
    public boolean post() {
        long result = Natives.batchPost(address, range);
        Reference.reachabilityFence(this);
        // the usual case: the whole sequence at once
        if (result == range) {
            return true;
        }
        boolean complete = advance((int) result);
        if (result < 0) {
            throw RpmaBatch.refused(result >> Integer.SIZE, records.get(posted()));
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
     * Changes the bytes of an operation.
     *
     * @param index the number of the operation, 0 to {@link #count()} - 1
     * @param localOffset the offset in the local region in bytes; 0 if the operation has no local region, for example a flush
     *     or an {@link RpmaConn#atomicWrite}
     * @param remoteOffset the offset in the remote region in bytes; 0 if the operation has no remote region, for example
     *     a message; a multiple of 8 for an atomic write
     * @param length the number of bytes, 0 to the recorded length; 8 for an atomic write
     * @throws IndexOutOfBoundsException if there is no such operation, {@code length} is negative, or a byte is outside a
     *     region; if one of the 8 bytes at the remote offset of a flush is outside its region; or if the operation has no
     *     such region and the offset is not 0
     * @throws IllegalArgumentException if {@code length} exceeds the recorded length; or if the operation is an atomic write, and
     *     {@code length} is not 8 or {@code remoteOffset} is not a multiple of 8
     */
    public void setRange(int index, long localOffset, long remoteOffset, long length) {
        boolean hasLocal = localSizes[records.check(index)] > 0;
        boolean hasRemote = remoteSizes[index] > 0;
        if (length < 0) {
            throw new IndexOutOfBoundsException("length must not be negative: " + length);
        }
        if (length > maxLengths[index]) {
            throw new IllegalArgumentException("operation " + index + " was recorded with " + maxLengths[index]
                    + " bytes, and can't have more: " + length);
        }
        checkRange("local", index, hasLocal, localOffset, length, localSizes[index]);
        checkRange("remote", index, hasRemote, remoteOffset, length, remoteSizes[index]);
        if (isAtomic(index)) {
            checkAtomic(remoteOffset, length);
        } else {
            if (ops[index] == RpmaBatch.Op.FLUSH) {
                Check.range("remote", remoteOffset, RpmaMrRemote.FLUSH_LENGTH, remoteSizes[index]);
            }
            records.set(index, RpmaBatch.LENGTH, length);
        }
        if (hasLocal) {
            records.set(index, RpmaBatch.LOCAL_OFFSET, localOffset);
        }
        records.set(index, RpmaBatch.REMOTE_OFFSET, remoteOffset);
    }

    private void checkRange(String region, int index, boolean present, long offset, long length, long size) {
        if (present) {
            Check.range(region, offset, length, size);
        } else if (offset != 0) {
            throw new IndexOutOfBoundsException("operation " + index + ", " + ops[index] + ", has no " + region
                    + " region: its offset must be 0, not " + offset);
        }
    }

    private static void checkAtomic(long remoteOffset, long length) {
        if (length != ATOMIC_LENGTH || remoteOffset % ATOMIC_LENGTH != 0) {
            throw new IllegalArgumentException("an atomic write has 8 bytes at an offset that is a multiple of 8, not "
                    + length + " at " + remoteOffset);
        }
    }

    /**
     * Changes the value of an {@link RpmaConn#atomicWrite}.
     *
     * @param index the number of the operation, 0 to {@link #count()} - 1
     * @param value the value, stored in the byte order of this machine
     * @throws IndexOutOfBoundsException if there is no such operation
     * @throws IllegalArgumentException if the operation is no {@code atomicWrite}
     */
    public void setValue(int index, long value) {
        check(index, ops[records.check(index)] == RpmaBatch.Op.ATOMIC_WRITE, "value");
        records.set(index, RpmaBatch.LOCAL_OFFSET, value);
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
        RpmaBatch.Op op = ops[records.check(index)];
        check(index, op == RpmaBatch.Op.WRITE_WITH_IMM || op == RpmaBatch.Op.SEND_WITH_IMM, "immediate data");
        long what = records.get(index, RpmaBatch.WHAT);
        records.set(index, RpmaBatch.WHAT, what & LOWER_MASK | (long) imm << RpmaBatch.IMM_SHIFT);
    }

    private void check(int index, boolean has, String missing) {
        if (!has) {
            throw new IllegalArgumentException("operation " + index + ", " + ops[index] + ", has no " + missing);
        }
    }

    /**
     * Changes the operation context of an operation.
     *
     * @param index the number of the operation, 0 to {@link #count()} - 1
     * @param opContext the operation context, returned by {@link RpmaCompletions#wrId}
     * @throws IndexOutOfBoundsException if there is no such operation
     */
    public void setOpContext(int index, long opContext) {
        records.set(index, RpmaBatch.OP_CONTEXT, opContext);
    }

    @Override
    public String toString() {
        return "RpmaPreparedBatch[" + posted() + " of " + count() + " posted]";
    }
}
