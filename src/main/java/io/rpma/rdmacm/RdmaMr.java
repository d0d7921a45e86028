// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.rdmacm;

import io.rpma.RpmaMemory;
import io.rpma.internal.Access;
import io.rpma.internal.Check;
import io.rpma.internal.FlightEvents;
import io.rpma.internal.Natives;
import io.rpma.internal.ObjectKind;
import io.rpma.internal.Resource;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

/**
 * A local memory region: memory that is registered with the device of an id, {@code struct ibv_mr}.
 *
 * <p>A client registers memory for remote writes, and sends its address and key with the request to connect:
 *
 * <pre>{@code
 * try (RpmaMemory page = RpmaMemory.allocate(4096);
 *         RdmaMr region = RdmaMr.regWrite(id, page)) {
 *     ByteBuffer offer = ByteBuffer.allocate(12).putLong(region.address()).putInt(region.rkey());
 *     id.connect(new RdmaConnParam().privateData(offer.array()));
 *     id.awaitEvent(RdmaEventType.ESTABLISHED, 5, TimeUnit.SECONDS);
 *     // the other side can write to the page until the region is closed
 * }
 * }</pre>
 *
 * <p>Registration pins the pages, which takes time in proportion to their size. The memory stays reachable until the
 * region is closed, even if nothing else refers to the memory or the region, because the other side can still write to
 * the memory. All ids of the device can use the region. It must be closed before the id that it was registered with.
 *
 * <p>An offset of an operation is relative to the start of the region, also if the region is a part of a memory.
 * {@link #address()} is the address of the first byte of the region.
 *
 * <p>Registrations of several threads run in parallel, so that threads can register a large memory in parts. Each part
 * is a region of its own, with its own keys. An operation can't go beyond its region.
 *
 * <p>Safe for use by many threads.
 *
 * <p>Manual pages: rdma_reg_msgs(3), rdma_reg_read(3), rdma_reg_write(3), rdma_dereg_mr(3), ibv_reg_mr(3).
 */
public final class RdmaMr implements AutoCloseable {
    private static final RdmaAccess[] MSGS = {RdmaAccess.LOCAL_WRITE};
    private static final RdmaAccess[] READ = {RdmaAccess.LOCAL_WRITE, RdmaAccess.REMOTE_READ};
    private static final RdmaAccess[] WRITE = {RdmaAccess.LOCAL_WRITE, RdmaAccess.REMOTE_WRITE};

    /** The memory of the open regions, so that it is not garbage-collected while a device reads or writes it. */
    private static final Map<Resource, Object> MEMORY = new ConcurrentHashMap<>();

    private static final ObjectKind KIND = new ObjectKind("rdma_dereg_mr") {
        @Override
        protected long delete(Resource region) {
            long result = Natives.rdmaMrDereg(region.handle());
            // after a failure the device may still access the memory
            if (result >= 0) {
                MEMORY.remove(region);
            }
            return result;
        }
    };

    private final Resource object;
    private final long address;
    private final long size;
    private final int access;

    // set by register()

    private long handle;
    private int rkey;

    /** The maximum length of one operation, in bytes. */
    private long maxLength;

    RdmaMr(long address, long size, int access, Resource... parents) {
        this.address = address;
        this.size = size;
        this.access = access;
        object = new Resource(this, "RdmaMr", KIND, parents);
        object.setSize(size);
    }

    /**
     * Registers memory for messages, and for the local side of reads and writes.
     *
     * @param id an id that is bound to a device
     * @param memory the memory; it can't be closed before the region
     * @return the region; the caller closes it before the id
     * @throws IllegalArgumentException if {@code memory} is read-only
     * @throws IllegalStateException if {@code id} is closed or not bound to a device, or {@code memory} is closed
     * @throws io.rpma.RpmaException if the device or the kernel refuses the registration, for example because of the
     *     limit of locked memory
     */
    public static RdmaMr regMsgs(RdmaId id, RpmaMemory memory) {
        return register("rdma_reg_msgs", id, memory, MSGS);
    }

    /**
     * Registers a part of a memory, as {@link #regMsgs(RdmaId, RpmaMemory)}. The offsets of the region in operations
     * are relative to the start of the part.
     *
     * @param id an id that is bound to a device
     * @param memory the memory; it can't be closed before the region
     * @param offset the offset of the first byte in the memory
     * @param length the size of the part in bytes, at least 1
     * @return the region; the caller closes it before the id
     * @throws IndexOutOfBoundsException if a byte is outside the memory
     * @throws IllegalArgumentException if {@code length} is 0, or {@code memory} is read-only
     * @throws IllegalStateException if {@code id} is closed or not bound to a device, or {@code memory} is closed
     * @throws io.rpma.RpmaException if the device or the kernel refuses the registration
     */
    public static RdmaMr regMsgs(RdmaId id, RpmaMemory memory, long offset, long length) {
        return register("rdma_reg_msgs", id, memory, offset, length, MSGS);
    }

    /**
     * Registers the remaining bytes of a direct buffer, as {@link #regMsgs(RdmaId, RpmaMemory)}.
     *
     * @param id an id that is bound to a device
     * @param buffer a direct buffer; later changes of its position and limit have no effect
     * @return the region; the caller closes it before the id
     * @throws IllegalArgumentException if {@code buffer} is not direct, has no remaining bytes or is read-only
     * @throws IllegalStateException if {@code id} is closed or not bound to a device, or the {@code Arena} of
     *     {@code buffer} is closed
     * @throws io.rpma.RpmaException if the device or the kernel refuses the registration
     */
    public static RdmaMr regMsgs(RdmaId id, ByteBuffer buffer) {
        return register("rdma_reg_msgs", id, buffer, MSGS);
    }

    /**
     * Registers memory for remote reads.
     *
     * @param id an id that is bound to a device
     * @param memory the memory; it can't be closed before the region
     * @return the region; the caller closes it before the id
     * @throws IllegalArgumentException if {@code memory} is read-only
     * @throws IllegalStateException if {@code id} is closed or not bound to a device, or {@code memory} is closed
     * @throws io.rpma.RpmaException if the device or the kernel refuses the registration, for example because of the
     *     limit of locked memory
     */
    public static RdmaMr regRead(RdmaId id, RpmaMemory memory) {
        return register("rdma_reg_read", id, memory, READ);
    }

    /**
     * Registers a part of a memory, as {@link #regRead(RdmaId, RpmaMemory)}. The offsets of the region in operations
     * are relative to the start of the part.
     *
     * @param id an id that is bound to a device
     * @param memory the memory; it can't be closed before the region
     * @param offset the offset of the first byte in the memory
     * @param length the size of the part in bytes, at least 1
     * @return the region; the caller closes it before the id
     * @throws IndexOutOfBoundsException if a byte is outside the memory
     * @throws IllegalArgumentException if {@code length} is 0, or {@code memory} is read-only
     * @throws IllegalStateException if {@code id} is closed or not bound to a device, or {@code memory} is closed
     * @throws io.rpma.RpmaException if the device or the kernel refuses the registration
     */
    public static RdmaMr regRead(RdmaId id, RpmaMemory memory, long offset, long length) {
        return register("rdma_reg_read", id, memory, offset, length, READ);
    }

    /**
     * Registers the remaining bytes of a direct buffer, as {@link #regRead(RdmaId, RpmaMemory)}.
     *
     * @param id an id that is bound to a device
     * @param buffer a direct buffer; later changes of its position and limit have no effect
     * @return the region; the caller closes it before the id
     * @throws IllegalArgumentException if {@code buffer} is not direct, has no remaining bytes or is read-only
     * @throws IllegalStateException if {@code id} is closed or not bound to a device, or the {@code Arena} of
     *     {@code buffer} is closed
     * @throws io.rpma.RpmaException if the device or the kernel refuses the registration
     */
    public static RdmaMr regRead(RdmaId id, ByteBuffer buffer) {
        return register("rdma_reg_read", id, buffer, READ);
    }

    /**
     * Registers memory for remote writes.
     *
     * @param id an id that is bound to a device
     * @param memory the memory; it can't be closed before the region
     * @return the region; the caller closes it before the id
     * @throws IllegalArgumentException if {@code memory} is read-only
     * @throws IllegalStateException if {@code id} is closed or not bound to a device, or {@code memory} is closed
     * @throws io.rpma.RpmaException if the device or the kernel refuses the registration, for example because of the
     *     limit of locked memory
     */
    public static RdmaMr regWrite(RdmaId id, RpmaMemory memory) {
        return register("rdma_reg_write", id, memory, WRITE);
    }

    /**
     * Registers a part of a memory, as {@link #regWrite(RdmaId, RpmaMemory)}. The offsets of the region in operations
     * are relative to the start of the part.
     *
     * @param id an id that is bound to a device
     * @param memory the memory; it can't be closed before the region
     * @param offset the offset of the first byte in the memory
     * @param length the size of the part in bytes, at least 1
     * @return the region; the caller closes it before the id
     * @throws IndexOutOfBoundsException if a byte is outside the memory
     * @throws IllegalArgumentException if {@code length} is 0, or {@code memory} is read-only
     * @throws IllegalStateException if {@code id} is closed or not bound to a device, or {@code memory} is closed
     * @throws io.rpma.RpmaException if the device or the kernel refuses the registration
     */
    public static RdmaMr regWrite(RdmaId id, RpmaMemory memory, long offset, long length) {
        return register("rdma_reg_write", id, memory, offset, length, WRITE);
    }

    /**
     * Registers the remaining bytes of a direct buffer, as {@link #regWrite(RdmaId, RpmaMemory)}.
     *
     * @param id an id that is bound to a device
     * @param buffer a direct buffer; later changes of its position and limit have no effect
     * @return the region; the caller closes it before the id
     * @throws IllegalArgumentException if {@code buffer} is not direct, has no remaining bytes or is read-only
     * @throws IllegalStateException if {@code id} is closed or not bound to a device, or the {@code Arena} of
     *     {@code buffer} is closed
     * @throws io.rpma.RpmaException if the device or the kernel refuses the registration
     */
    public static RdmaMr regWrite(RdmaId id, ByteBuffer buffer) {
        return register("rdma_reg_write", id, buffer, WRITE);
    }

    /**
     * Registers memory for any combination of uses, including combinations for which librdmacm has no function: remote
     * reads together with remote writes, and atomics.
     *
     * @param id an id that is bound to a device
     * @param memory the memory; it can't be closed before the region
     * @param access the permitted uses; none for a source of sends and writes
     * @return the region; the caller closes it before the id
     * @throws IllegalArgumentException if {@code memory} is read-only and {@code access} permits writes, or
     *     {@code access} has {@link RdmaAccess#REMOTE_WRITE} or {@link RdmaAccess#REMOTE_ATOMIC} without
     *     {@link RdmaAccess#LOCAL_WRITE}
     * @throws IllegalStateException if {@code id} is closed or not bound to a device, or {@code memory} is closed
     * @throws io.rpma.RpmaException if the device or the kernel refuses the registration, for example because of the
     *     limit of locked memory
     */
    public static RdmaMr reg(RdmaId id, RpmaMemory memory, RdmaAccess... access) {
        return register("ibv_reg_mr", id, memory, access);
    }

    /**
     * Registers a part of a memory, as {@link #reg(RdmaId, RpmaMemory, RdmaAccess...)}. The offsets of the region in
     * operations are relative to the start of the part.
     *
     * @param id an id that is bound to a device
     * @param memory the memory; it can't be closed before the region
     * @param offset the offset of the first byte in the memory
     * @param length the size of the part in bytes, at least 1
     * @param access the permitted uses; none for a source of sends and writes
     * @return the region; the caller closes it before the id
     * @throws IndexOutOfBoundsException if a byte is outside the memory
     * @throws IllegalArgumentException if {@code length} is 0, {@code memory} is read-only and {@code access} permits
     *     writes, or {@code access} has {@link RdmaAccess#REMOTE_WRITE} or {@link RdmaAccess#REMOTE_ATOMIC} without
     *     {@link RdmaAccess#LOCAL_WRITE}
     * @throws IllegalStateException if {@code id} is closed or not bound to a device, or {@code memory} is closed
     * @throws io.rpma.RpmaException if the device or the kernel refuses the registration
     */
    public static RdmaMr reg(RdmaId id, RpmaMemory memory, long offset, long length, RdmaAccess... access) {
        return register("ibv_reg_mr", id, memory, offset, length, access);
    }

    /**
     * Registers the remaining bytes of a direct buffer, as {@link #reg(RdmaId, RpmaMemory, RdmaAccess...)}.
     *
     * @param id an id that is bound to a device
     * @param buffer a direct buffer; later changes of its position and limit have no effect
     * @param access the permitted uses; none for a source of sends and writes
     * @return the region; the caller closes it before the id
     * @throws IllegalArgumentException if {@code buffer} is not direct or has no remaining bytes, if it is read-only
     *     and {@code access} permits writes, or if {@code access} has {@link RdmaAccess#REMOTE_WRITE} or
     *     {@link RdmaAccess#REMOTE_ATOMIC} without {@link RdmaAccess#LOCAL_WRITE}
     * @throws IllegalStateException if {@code id} is closed or not bound to a device, or the {@code Arena} of
     *     {@code buffer} is closed
     * @throws io.rpma.RpmaException if the device or the kernel refuses the registration
     */
    public static RdmaMr reg(RdmaId id, ByteBuffer buffer, RdmaAccess... access) {
        return register("ibv_reg_mr", id, buffer, access);
    }

    /**
     * Registers memory by its address, for example the address of a {@code MemorySegment}.
     *
     * <p>The caller is responsible for the address: the memory must stay mapped until the region is closed. Until then,
     * {@code owner} stays reachable. An {@code owner} that is an {@link RpmaMemory} can't be closed before the region.
     * With any other {@code owner}, the program can still free the memory, for example by closing its {@code Arena}.
     *
     * @param id an id that is bound to a device
     * @param address the address of the first byte
     * @param length the size in bytes, at least 1
     * @param owner the object that must stay reachable so that the memory stays mapped
     * @param access the permitted uses; none for a source of sends and writes
     * @return the region; the caller closes it before the id
     * @throws IllegalArgumentException if {@code address} or {@code length} is not positive or their sum overflows, or
     *     {@code access} has {@link RdmaAccess#REMOTE_WRITE} or {@link RdmaAccess#REMOTE_ATOMIC} without
     *     {@link RdmaAccess#LOCAL_WRITE}
     * @throws IllegalStateException if {@code id} is closed or not bound to a device, or {@code owner} is a closed
     *     {@link RpmaMemory}
     * @throws io.rpma.RpmaException if the device or the kernel refuses the registration, for example because the
     *     memory is not mapped
     */
    public static RdmaMr reg(RdmaId id, long address, long length, Object owner, RdmaAccess... access) {
        Objects.requireNonNull(owner, "owner");
        checkRange(address, length);
        int mask = RdmaAccess.mask(access);
        Resource[] parents = owner instanceof RpmaMemory
                ? new Resource[] {id.object(), object((RpmaMemory) owner, mask)}
                : new Resource[] {id.object()};
        return register("ibv_reg_mr", id, address, length, owner, parents, mask);
    }

    private static RdmaMr register(String operation, RdmaId id, RpmaMemory memory, RdmaAccess... access) {
        return register(operation, id, memory, 0, memory.size(), access);
    }

    private static RdmaMr register(
            String operation, RdmaId id, RpmaMemory memory, long offset, long length, RdmaAccess... access) {
        Objects.checkFromIndexSize(offset, length, memory.size());
        checkRange(memory.address() + offset, length);
        int mask = RdmaAccess.mask(access);
        checkWritable(memory.isReadOnly(), mask);
        Resource[] parents = {id.object(), object(memory, mask)};
        return register(operation, id, memory.address() + offset, length, memory, parents, mask);
    }

    private static Resource object(RpmaMemory memory, int access) {
        if ((access & RdmaAccess.LOCAL_WRITE.bit()) != 0) {
            Access.get().markWrittenByDevices(memory);
        }
        return Access.get().object(memory);
    }

    private static RdmaMr register(String operation, RdmaId id, ByteBuffer buffer, RdmaAccess... access) {
        int mask = RdmaAccess.mask(access);
        if (!buffer.isDirect() || !buffer.hasRemaining()) {
            throw new IllegalArgumentException(
                    "only a direct buffer that has bytes remaining can be registered: see ByteBuffer.allocateDirect()");
        }
        checkWritable(buffer.isReadOnly(), mask);
        ByteBuffer region = buffer.slice();
        // throws if the buffer belongs to a closed Arena: a device must not get freed memory
        region.get(0);
        Resource[] parents = {id.object()};
        return register(operation, id, Natives.bufferAddress(region), region.capacity(), region, parents, mask);
    }

    private static void checkRange(long address, long length) {
        if (address <= 0 || length <= 0 || address > Long.MAX_VALUE - length) {
            throw new IllegalArgumentException("a region has at least 1 byte and ends before 2^63: " + length
                    + " bytes at address 0x" + Long.toHexString(address));
        }
    }

    private static void checkWritable(boolean readOnly, int access) {
        if (readOnly && (access & ~RdmaAccess.REMOTE_READ.bit()) != 0) {
            throw new IllegalArgumentException("read-only memory can be registered for REMOTE_READ at most");
        }
    }

    private static RdmaMr register(
            String operation, RdmaId id, long address, long size, Object memory, Resource[] parents, int access) {
        RdmaMr region = new RdmaMr(address, size, access, parents);
        LongSupplier registration = () -> Natives.rdmaMrReg(id.object().handle(), address, size, access);
        FlightEvents.Registration event = FlightEvents.registrationBegins();
        boolean registered = false;
        try {
            MEMORY.put(region.object, memory);
            region.object.make(operation, registration);
            registered = true;
        } finally {
            if (!registered) {
                MEMORY.remove(region.object);
            }
        }
        region.handle = region.object.handle();
        region.rkey = (int) Natives.rdmaMrRkey(region.handle);
        region.maxLength = id.maxMessage();
        VarHandle.releaseFence();
        FlightEvents.registrationEnds(event, region.object, size);
        return region;
    }

    /** {@return the address of the first byte, for operations of the other side} */
    public long address() {
        return address;
    }

    /** {@return the size in bytes} */
    public long size() {
        return size;
    }

    long maxLength() {
        return maxLength;
    }

    /** {@return the key of the region, for operations of the other side} */
    public int rkey() {
        return rkey;
    }

    /**
     * Checks the bytes that an operation reads, and returns the native handle. Part of the hot path.
     *
     * @throws NullPointerException if the region is null; checked explicitly, because the exception of compiled code
     *     has no message
     * @throws IndexOutOfBoundsException if the bytes are not all inside the region
     */
    static long use(RdmaMr region, long offset, long length) {
        if (region == null) {
            throw Check.isNull("local region");
        }
        Check.range("local", offset, length, region.size, region.maxLength);
        return region.handle;
    }

    /**
     * Checks the bytes that an operation writes, and returns the native handle. Part of the hot path.
     *
     * @throws NullPointerException if the region is null
     * @throws IndexOutOfBoundsException if the bytes are not all inside the region
     * @throws IllegalArgumentException if the region is not registered for {@link RdmaAccess#LOCAL_WRITE}
     */
    static long useWritable(RdmaMr region, long offset, long length) {
        long handle = use(region, offset, length);
        region.checkWritable();
        return handle;
    }

    void checkWritable() {
        if ((access & RdmaAccess.LOCAL_WRITE.bit()) == 0) {
            throw new IllegalArgumentException(object + " is not registered for LOCAL_WRITE");
        }
    }

    Resource object() {
        return object;
    }

    /**
     * Closes the region, which ends its registration. Has no effect if it is already closed. Waits while another thread
     * closes it.
     *
     * <p>Waits until no thread is in a post that uses the region. Outstanding operations on the region fail, and so do
     * operations of the other side.
     *
     * @throws io.rpma.RpmaException if the device reports a failure; the region is closed nevertheless
     */
    @Override
    public void close() {
        object.close();
    }

    @Override
    public String toString() {
        return object.describe(size + " bytes", "rkey 0x" + Integer.toHexString(rkey));
    }
}
