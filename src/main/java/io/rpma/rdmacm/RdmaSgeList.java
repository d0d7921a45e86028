package io.rpma.rdmacm;

import io.rpma.internal.Check;
import io.rpma.internal.Loader;
import io.rpma.internal.Natives;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A reusable list of parts of registered memory, which one operation gathers or scatters: an array of
 * {@code struct ibv_sge}.
 *
 * <p>Not for use by several threads at once. It is plain memory: it needs no closing, and may be changed as soon as a post
 * has returned. Regions may be closed while they are in a list; a post of it then fails.
 */
public final class RdmaSgeList {
    /** More parts no device takes. */
    public static final int MAX_CAPACITY = 64;

    // struct rdmacm_part of native/rdmacm.h
    private static final int SIZE = 24;
    private static final int MR = 0;
    private static final int OFFSET = 8;
    private static final int LENGTH = 16;

    /** The most that one operation can transfer. */
    private final ByteBuffer parts;

    private final long address;
    private final RdmaMr[] regions;
    private int count;
    private long length;

    /** Of one operation, the least of the regions'. */
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
     * @param capacity how many parts it takes, 1 to {@link #MAX_CAPACITY}
     * @return the list
     * @throws IllegalArgumentException if out of range
     */
    public static RdmaSgeList create(int capacity) {
        if (capacity < 1 || capacity > MAX_CAPACITY) {
            throw new IllegalArgumentException("capacity must be 1 to " + MAX_CAPACITY + ", not " + capacity);
        }
        return new RdmaSgeList(capacity);
    }

    /**
     * Adds a part behind the others.
     *
     * @param region the region
     * @param offset in bytes
     * @param bytes how many
     * @return this
     * @throws IndexOutOfBoundsException if bytes are outside of the region
     * @throws IllegalArgumentException if all parts together have more than 2^31 - 1 bytes, or more than the port of the device
     *     transfers in one operation
     * @throws IllegalStateException if the list is full
     */
    public RdmaSgeList add(RdmaMr region, long offset, long bytes) {
        long handle = RdmaMr.use(region, offset, bytes);
        long most = Math.min(maxLength, region.maxLength());
        if (length + bytes > most) {
            throw Check.tooLong(length + bytes, most);
        }
        // read once, here and below: a thread that must not use the list meanwhile makes the count wrong, but never too
        // large
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
     * Takes all parts out.
     *
     * @return this
     */
    public RdmaSgeList clear() {
        count = 0;
        length = 0;
        maxLength = Check.MAX_LENGTH;
        return this;
    }

    /** {@return how many parts it has} */
    public int count() {
        return count;
    }

    /** {@return how many bytes all parts have together} */
    public long length() {
        return length;
    }

    /** The address of the first part. */
    long address() {
        return address;
    }

    /** How many parts there are, for an operation that takes so many. */
    static int use(RdmaSgeList list, int maxSge) {
        if (list == null) {
            throw new NullPointerException("the list of parts is null");
        }
        int used = list.count;
        if (used > maxSge) {
            throw new IllegalArgumentException(
                    "the list has " + used + " parts, and the queue takes " + maxSge + " in one operation");
        }
        return used;
    }

    /** As {@link #use}, for an operation that writes to the parts. */
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
