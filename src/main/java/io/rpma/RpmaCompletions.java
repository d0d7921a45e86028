// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import io.rpma.internal.FlightEvents;
import io.rpma.internal.Loader;
import io.rpma.internal.Natives;
import io.rpma.internal.loop.PeerProbe;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A reusable array of completions, which {@link RpmaCq#poll} and {@link RpmaCq#await} fill.
 *
 * <pre>{@code
 * RpmaCompletions completions = RpmaCompletions.create(16);
 * int count = cq.poll(completions);
 * for (int i = 0; i < count; i++) {
 *     if (!completions.isSuccess(i)) {
 *         throw new IllegalStateException(completions.wrId(i) + ": " + completions.status(i).description());
 *     }
 *     if (completions.opcode(i) == RpmaWcOpcode.RECV) {
 *         System.out.println(completions.byteLen(i) + " bytes received");
 *     }
 * }
 * }</pre>
 *
 * <p>The content is valid until the array is filled again. Not safe for use by several threads at once. The array is
 * plain memory: it needs no close, and outlives its connection.
 *
 * <p>Manual pages: rpma_cq_get_wc(3), ibv_poll_cq(3).
 */
public final class RpmaCompletions {
    // the offsets in struct ibv_wc, checked in native/cq.c
    private static final int SIZE = 48;
    private static final int WR_ID = 0;
    private static final int STATUS = 8;
    private static final int OPCODE = 12;
    private static final int VENDOR_ERR = 16;
    private static final int BYTE_LEN = 20;
    private static final int IMM_DATA = 24;
    private static final int QP_NUM = 28;
    private static final int SRC_QP = 32;
    private static final int WC_FLAGS = 36;
    private static final int WITH_IMM = 2;

    private final ByteBuffer wcs;
    private final long address;
    private final int capacity;
    private int count;

    private RpmaCompletions(int capacity) {
        this.capacity = capacity;
        wcs = ByteBuffer.allocateDirect(Math.multiplyExact(capacity, SIZE)).order(ByteOrder.nativeOrder());
        Loader.ensureLoaded();
        address = Natives.bufferAddress(wcs);
    }

    /**
     * Creates an array.
     *
     * @param capacity the maximum number of completions, at least 1; each takes 48 bytes
     * @return the array
     * @throws IllegalArgumentException if {@code capacity} is less than 1 or more than 44,739,242
     */
    public static RpmaCompletions create(int capacity) {
        if (capacity < 1 || capacity > Integer.MAX_VALUE / SIZE) {
            throw new IllegalArgumentException(
                    "capacity must be 1 to " + Integer.MAX_VALUE / SIZE + ", not " + capacity);
        }
        return new RpmaCompletions(capacity);
    }

    /** {@return the maximum number of completions} */
    public int capacity() {
        return capacity;
    }

    /** {@return the number of completions in the array} */
    public int count() {
        return count;
    }

    /**
     * {@return the operation context that was passed to the post}
     *
     * @param index the index of the completion
     * @throws IndexOutOfBoundsException if {@code index} is negative, or not less than {@link #count()}
     */
    public long wrId(int index) {
        return wcs.getLong(offset(index) + WR_ID);
    }

    /**
     * {@return the status of the operation}
     *
     * @param index the index of the completion
     * @throws IndexOutOfBoundsException if {@code index} is negative, or not less than {@link #count()}
     */
    public RpmaWcStatus status(int index) {
        return RpmaWcStatus.of(wcs.getInt(offset(index) + STATUS));
    }

    /**
     * {@return whether the operation succeeded}
     *
     * @param index the index of the completion
     * @throws IndexOutOfBoundsException if {@code index} is negative, or not less than {@link #count()}
     */
    public boolean isSuccess(int index) {
        return wcs.getInt(offset(index) + STATUS) == 0;
    }

    /**
     * {@return the kind of the operation}
     *
     * @param index the index of the completion
     * @throws IndexOutOfBoundsException if {@code index} is negative, or not less than {@link #count()}
     * @throws IllegalStateException if the operation failed: the device then does not set this field
     */
    public RpmaWcOpcode opcode(int index) {
        return RpmaWcOpcode.of(wcs.getInt(successOffset(index) + OPCODE));
    }

    /**
     * {@return the number of bytes received; for a datagram, including the 40 bytes for its header}
     *
     * @param index the index of the completion of a receive
     * @throws IndexOutOfBoundsException if {@code index} is negative, or not less than {@link #count()}
     * @throws IllegalStateException if the operation failed: the device then does not set this field
     */
    public long byteLen(int index) {
        return Integer.toUnsignedLong(wcs.getInt(successOffset(index) + BYTE_LEN));
    }

    /**
     * {@return whether the receive has immediate data}
     *
     * @param index the index of the completion of a receive
     * @throws IndexOutOfBoundsException if {@code index} is negative, or not less than {@link #count()}
     * @throws IllegalStateException if the operation failed: the device then does not set this field
     */
    public boolean hasImmData(int index) {
        return (wcs.getInt(successOffset(index) + WC_FLAGS) & WITH_IMM) != 0;
    }

    /**
     * {@return the immediate data of the receive: the value that was posted, independent of the byte orders of both
     * machines}
     *
     * @param index the index of the completion of a receive
     * @throws IndexOutOfBoundsException if {@code index} is negative, or not less than {@link #count()}
     * @throws IllegalStateException if the operation failed, or the receive has no immediate data
     */
    public int immData(int index) {
        if (!hasImmData(index)) {
            throw new IllegalStateException("completion " + index + " (" + opcode(index) + ") has no immediate data");
        }
        int networkOrder = wcs.getInt(offset(index) + IMM_DATA);
        return ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN ? networkOrder : Integer.reverseBytes(networkOrder);
    }

    /**
     * {@return the device's own error code of a failed operation}
     *
     * @param index the index of the completion
     * @throws IndexOutOfBoundsException if {@code index} is negative, or not less than {@link #count()}
     */
    public int vendorErr(int index) {
        return wcs.getInt(offset(index) + VENDOR_ERR);
    }

    /**
     * {@return the number of the queue pair, which identifies the connection if several connections share a receive
     * queue: see {@link RpmaConn#getQpNum()}}
     *
     * @param index the index of the completion
     * @throws IndexOutOfBoundsException if {@code index} is negative, or not less than {@link #count()}
     */
    public int qpNum(int index) {
        return wcs.getInt(offset(index) + QP_NUM);
    }

    private int offset(int index) {
        if (index < 0 || index >= count) {
            throw new IndexOutOfBoundsException("completion " + index + " of " + count);
        }
        return index * SIZE;
    }

    private int successOffset(int index) {
        if (!isSuccess(index)) {
            throw new IllegalStateException(
                    "a failed completion (" + status(index) + ") has no more than wrId, status, qpNum and vendorErr");
        }
        return offset(index);
    }

    /**
     * {@return the number of the queue pair that sent the datagram; only {@code io.rpma.rdmacm} receives datagrams}
     *
     * @param index the index of the completion of a receive
     * @throws IndexOutOfBoundsException if {@code index} is negative, or not less than {@link #count()}
     * @throws IllegalStateException if the operation failed: the device then does not set this field
     */
    public int srcQp(int index) {
        return wcs.getInt(successOffset(index) + SRC_QP);
    }

    long address() {
        return address;
    }

    long address(int index) {
        return address + offset(index);
    }

    void clear() {
        count = 0;
    }

    void filled(int taken) {
        count = taken;
        if (taken > 0 && FlightEvents.isRecording()) {
            recordFailures();
        }
    }

    private void recordFailures() {
        for (int i = 0; i < count; i++) {
            if (!isSuccess(i)) {
                FlightEvents.errorCompletion(wrId(i), status(i), qpNum(i), vendorErr(i));
            }
        }
    }

    /**
     * Records that completions have come, at least one, and takes out that of a probe.
     *
     * @return whether completions are left
     */
    boolean removeProbe(PeerProbe probe) {
        // after a failure all operations fail, so the last status is the current one
        if (isSuccess(count - 1)) {
            probe.alive();
        }
        int i = 0;
        while (i < count && probe.isOutstanding()) {
            if (wrId(i) == probe.context()) {
                probe.answered(isSuccess(i));
                remove(i);
            } else {
                i++;
            }
        }
        return count > 0;
    }

    /** Removes a completion. The completions after it move down. */
    private void remove(int index) {
        int from = offset(index);
        wcs.put(from, wcs, from + SIZE, (count - index - 1) * SIZE);
        count--;
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder("RpmaCompletions[");
        // another thread may reduce the count
        for (int i = 0, shown = count; i < shown; i++) {
            int at = i * SIZE;
            text.append(i == 0 ? "" : ", ").append(wcs.getLong(at + WR_ID)).append(' ');
            text.append(RpmaWcStatus.of(wcs.getInt(at + STATUS)));
        }
        return text.append(']').toString();
    }
}
