// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.rdmacm;

import io.rpma.internal.Check;
import io.rpma.internal.Loader;
import io.rpma.internal.Natives;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A reusable scatter/gather list: the parts of memory regions that one operation reads from or writes to. An array of
 * {@code struct ibv_sge}.
 *
 * <p>A send gathers a header and a body into one message:
 *
 * <pre>{@code
 * RdmaSgeList parts = RdmaSgeList.create(2).add(mr, 0, 16).add(mr, 4096, 1024);
 * if (!qp.postSendv(parts, RdmaQp.F_SIGNALED, 1)) {
 *     throw new IllegalStateException("the send queue is full");
 * }
 * parts.clear().add(mr, 16, 16).add(mr, 8192, 1024);
 * }</pre>
 *
 * <p>Not safe for use by several threads at once. A list needs no {@code close()}, and can change after a post returns.
 * A region can be closed while it is in a list; a post of the list then fails.
 */
public final class RdmaSgeList {
    /** The maximum capacity. No device takes more parts. */
    public static final int MAX_CAPACITY = 64;

    // struct rdmacm_part of native/rdmacm.h
    static final int SIZE = 24;
    private static final int MR = 0;
    private static final int OFFSET = 8;
    private static final int LENGTH = 16;

    private final ByteBuffer parts;

    private final long address;
    private final RdmaMr[] regions;
    private int count;
    private long length;

    /** The maximum length of one operation, in bytes: the least maximum of the regions. */
    private long maxLength = Check.MAX_LENGTH;

    private RdmaSgeList(int capacity) {
        parts = ByteBuffer.allocateDirect(capacity * SIZE).order(ByteOrder.nativeOrder());
        Loader.ensureLoaded();
        address = Natives.bufferAddress(parts);
        regions = new RdmaMr[capacity];
    }

    /**
     * Creates an empty list.
     *
     * @param capacity the maximum number of parts, 1 to {@link #MAX_CAPACITY}
     * @return the list
     * @throws IllegalArgumentException if {@code capacity} is out of range
     */
    public static RdmaSgeList create(int capacity) {
        if (capacity < 1 || capacity > MAX_CAPACITY) {
            throw new IllegalArgumentException("capacity must be 1 to " + MAX_CAPACITY + ", not " + capacity);
        }
        return new RdmaSgeList(capacity);
    }

    /**
     * Adds a part at the end of the list.
     *
     * @param region the memory region
     * @param offset the offset of the part in the region, in bytes
     * @param bytes the number of bytes of the part; a part of 0 bytes is omitted when the list is posted
     * @return this
     * @throws IndexOutOfBoundsException if the part is not inside the region
     * @throws IllegalArgumentException if all parts together have more than 2^31 - 1 bytes, or more than the port of
     *     the device transfers in one operation
     * @throws IllegalStateException if the list is full
     */
    public RdmaSgeList add(RdmaMr region, long offset, long bytes) {
        long handle = RdmaMr.use(region, offset, bytes);
        long most = Math.min(maxLength, region.maxLength());
        if (length + bytes > most) {
            throw Check.tooLong(length + bytes, most);
        }
        // read the count once, as use() does: a second thread, against the contract, can then make the count wrong,
        // but not larger than the capacity
        int added = count;
        if (added == regions.length) {
            throw new IllegalStateException("the list has " + added + " parts and takes no more");
        }
        int part = added * SIZE;
        parts.putLong(part + MR, handle);
        parts.putLong(part + OFFSET, offset);
        parts.putLong(part + LENGTH, bytes);
        regions[added] = region;
        length += bytes;
        maxLength = most;
        count = added + 1;
        return this;
    }

    /**
     * Removes all parts.
     *
     * @return this
     */
    public RdmaSgeList clear() {
        count = 0;
        length = 0;
        maxLength = Check.MAX_LENGTH;
        return this;
    }

    /** {@return the number of parts} */
    public int count() {
        return count;
    }

    /** {@return the total number of bytes of all parts} */
    public long length() {
        return length;
    }

    /** The address of the array. */
    long address() {
        return address;
    }

    /** Checks the number of parts against the maximum of the queue, and returns the number. */
    static int use(RdmaSgeList list, int maxSge) {
        if (list == null) {
            throw Check.isNull("list of parts");
        }
        int used = list.count;
        if (used > maxSge) {
            throw new IllegalArgumentException(
                    "the list has " + used + " parts, and the queue takes " + maxSge + " in one operation");
        }
        return used;
    }

    /** Does the same as {@link #use} for an operation that writes to the parts. */
    static int useWritable(RdmaSgeList list, int maxSge) {
        int used = use(list, maxSge);
        for (int i = 0; i < used; i++) {
            list.regions[i].checkWritable();
        }
        return used;
    }

    @Override
    public String toString() {
        return "RdmaSgeList[" + count + " parts, " + length + " bytes]";
    }
}
