package io.rpma;

import io.rpma.internal.Call;
import io.rpma.internal.Check;
import io.rpma.internal.NativeObject;
import io.rpma.internal.Natives;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A memory region of this side, registered with a peer.
 *
 * <p>Safe for use by many threads. Its memory stays reachable until the region is closed, even when nothing else refers
 * to either, because the other side may still write to it.
 *
 * <p>Manual pages: rpma_mr_reg(3), rpma_mr_get_descriptor(3), rpma_mr_get_ptr(3), rpma_mr_get_size(3),
 * rpma_mr_advise(3).
 */
public final class RpmaMrLocal implements AutoCloseable {
    /** The size of a descriptor in bytes. */
    public static final int DESCRIPTOR_SIZE = 21;

    /** {@code IBV_ADVISE_MR_FLAG_FLUSH}. */
    private static final int ADVISE_FLAG_FLUSH = 1;

    /** What the device may read or write must not be collected: it stays here until the region is closed. */
    private static final Map<NativeObject, Object> MEMORY = new ConcurrentHashMap<>();

    private final NativeObject object;
    private final long size;
    private final int usage;
    private final boolean persistent;

    /** Of one operation, in bytes. */
    private final long maxLength;

    /** Set when it is made. */
    private long handle;

    private RpmaMrLocal(long size, int usage, boolean persistent, int maxLength, NativeObject... parents) {
        this.size = size;
        this.maxLength = maxLength;
        this.usage = usage;
        this.persistent = persistent;
        object = new NativeObject(this, "RpmaMrLocal", parents);
    }

    static RpmaMrLocal register(
            RpmaPeer peer, long address, long size, Object memory, NativeObject[] parents, RpmaMrUsage... usages) {
        int usage = RpmaMrUsage.mask(usages);
        if (size <= 0 || address > Long.MAX_VALUE - size) {
            throw new IllegalArgumentException("a region has at least 1 byte and ends before 2^63: " + size
                    + " bytes at address 0x" + Long.toHexString(address));
        }
        boolean persistent = memory instanceof RpmaMemory && ((RpmaMemory) memory).isPersistent(address, size);
        RpmaMrLocal region = new RpmaMrLocal(size, usage, persistent, peer.maxMessage(), parents);
        NativeObject object = region.object;
        object.begin();
        boolean made = false;
        try {
            MEMORY.put(object, memory);
            region.handle = Natives.mrReg(peer.object().handle(), address, size, usage);
            object.made("rpma_mr_reg", region.handle);
            made = true;
        } finally {
            object.endMaking();
            if (!made) {
                MEMORY.remove(object);
            }
        }
        return region;
    }

    /**
     * {@return the bytes from which the other side makes its {@link RpmaMrRemote}}
     *
     * @throws IllegalStateException if closed
     */
    public byte[] getDescriptor() {
        byte[] descriptor = new byte[getDescriptorSize()];
        Call.check("rpma_mr_get_descriptor", Natives.mrGetDescriptor(handle, descriptor), object);
        return descriptor;
    }

    /**
     * {@return the size of the descriptor in bytes}
     *
     * @throws IllegalStateException if closed
     */
    public int getDescriptorSize() {
        return (int) Call.check("rpma_mr_get_descriptor_size", Natives.mrGetDescriptorSize(handle), object);
    }

    /**
     * {@return the address of the first byte}
     *
     * @throws IllegalStateException if closed
     */
    public long getPtr() {
        return Call.check("rpma_mr_get_ptr", Natives.mrGetPtr(handle), object);
    }

    /**
     * {@return the size in bytes}
     *
     * @throws IllegalStateException if closed
     */
    public long getSize() {
        return Call.check("rpma_mr_get_size", Natives.mrGetSize(handle), object);
    }

    /** {@return what the region is registered for} */
    public Set<RpmaMrUsage> usages() {
        return RpmaMrUsage.setOf(usage);
    }

    /**
     * {@return whether the memory is persistent, as {@link RpmaMemory#isPersistent()} found it; false for a buffer or an address
     * of anything else}
     *
     * <p>A region of memory that is not persistent can be registered and flushed as if it were.
     */
    public boolean isPersistent() {
        return persistent;
    }

    /**
     * Advises the device about pages that will be used, where it pins them only on demand.
     *
     * @param offset in bytes
     * @param length in bytes, 0 to 2^31 - 1
     * @param advice what to do
     * @param flush whether to wait until it is done, which takes time in proportion to the length
     * @throws IndexOutOfBoundsException if bytes are outside of the region
     * @throws IllegalArgumentException if the length is wrong
     * @throws IllegalStateException if closed
     * @throws RpmaException with {@link RpmaError#NOSUPP} if the device takes no advice; with {@link RpmaError#INVAL} if
     *     the region is not registered on demand, or not for what is advised
     */
    public void advise(long offset, long length, RpmaMrAdvice advice, boolean flush) {
        Check.range("local", offset, length, size);
        Call.check(
                "rpma_mr_advise",
                Natives.mrAdvise(handle, offset, length, advice.ordinal(), flush ? ADVISE_FLAG_FLUSH : 0),
                object);
    }

    /**
     * Checks the region for its part in an operation and returns its native handle; the hot path.
     *
     * @throws NullPointerException if the region is null
     * @throws IndexOutOfBoundsException if the bytes are not all in the region
     * @throws IllegalArgumentException if the region is not registered for the usage
     */
    static long use(RpmaMrLocal region, RpmaMrUsage needed, String role, long offset, long length) {
        if (region == null) {
            throw Check.isNull(role + " region");
        }
        Check.range(role, offset, length, region.size, region.maxLength);
        needed.checkIn(region.usage, role);
        return region.handle;
    }

    NativeObject object() {
        return object;
    }

    /**
     * Ends the registration; does nothing if it has ended already.
     *
     * <p>Waits for a post of another thread that uses the region. Operations that are posted and not complete fail, and
     * so do the other side's.
     *
     * @throws RpmaException if librpma reports a failure; the region is closed all the same
     */
    @Override
    public void close() {
        // after a failure the device may still have the memory
        if (object.close("rpma_mr_dereg", Natives::mrDereg)) {
            MEMORY.remove(object);
        }
    }

    @Override
    public String toString() {
        return object + "[" + size + " bytes, " + Objects.toString(usages()) + "]";
    }
}
