package io.rpma;

import io.rpma.internal.Call;
import io.rpma.internal.Check;
import io.rpma.internal.NativeObject;
import io.rpma.internal.Natives;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.EnumSet;
import java.util.Set;

/**
 * A memory region of the other side, made from the descriptor that it sent.
 *
 * <p>Safe for use by many threads. It may be closed while operations on it are outstanding.
 *
 * <p>Manual pages: rpma_mr_remote_from_descriptor(3), rpma_mr_remote_get_size(3), rpma_mr_remote_get_flush_type(3).
 */
public final class RpmaMrRemote implements AutoCloseable {
    private static final int ADDRESS_OFFSET = 0;
    private static final int SIZE_OFFSET = 8;
    private static final int USAGE_OFFSET = 20;

    /** An emulated flush reads so many bytes, wherever it is. */
    private static final long FLUSH_LENGTH = 8;

    private final NativeObject object;
    private final long address;
    private final long size;
    private final int usage;

    /** Set when it is made. */
    private long handle;

    private RpmaMrRemote(long address, long size, int usage) {
        this.address = address;
        this.size = size;
        this.usage = usage;
        object = new NativeObject(this, "RpmaMrRemote");
    }

    /**
     * Reads a region from its descriptor.
     *
     * @param descriptor at least {@link RpmaMrLocal#DESCRIPTOR_SIZE} bytes; bytes behind the descriptor are passed over
     * @return the region, to be closed
     * @throws IllegalArgumentException if the bytes are too few or describe no region
     * @throws RpmaException if out of memory
     */
    public static RpmaMrRemote fromDescriptor(byte[] descriptor) {
        return fromDescriptor(ByteBuffer.wrap(descriptor));
    }

    /**
     * Reads a region from the next bytes of a buffer, and moves its position behind them.
     *
     * @param descriptor at least {@link RpmaMrLocal#DESCRIPTOR_SIZE} remaining bytes; its byte order does not matter
     * @return the region, to be closed
     * @throws IllegalArgumentException if the bytes are too few or describe no region
     * @throws RpmaException if out of memory
     */
    public static RpmaMrRemote fromDescriptor(ByteBuffer descriptor) {
        if (descriptor.remaining() < RpmaMrLocal.DESCRIPTOR_SIZE) {
            throw new IllegalArgumentException("the descriptor of a memory region has " + RpmaMrLocal.DESCRIPTOR_SIZE
                    + " bytes, here are " + descriptor.remaining());
        }
        byte[] bytes = new byte[RpmaMrLocal.DESCRIPTOR_SIZE];
        descriptor.duplicate().get(bytes);
        ByteBuffer fields = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        long address = fields.getLong(ADDRESS_OFFSET);
        long size = fields.getLong(SIZE_OFFSET);
        int usage = Byte.toUnsignedInt(fields.get(USAGE_OFFSET));
        // librpma takes any address and size, and the sum could wrap around
        if (size <= 0 || address < 0 || address > Long.MAX_VALUE - size || usage == 0) {
            throw new IllegalArgumentException("the bytes describe no memory region: address 0x"
                    + Long.toHexString(address) + ", " + Long.toUnsignedString(size) + " bytes, usages "
                    + RpmaMrUsage.setOf(usage));
        }
        RpmaMrRemote region = new RpmaMrRemote(address, size, usage);
        region.handle = Natives.mrRemoteFromDescriptor(bytes);
        region.object.made("rpma_mr_remote_from_descriptor", region.handle);
        descriptor.position(descriptor.position() + bytes.length);
        return region;
    }

    /**
     * {@return the size in bytes, as the other side says}
     *
     * @throws IllegalStateException if closed
     */
    public long getSize() {
        return Call.check("rpma_mr_remote_get_size", Natives.mrRemoteGetSize(handle), object);
    }

    /**
     * {@return the flushes that the region is registered for}
     *
     * @throws IllegalStateException if closed
     */
    public Set<RpmaFlushType> getFlushType() {
        int flushes = (int) Call.check("rpma_mr_remote_get_flush_type", Natives.mrRemoteGetFlushType(handle), object);
        Set<RpmaFlushType> types = EnumSet.noneOf(RpmaFlushType.class);
        if ((flushes & RpmaMrUsage.FLUSH_TYPE_PERSISTENT.bit()) != 0) {
            types.add(RpmaFlushType.PERSISTENT);
        }
        if ((flushes & RpmaMrUsage.FLUSH_TYPE_VISIBILITY.bit()) != 0) {
            types.add(RpmaFlushType.VISIBILITY);
        }
        return types;
    }

    /** {@return what the region is registered for} */
    public Set<RpmaMrUsage> usages() {
        return RpmaMrUsage.setOf(usage);
    }

    /**
     * Checks the region for its part in an operation and returns its native handle; the hot path.
     *
     * @throws NullPointerException if the region is null
     * @throws IndexOutOfBoundsException if the bytes are not all in the region
     * @throws IllegalArgumentException if the region is not registered for the usage
     */
    static long use(RpmaMrRemote region, RpmaMrUsage needed, String role, long offset, long length) {
        if (region == null) {
            throw Check.isNull(role + " region");
        }
        needed.checkIn(region.usage, role);
        Check.range(role, offset, length, region.size);
        return region.handle;
    }

    /** As {@link #use}, for a flush, whose usage librpma checks itself. */
    static long useFlushed(RpmaMrRemote region, long offset, long length) {
        if (region == null) {
            throw Check.isNull(RpmaConn.DESTINATION + " region");
        }
        Check.range(RpmaConn.DESTINATION, offset, length, region.size);
        Check.range(RpmaConn.DESTINATION, offset, FLUSH_LENGTH, region.size);
        return region.handle;
    }

    /**
     * As {@link #use}, for an atomic write.
     *
     * @throws IllegalArgumentException also if the offset is not that of an 8-byte word; librpma looks at the offset
     *     alone
     */
    static long useAtomic(RpmaMrRemote region, long offset) {
        long used = use(region, RpmaMrUsage.WRITE_DST, RpmaConn.DESTINATION, offset, Long.BYTES);
        if ((offset & 7) != 0 || (region.address & 7) != 0) {
            throw new IllegalArgumentException(
                    "an atomic write goes to an address that is a multiple of 8, not to offset " + offset
                            + " of a region at 0x" + Long.toHexString(region.address));
        }
        return used;
    }

    NativeObject object() {
        return object;
    }

    /** Closes the region; does nothing if it is closed already. Operations that are posted go on. */
    @Override
    public void close() {
        object.close("rpma_mr_remote_delete", Natives::mrRemoteDelete);
    }

    @Override
    public String toString() {
        return object + "[" + size + " bytes, " + usages() + "]";
    }
}
