// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import io.rpma.internal.Natives;
import io.rpma.internal.ObjectKind;
import io.rpma.internal.Resource;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Objects;

/**
 * The local side of all connections through one device. It owns memory regions, endpoints and connections.
 *
 * <pre>{@code
 * try (RpmaPeer peer = RpmaPeer.create(RpmaDevice.local(address));
 *         RpmaMrLocal region = peer.register(ByteBuffer.allocateDirect(4096), RpmaMrUsage.RECV);
 *         RpmaConn conn = RpmaConnReq.create(peer, address, port, null).connect()) {
 *     System.out.println(conn.nextEvent());
 * }
 * }</pre>
 *
 * <p>Safe for use by many threads. {@link #close} throws {@link IllegalStateException} while an object of the peer is
 * open; {@link RpmaObjects#closeAll} closes them together.
 *
 * <p>Manual pages: rpma_peer_new(3), rpma_mr_reg(3).
 */
public final class RpmaPeer implements AutoCloseable {
    private static final class Deletion extends ObjectKind {
        private final long device;

        Deletion(long device) {
            super("rpma_peer_delete");
            this.device = device;
        }

        @Override
        protected long delete(Resource peer) {
            return Natives.peerDelete(peer.handle());
        }

        @Override
        protected byte[] deviceLimits(Resource peer) {
            return Natives.deviceLimits(device);
        }
    }

    private final RpmaDevice device;
    private final boolean flushNative;
    private final boolean atomicWriteNative;
    private final int maxMessage;
    private final Resource object;

    private RpmaPeer(RpmaDevice device) {
        this.device = device;
        flushNative = device.isFlushNative();
        atomicWriteNative = device.isAtomicWriteNative();
        maxMessage = device.maxMessage();
        object = new Resource(this, "RpmaPeer", new Deletion(device.context()));
    }

    /**
     * Creates a peer.
     *
     * @param device the device
     * @return the peer; the caller closes it
     * @throws RpmaException if the device refuses; with {@link RpmaError#NOSUPP} if librpma was in the process before
     *     this library, was built with rdma-core 45 or later, and an earlier rdma-core is loaded
     */
    public static RpmaPeer create(RpmaDevice device) {
        byte[] mismatch = Natives.versionsMismatch();
        if (mismatch != null) {
            throw new RpmaException(
                    "rpma_peer_new",
                    RpmaError.NOSUPP,
                    0,
                    new String(mismatch, StandardCharsets.UTF_8),
                    "install rdma-core 45 or later, or start the program so that no other library and no LD_PRELOAD loads"
                            + " librpma, librdmacm or libibverbs before rpma-java, which then keeps librpma from those"
                            + " functions");
        }
        RpmaPeer peer = new RpmaPeer(device);
        peer.object.made("rpma_peer_new", Natives.peerNew(device.context()));
        return peer;
    }

    /** {@return the device} */
    public RpmaDevice device() {
        return device;
    }

    /**
     * Registers a mapping.
     *
     * <p>Pins the pages, which takes time in proportion to their number. A file of a DAX file system is registered with
     * on-demand paging ({@link RpmaDevice#isOdpCapable()}) instead, which pins no pages. The memory stays reachable and
     * mapped until the region is closed, even if nothing else refers to it.
     *
     * <p>With on-demand paging, soft-RoCE up to Linux 7.3, the newest that was tested, copies bytes to a wrong offset
     * in their page and reports a success. Such a registration therefore fails on soft-RoCE with
     * {@link RpmaError#NOSUPP}, unless the system property {@code io.rpma.softRoceOnDemandPaging} is {@code true}.
     *
     * @param memory the memory, which can't be closed before the region
     * @param usages the usages of the region, at least one
     * @return the region, which the caller closes before this peer
     * @throws IllegalArgumentException if {@code usages} is empty, or {@code memory} is read-only and a usage requires
     *     writable memory
     * @throws IllegalStateException if this peer or {@code memory} is closed
     * @throws RpmaException if the device or the kernel refuses, for example because the limit of locked memory is
     *     exceeded
     */
    public RpmaMrLocal register(RpmaMemory memory, RpmaMrUsage... usages) {
        return register(memory, 0, memory.size(), usages);
    }

    /**
     * Registers a part of a mapping.
     *
     * <p>As {@link #register(RpmaMemory, RpmaMrUsage...)}. The other side can only access the part. The part need not
     * begin at the start of a page. The offsets of the region in operations are relative to the start of the part: the
     * byte {@code offset} of the memory is byte 0 of the region.
     *
     * <p>Registrations of several threads run in parallel, so that threads can register a large memory in parts. Each
     * part is a region of its own, with its own descriptor. An operation can't go beyond its region.
     *
     * @param memory the memory, which can't be closed before the region
     * @param offset the offset of the first byte in the memory
     * @param length the number of bytes, at least 1
     * @param usages the usages of the region, at least one
     * @return the region, which the caller closes before this peer
     * @throws IndexOutOfBoundsException if a byte is outside the memory
     * @throws IllegalArgumentException if {@code length} is 0, {@code usages} is empty, or {@code memory} is read-only
     *     and a usage requires writable memory
     * @throws IllegalStateException if this peer or {@code memory} is closed
     * @throws RpmaException if the device or the kernel refuses, for example because the limit of locked memory is
     *     exceeded
     */
    public RpmaMrLocal register(RpmaMemory memory, long offset, long length, RpmaMrUsage... usages) {
        Objects.checkFromIndexSize(offset, length, memory.size());
        checkWritable(memory.isReadOnly(), usages);
        markWritten(memory, usages);
        Resource[] parents = {object, memory.object()};
        return RpmaMrLocal.register(this, memory.address() + offset, length, memory, parents, usages);
    }

    /**
     * Registers the remaining bytes of a direct buffer, from its position to its limit.
     *
     * <p>As {@link #register(RpmaMemory, RpmaMrUsage...)}. Later changes of the buffer's position and limit have no
     * effect. The buffer stays reachable until the region is closed, but the program can still release the memory, for
     * example by closing the {@code Arena} that owns it.
     *
     * @param buffer a direct buffer
     * @param usages the usages of the region, at least one
     * @return the region, which the caller closes before this peer
     * @throws IllegalArgumentException if {@code usages} is empty; {@code buffer} is not direct or has no remaining
     *     bytes; or {@code buffer} is read-only and a usage requires writable memory
     * @throws IllegalStateException if this peer or the {@code Arena} of {@code buffer} is closed
     * @throws RpmaException if the device or the kernel refuses, for example because the limit of locked memory is
     *     exceeded
     */
    public RpmaMrLocal register(ByteBuffer buffer, RpmaMrUsage... usages) {
        if (!buffer.isDirect()) {
            throw new IllegalArgumentException(
                    "only a direct buffer can be registered: see ByteBuffer.allocateDirect()");
        }
        checkWritable(buffer.isReadOnly(), usages);
        ByteBuffer region = buffer.slice();
        // throws if the Arena of the memory is closed: freed memory must not become a target
        if (region.hasRemaining()) {
            region.get(0);
        }
        return RpmaMrLocal.register(
                this, Natives.bufferAddress(region), region.capacity(), region, new Resource[] {object}, usages);
    }

    /**
     * Registers memory by its address, for example the memory of a {@code MemorySegment}.
     *
     * <p>The caller is responsible for the address: the memory must stay mapped until the region is closed.
     * {@code owner} stays reachable until then, but the program can still release the memory, for example by closing
     * the {@code Arena} that owns it. An owner that is an {@link RpmaMemory} can't be closed before the region.
     *
     * @param address the address of the first byte
     * @param length the number of bytes, at least 1
     * @param owner the object that must stay reachable for the memory to stay valid
     * @param usages the usages of the region, at least one
     * @return the region, which the caller closes before this peer
     * @throws IllegalArgumentException if {@code usages} is empty, {@code address} or {@code length} is not positive,
     *     or their sum overflows
     * @throws IllegalStateException if this peer, or an owner that is an {@link RpmaMemory}, is closed
     * @throws RpmaException if the device or the kernel refuses
     */
    public RpmaMrLocal register(long address, long length, Object owner, RpmaMrUsage... usages) {
        Objects.requireNonNull(owner, "owner");
        if (address <= 0) {
            throw new IllegalArgumentException("address must be positive: " + address);
        }
        Resource[] parents = {object};
        if (owner instanceof RpmaMemory) {
            RpmaMemory memory = (RpmaMemory) owner;
            parents = new Resource[] {object, memory.object()};
            markWritten(memory, usages);
        }
        return RpmaMrLocal.register(this, address, length, owner, parents, usages);
    }

    private static void markWritten(RpmaMemory memory, RpmaMrUsage... usages) {
        int writes = RpmaMrUsage.mask(RpmaMrUsage.READ_DST, RpmaMrUsage.WRITE_DST, RpmaMrUsage.RECV);
        if ((RpmaMrUsage.mask(usages) & writes) != 0) {
            memory.markWrittenByDevices();
        }
    }

    private static void checkWritable(boolean readOnly, RpmaMrUsage... usages) {
        int writes =
                RpmaMrUsage.mask(RpmaMrUsage.READ_DST, RpmaMrUsage.WRITE_SRC, RpmaMrUsage.WRITE_DST, RpmaMrUsage.RECV);
        if (readOnly && (RpmaMrUsage.mask(usages) & writes) != 0) {
            throw new IllegalArgumentException("read-only memory can't be registered for " + RpmaMrUsage.setOf(writes));
        }
    }

    /** The maximum message size of the device's ports, in bytes. */
    int maxMessage() {
        return maxMessage;
    }

    boolean isFlushNative() {
        return flushNative;
    }

    boolean isAtomicWriteNative() {
        return atomicWriteNative;
    }

    Resource object() {
        return object;
    }

    /**
     * Closes the peer. Has no effect if it is already closed. Waits while another thread closes it.
     *
     * @throws IllegalStateException if an object of this peer is open; the message names it, and nothing is closed
     * @throws RpmaException if librpma reports a failure; the peer is closed nevertheless
     */
    @Override
    public void close() {
        object.close();
    }

    @Override
    public String toString() {
        return object.describe(device.name());
    }
}
