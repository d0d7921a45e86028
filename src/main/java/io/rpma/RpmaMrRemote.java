// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import io.rpma.internal.Call;
import io.rpma.internal.Check;
import io.rpma.internal.Natives;
import io.rpma.internal.ObjectKind;
import io.rpma.internal.Resource;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.EnumSet;
import java.util.Set;

/**
 * A memory region of the other side, made from the descriptor that the other side sent.
 *
 * <pre>{@code
 * try (RpmaMrRemote remote = RpmaMrRemote.fromDescriptor(descriptor)) {
 *     long length = Math.min(local.getSize(), remote.getSize());
 *     conn.read(local, 0, remote, 0, length, RpmaConn.F_COMPLETION_ALWAYS, 1);
 *     conn.getCq().await(completions);
 * }
 * }</pre>
 *
 * <p>Safe for use by many threads. A region may be closed while operations on it are outstanding.
 *
 * <p>Manual pages: rpma_mr_remote_from_descriptor(3), rpma_mr_remote_get_size(3), rpma_mr_remote_get_flush_type(3).
 */
public final class RpmaMrRemote implements AutoCloseable {
    private static final int ADDRESS_OFFSET = 0;
    private static final int SIZE_OFFSET = 8;
    private static final int USAGE_OFFSET = 20;

    /** The number of bytes that an emulated flush reads, whatever its length is. */
    static final long FLUSH_LENGTH = 8;

    private static final ObjectKind KIND = new ObjectKind("rpma_mr_remote_delete") {
        @Override
        protected long delete(Resource object) {
            return Natives.mrRemoteDelete(object.handle());
        }
    };

    private final Resource object;
    private final long address;
    private final long size;
    private final int usage;

    /** Set when the region is made. */
    private long handle;

    private RpmaMrRemote(long address, long size, int usage) {
        this.address = address;
        this.size = size;
        this.usage = usage;
        object = new Resource(this, "RpmaMrRemote", KIND);
    }

    /**
     * Makes a region from its descriptor.
     *
     * @param descriptor at least {@link RpmaMrLocal#DESCRIPTOR_SIZE} bytes; further bytes are ignored
     * @return the region; the caller closes it
     * @throws IllegalArgumentException if there are too few bytes, or they describe no region
     * @throws RpmaException if out of memory
     */
    public static RpmaMrRemote fromDescriptor(byte[] descriptor) {
        return fromDescriptor(ByteBuffer.wrap(descriptor));
    }

    /**
     * Makes a region from the next bytes of a buffer, and advances the position of the buffer.
     *
     * @param descriptor at least {@link RpmaMrLocal#DESCRIPTOR_SIZE} remaining bytes; the byte order of the buffer has
     *     no effect
     * @return the region; the caller closes it
     * @throws IllegalArgumentException if there are too few bytes, or they describe no region
     * @throws RpmaException if out of memory
     */
    public static RpmaMrRemote fromDescriptor(ByteBuffer descriptor) {
        Check.descriptor("memory region", RpmaMrLocal.DESCRIPTOR_SIZE, descriptor.remaining());
        byte[] bytes = new byte[RpmaMrLocal.DESCRIPTOR_SIZE];
        descriptor.duplicate().get(bytes);
        ByteBuffer fields = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        long address = fields.getLong(ADDRESS_OFFSET);
        long size = fields.getLong(SIZE_OFFSET);
        int usage = Byte.toUnsignedInt(fields.get(USAGE_OFFSET));
        // librpma accepts any address and size, also if their sum overflows
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
     * {@return the size in bytes, as the descriptor reports it}
     *
     * @throws IllegalStateException if this object is closed
     */
    public long getSize() {
        return Call.check("rpma_mr_remote_get_size", Natives.mrRemoteGetSize(handle), object);
    }

    /**
     * {@return the flush types that the region is registered for}
     *
     * @throws IllegalStateException if this object is closed
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

    /** {@return the usages that the region is registered for} */
    public Set<RpmaMrUsage> usages() {
        return RpmaMrUsage.setOf(usage);
    }

    /**
     * Checks the region for an operation and returns its native handle; on the hot path.
     *
     * @throws NullPointerException if the region is null
     * @throws IndexOutOfBoundsException if a byte is outside the region
     * @throws IllegalArgumentException if the region is not registered for the usage
     */
    static long use(RpmaMrRemote region, RpmaMrUsage needed, long offset, long length) {
        if (region == null) {
            throw Check.isNull(needed.role + " region");
        }
        needed.checkIn(region.usage);
        Check.range(needed.role, offset, length, region.size);
        return region.handle;
    }

    /** As {@link #use}, for a flush. librpma itself checks the usage. */
    static long useFlushed(RpmaMrRemote region, long offset, long length) {
        if (region == null) {
            throw Check.isNull(RpmaMrUsage.WRITE_DST.role + " region");
        }
        Check.range(RpmaMrUsage.WRITE_DST.role, offset, length, region.size);
        Check.range(RpmaMrUsage.WRITE_DST.role, offset, FLUSH_LENGTH, region.size);
        return region.handle;
    }

    /**
     * As {@link #use}, for an atomic write.
     *
     * @throws IllegalArgumentException also if the address is not a multiple of 8; librpma checks only the offset
     */
    static long useAtomic(RpmaMrRemote region, long offset) {
        long used = use(region, RpmaMrUsage.WRITE_DST, offset, Long.BYTES);
        if ((offset & 7) != 0 || (region.address & 7) != 0) {
            throw new IllegalArgumentException(
                    "an atomic write goes to an address that is a multiple of 8, not to offset " + offset
                            + " of a region at 0x" + Long.toHexString(region.address));
        }
        return used;
    }

    Resource object() {
        return object;
    }

    /**
     * Closes the region. Has no effect if it is already closed. Waits while another thread closes it. Outstanding
     * operations continue.
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
