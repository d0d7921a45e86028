// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import io.rpma.internal.Call;
import io.rpma.internal.Check;
import io.rpma.internal.FlightEvents;
import io.rpma.internal.Natives;
import io.rpma.internal.ObjectKind;
import io.rpma.internal.Resource;
import io.rpma.internal.Result;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A memory region of this side, which is registered with a peer.
 *
 * <pre>{@code
 * try (RpmaMrLocal region = peer.register(memory, RpmaMrUsage.WRITE_DST, RpmaMrUsage.READ_SRC);
 *         RpmaConn conn = request.connect(region.getDescriptor())) { // the other side gets the descriptor
 *     System.out.println(conn.nextEvent());
 * }
 * }</pre>
 *
 * <p>Safe for use by many threads. The memory stays reachable until the region is closed, even if nothing refers to the
 * memory or to the region, because the other side may still write to it.
 *
 * <p>An offset of an operation is relative to the start of the region, also if the region is a part of a memory.
 *
 * <p>All connections and shared receive queues of the peer can use the region. An operation of another peer on the
 * region fails, usually with {@link RpmaWcStatus#LOC_PROT_ERR}.
 *
 * <p>Manual pages: rpma_mr_reg(3), rpma_mr_get_descriptor(3), rpma_mr_get_ptr(3), rpma_mr_get_size(3),
 * rpma_mr_advise(3).
 */
public final class RpmaMrLocal implements AutoCloseable {
    /** The size of a descriptor in bytes. */
    public static final int DESCRIPTOR_SIZE = 21;

    /** The property that permits on-demand paging on soft-RoCE, for a kernel without the defect. */
    private static final String ON_SOFT_ROCE = "io.rpma.softRoceOnDemandPaging";

    /** {@code IBV_ADVISE_MR_FLAG_FLUSH}. */
    private static final int ADVISE_FLAG_FLUSH = 1;

    /** Keeps memory that the device may access reachable until the region is closed. */
    private static final Map<Resource, Object> MEMORY = new ConcurrentHashMap<>();

    private static final ObjectKind KIND = new ObjectKind("rpma_mr_dereg") {
        @Override
        protected long delete(Resource region) {
            long result = Natives.mrDereg(region.handle());
            // after a failure the device may still access the memory
            if (result >= 0) {
                MEMORY.remove(region);
            }
            return result;
        }
    };

    private final Resource object;
    private final long size;
    private final int usage;
    private final boolean persistent;

    /** Whether the kernel refuses to pin the memory, so that librpma registers it with on-demand paging. */
    private final boolean onDemand;

    /** The maximum length of one operation, in bytes. */
    private final long maxLength;

    /** Set when the region is made. */
    private long handle;

    private RpmaMrLocal(
            long size, int usage, boolean persistent, boolean onDemand, int maxLength, Resource... parents) {
        this.size = size;
        this.maxLength = maxLength;
        this.usage = usage;
        this.persistent = persistent;
        this.onDemand = onDemand;
        object = new Resource(this, "RpmaMrLocal", KIND, parents);
        object.setSize(size);
    }

    static RpmaMrLocal register(
            RpmaPeer peer, long address, long size, Object memory, Resource[] parents, RpmaMrUsage... usages) {
        int usage = RpmaMrUsage.mask(usages);
        if (size <= 0 || address > Long.MAX_VALUE - size) {
            throw new IllegalArgumentException("a region has at least 1 byte and ends before 2^63: " + size
                    + " bytes at address 0x" + Long.toHexString(address));
        }
        boolean persistent = memory instanceof RpmaMemory && ((RpmaMemory) memory).isPersistent(address, size);
        boolean onDemand = memory instanceof RpmaMemory && ((RpmaMemory) memory).kind() == RpmaMemory.Kind.FILE_DAX;
        RpmaMrLocal region = new RpmaMrLocal(size, usage, persistent, onDemand, peer.maxMessage(), parents);
        Resource object = region.object;
        FlightEvents.Registration event = FlightEvents.registrationBegins();
        object.begin();
        boolean made = false;
        try {
            MEMORY.put(object, memory);
            long device = Boolean.getBoolean(ON_SOFT_ROCE) ? 0 : peer.device().context();
            region.handle = Natives.mrReg(peer.object().handle(), device, address, size, usage);
            if (region.handle == Result.MISPLACES) {
                throw misplaces();
            }
            object.made("rpma_mr_reg", region.handle);
            made = true;
        } finally {
            object.endMaking();
            if (!made) {
                MEMORY.remove(object);
            }
        }
        FlightEvents.registrationEnds(event, object, size);
        return region;
    }

    private static RpmaException misplaces() {
        return new RpmaException(
                "rpma_mr_reg",
                RpmaError.NOSUPP,
                0,
                "the memory needs on-demand paging, with which soft-RoCE copies the bytes to a wrong place",
                "use device DAX, tmpfs, hugetlbfs or anonymous memory instead of a file of a DAX file system, or another"
                        + " device; -D" + ON_SOFT_ROCE
                        + "=true permits the registration on a kernel without this defect");
    }

    /**
     * {@return the descriptor, from which the other side makes its {@link RpmaMrRemote}}
     *
     * @throws IllegalStateException if this object is closed
     */
    public byte[] getDescriptor() {
        byte[] descriptor = new byte[getDescriptorSize()];
        Call.check("rpma_mr_get_descriptor", Natives.mrGetDescriptor(handle, descriptor), object);
        return descriptor;
    }

    /**
     * {@return the size of the descriptor in bytes}
     *
     * @throws IllegalStateException if this object is closed
     */
    public int getDescriptorSize() {
        return (int) Call.check("rpma_mr_get_descriptor_size", Natives.mrGetDescriptorSize(handle), object);
    }

    /**
     * {@return the address of the first byte}
     *
     * @throws IllegalStateException if this object is closed
     */
    public long getPtr() {
        return Call.check("rpma_mr_get_ptr", Natives.mrGetPtr(handle), object);
    }

    /**
     * {@return the size in bytes}
     *
     * @throws IllegalStateException if this object is closed
     */
    public long getSize() {
        return Call.check("rpma_mr_get_size", Natives.mrGetSize(handle), object);
    }

    /** {@return the usages that the region is registered for} */
    public Set<RpmaMrUsage> usages() {
        return RpmaMrUsage.setOf(usage);
    }

    /**
     * {@return whether the memory is persistent, as reported by {@link RpmaMemory#isPersistent()}; false for memory
     * that is not an {@code RpmaMemory}}
     *
     * <p>A region can be registered for persistent flushes, and flushed, even if its memory is not persistent.
     */
    public boolean isPersistent() {
        return persistent;
    }

    /**
     * Advises the device about pages that will be used. Applies to regions of an {@link RpmaMemory} of the kind
     * {@link RpmaMemory.Kind#FILE_DAX}, which have on-demand paging. A region of a buffer or of an address can have
     * on-demand paging too, if the memory is a mapping of a DAX file. It can't be advised, because librpma does not
     * report whether a region has on-demand paging.
     *
     * @param offset the offset in the region in bytes
     * @param length the number of bytes, 0 to 2^31 - 1
     * @param advice the advice
     * @param flush whether to wait until the device has followed the advice, which takes time in proportion to
     *     {@code length}
     * @throws IndexOutOfBoundsException if {@code length} is negative, or a byte is outside the region
     * @throws IllegalArgumentException if {@code length} exceeds 2^31 - 1
     * @throws IllegalStateException if this object is closed
     * @throws RpmaException with {@link RpmaError#INVAL} if the region is of other memory, or is not registered for
     *     the advised access; with {@link RpmaError#NOSUPP} if the device does not support advice
     */
    public void advise(long offset, long length, RpmaMrAdvice advice, boolean flush) {
        Check.range("local", offset, length, size);
        int number = advice.ordinal();
        if (!onDemand) {
            throw notOnDemand();
        }
        Call.check(
                "rpma_mr_advise",
                Natives.mrAdvise(handle, offset, length, number, flush ? ADVISE_FLAG_FLUSH : 0),
                object);
    }

    /** The kernel must not get such an advice: soft-RoCE does not check the region, and Linux 7.3 crashes. */
    private RuntimeException notOnDemand() {
        if (object.isClosed()) {
            return Call.failure("rpma_mr_advise", Result.CLOSED, object);
        }
        return new RpmaException(
                "rpma_mr_advise",
                RpmaError.INVAL,
                0,
                "the region may have no on-demand paging",
                "only a region of an RpmaMemory of the kind FILE_DAX can be advised");
    }

    /**
     * Checks the region for an operation and returns its native handle; on the hot path.
     *
     * @throws NullPointerException if the region is null
     * @throws IndexOutOfBoundsException if a byte is outside the region
     * @throws IllegalArgumentException if the region is not registered for the usage
     */
    static long use(RpmaMrLocal region, RpmaMrUsage needed, long offset, long length) {
        if (region == null) {
            throw Check.isNull(needed.role + " region");
        }
        Check.range(needed.role, offset, length, region.size, region.maxLength);
        needed.checkIn(region.usage);
        return region.handle;
    }

    Resource object() {
        return object;
    }

    /**
     * Closes the region, which ends its registration. Has no effect if it is already closed. Waits while another thread
     * closes it.
     *
     * <p>Waits for posts of other threads that use the region. Outstanding operations on the region fail, including
     * operations of the other side.
     *
     * @throws RpmaException if librpma reports a failure; the region is closed nevertheless
     */
    @Override
    public void close() {
        object.close();
    }

    @Override
    public String toString() {
        return object.describe(size + " bytes", usages());
    }
}
