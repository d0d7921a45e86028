package io.rpma.rdmacm;

import io.rpma.RpmaMemory;
import io.rpma.internal.Access;
import io.rpma.internal.Check;
import io.rpma.internal.NativeObject;
import io.rpma.internal.Natives;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

/**
 * Memory of this side, registered with the device of an id: {@code struct ibv_mr}.
 *
 * <p>Registering pins the pages, which takes time in proportion to their size. The memory stays reachable until the region
 * is closed, even when nothing else refers to either, because the other side may still write to it. All ids of one device
 * can use the region; it has to be closed before the one that it was registered with.
 *
 * <p>Safe for use by many threads.
 *
 * <p>Manual pages: rdma_reg_msgs(3), rdma_reg_read(3), rdma_reg_write(3), rdma_dereg_mr(3), ibv_reg_mr(3).
 */
public final class RdmaMr implements AutoCloseable {
    private static final Access ACCESS = Access.get();
    private static final RdmaAccess[] MSGS = {RdmaAccess.LOCAL_WRITE};
    private static final RdmaAccess[] READ = {RdmaAccess.LOCAL_WRITE, RdmaAccess.REMOTE_READ};
    private static final RdmaAccess[] WRITE = {RdmaAccess.LOCAL_WRITE, RdmaAccess.REMOTE_WRITE};

    /** What the device may read or write must not be collected: it stays here until the region is closed. */
    private static final Map<NativeObject, Object> MEMORY = new ConcurrentHashMap<>();

    private final NativeObject object;
    private final long address;
    private final long size;
    private final int access;

    // set when it is made

    private long handle;
    private int rkey;

    /** Of one operation, in bytes. */
    private long maxLength;

    private RdmaMr(long address, long size, int access, NativeObject... parents) {
        this.address = address;
        this.size = size;
        this.access = access;
        object = new NativeObject(this, "RdmaMr", parents);
    }

    /**
     * Registers a mapping for messages, and for the local side of reads and writes.
     *
     * @param id an id that has a device
     * @param memory the memory, which can't be closed before the region
     * @return the region, to be closed before the id
     * @throws IllegalArgumentException if {@code memory} is read-only
     * @throws IllegalStateException if {@code id} is closed or has no device yet, or {@code memory} is closed
     * @throws io.rpma.RpmaException if the device or the kernel refuses, for example over the limit of locked memory
     */
    public static RdmaMr regMsgs(RdmaId id, RpmaMemory memory) {
        return register("rdma_reg_msgs", id, memory, MSGS);
    }

    /**
     * Registers the remaining bytes of a direct buffer, as {@link #regMsgs(RdmaId, RpmaMemory)}.
     *
     * @param id an id that has a device
     * @param buffer a direct buffer; its later position and limit do not matter
     * @return the region, to be closed before the id
     * @throws IllegalArgumentException if {@code buffer} is not direct, has nothing remaining or is read-only
     * @throws IllegalStateException if {@code id} is closed or has no device yet, or the {@code Arena} of {@code buffer} is
     *     closed
     * @throws io.rpma.RpmaException if the device or the kernel refuses
     */
    public static RdmaMr regMsgs(RdmaId id, ByteBuffer buffer) {
        return register("rdma_reg_msgs", id, buffer, MSGS);
    }

    /**
     * Registers a mapping for the other side to read from.
     *
     * @param id an id that has a device
     * @param memory the memory, which can't be closed before the region
     * @return the region, to be closed before the id
     * @throws IllegalArgumentException if {@code memory} is read-only
     * @throws IllegalStateException if {@code id} is closed or has no device yet, or {@code memory} is closed
     * @throws io.rpma.RpmaException if the device or the kernel refuses, for example over the limit of locked memory
     */
    public static RdmaMr regRead(RdmaId id, RpmaMemory memory) {
        return register("rdma_reg_read", id, memory, READ);
    }

    /**
     * Registers the remaining bytes of a direct buffer, as {@link #regRead(RdmaId, RpmaMemory)}.
     *
     * @param id an id that has a device
     * @param buffer a direct buffer; its later position and limit do not matter
     * @return the region, to be closed before the id
     * @throws IllegalArgumentException if {@code buffer} is not direct, has nothing remaining or is read-only
     * @throws IllegalStateException if {@code id} is closed or has no device yet, or the {@code Arena} of {@code buffer} is
     *     closed
     * @throws io.rpma.RpmaException if the device or the kernel refuses
     */
    public static RdmaMr regRead(RdmaId id, ByteBuffer buffer) {
        return register("rdma_reg_read", id, buffer, READ);
    }

    /**
     * Registers a mapping for the other side to write to.
     *
     * @param id an id that has a device
     * @param memory the memory, which can't be closed before the region
     * @return the region, to be closed before the id
     * @throws IllegalArgumentException if {@code memory} is read-only
     * @throws IllegalStateException if {@code id} is closed or has no device yet, or {@code memory} is closed
     * @throws io.rpma.RpmaException if the device or the kernel refuses, for example over the limit of locked memory
     */
    public static RdmaMr regWrite(RdmaId id, RpmaMemory memory) {
        return register("rdma_reg_write", id, memory, WRITE);
    }

    /**
     * Registers the remaining bytes of a direct buffer, as {@link #regWrite(RdmaId, RpmaMemory)}.
     *
     * @param id an id that has a device
     * @param buffer a direct buffer; its later position and limit do not matter
     * @return the region, to be closed before the id
     * @throws IllegalArgumentException if {@code buffer} is not direct, has nothing remaining or is read-only
     * @throws IllegalStateException if {@code id} is closed or has no device yet, or the {@code Arena} of {@code buffer} is
     *     closed
     * @throws io.rpma.RpmaException if the device or the kernel refuses
     */
    public static RdmaMr regWrite(RdmaId id, ByteBuffer buffer) {
        return register("rdma_reg_write", id, buffer, WRITE);
    }

    /**
     * Registers a mapping for any use, among them those that librdmacm has no function for: both reads and writes of the
     * other side, and atomics.
     *
     * @param id an id that has a device
     * @param memory the memory, which can't be closed before the region
     * @param access what it is for; nothing for a source of sends and writes
     * @return the region, to be closed before the id
     * @throws IllegalArgumentException if {@code memory} is read-only and an access needs to write to it, or
     *     {@link RdmaAccess#REMOTE_WRITE} or {@link RdmaAccess#REMOTE_ATOMIC} is without {@link RdmaAccess#LOCAL_WRITE}
     * @throws IllegalStateException if {@code id} is closed or has no device yet, or {@code memory} is closed
     * @throws io.rpma.RpmaException if the device or the kernel refuses, for example over the limit of locked memory
     */
    public static RdmaMr reg(RdmaId id, RpmaMemory memory, RdmaAccess... access) {
        return register("ibv_reg_mr", id, memory, access);
    }

    /**
     * Registers the remaining bytes of a direct buffer, as {@link #reg(RdmaId, RpmaMemory, RdmaAccess...)}.
     *
     * @param id an id that has a device
     * @param buffer a direct buffer; its later position and limit do not matter
     * @param access what it is for; nothing for a source of sends and writes
     * @return the region, to be closed before the id
     * @throws IllegalArgumentException if {@code buffer} is not direct or has nothing remaining, or is read-only and an
     *     access needs to write to it, or {@link RdmaAccess#REMOTE_WRITE} or {@link RdmaAccess#REMOTE_ATOMIC} is without
     *     {@link RdmaAccess#LOCAL_WRITE}
     * @throws IllegalStateException if {@code id} is closed or has no device yet, or the {@code Arena} of {@code buffer} is
     *     closed
     * @throws io.rpma.RpmaException if the device or the kernel refuses
     */
    public static RdmaMr reg(RdmaId id, ByteBuffer buffer, RdmaAccess... access) {
        return register("ibv_reg_mr", id, buffer, access);
    }

    /**
     * Registers memory by its address, for example of a {@code MemorySegment}.
     *
     * <p>The caller answers for the address: the memory must stay mapped until the region is closed. {@code owner} keeps
     * a heap object reachable that long. It does not stop an {@code Arena} from being closed, or anything else from
     * freeing the memory, except an {@link RpmaMemory}, which can't be closed before the region.
     *
     * @param id an id that has a device
     * @param address the address of the first byte
     * @param length in bytes, at least 1
     * @param owner what must stay reachable for the memory to stay valid
     * @param access what it is for; nothing for a source of sends and writes
     * @return the region, to be closed before the id
     * @throws IllegalArgumentException if {@code address} or {@code length} is not positive or their sum overflows, or
     *     {@link RdmaAccess#REMOTE_WRITE} or {@link RdmaAccess#REMOTE_ATOMIC} is without {@link RdmaAccess#LOCAL_WRITE}
     * @throws IllegalStateException if {@code id} is closed or has no device yet, or {@code owner} is an {@link RpmaMemory}
     *     that is closed
     * @throws io.rpma.RpmaException if the device or the kernel refuses, for example memory that is not mapped
     */
    public static RdmaMr reg(RdmaId id, long address, long length, Object owner, RdmaAccess... access) {
        Objects.requireNonNull(owner, "owner");
        if (address <= 0 || length <= 0 || address > Long.MAX_VALUE - length) {
            throw new IllegalArgumentException("a region has at least 1 byte and ends before 2^63: " + length
                    + " bytes at address 0x" + Long.toHexString(address));
        }
        int mask = RdmaAccess.mask(access);
        NativeObject[] parents = owner instanceof RpmaMemory
                ? new NativeObject[] {id.object(), object((RpmaMemory) owner, mask)}
                : new NativeObject[] {id.object()};
        return register("ibv_reg_mr", id, address, length, owner, parents, mask);
    }

    private static RdmaMr register(String operation, RdmaId id, RpmaMemory memory, RdmaAccess... access) {
        int mask = RdmaAccess.mask(access);
        checkWritable(memory.isReadOnly(), mask);
        NativeObject[] parents = {id.object(), object(memory, mask)};
        return register(operation, id, memory.address(), memory.size(), memory, parents, mask);
    }

    private static NativeObject object(RpmaMemory memory, int access) {
        if ((access & RdmaAccess.LOCAL_WRITE.bit()) != 0) {
            ACCESS.markWrittenByDevices(memory);
        }
        return ACCESS.object(memory);
    }

    private static RdmaMr register(String operation, RdmaId id, ByteBuffer buffer, RdmaAccess... access) {
        int mask = RdmaAccess.mask(access);
        if (!buffer.isDirect() || !buffer.hasRemaining()) {
            throw new IllegalArgumentException(
                    "only a direct buffer that has bytes remaining can be registered: see ByteBuffer.allocateDirect()");
        }
        checkWritable(buffer.isReadOnly(), mask);
        ByteBuffer region = buffer.slice();
        // Throws where the memory is that of an Arena which is closed; what is freed must not become a target.
        region.get(0);
        NativeObject[] parents = {id.object()};
        return register(operation, id, Natives.bufferAddress(region), region.capacity(), region, parents, mask);
    }

    private static void checkWritable(boolean readOnly, int access) {
        if (readOnly && (access & ~RdmaAccess.REMOTE_READ.bit()) != 0) {
            throw new IllegalArgumentException("read-only memory can be registered for REMOTE_READ at most");
        }
    }

    private static RdmaMr register(
            String operation, RdmaId id, long address, long size, Object memory, NativeObject[] parents, int access) {
        RdmaMr region = new RdmaMr(address, size, access, parents);
        LongSupplier registration = () -> Natives.rdmaMrReg(id.object().handle(), address, size, access);
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
        return region;
    }

    /** {@return the address of the first byte, for the other side to use with the key} */
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

    /** {@return the key that the other side needs} */
    public int rkey() {
        return rkey;
    }

    /**
     * Checks the bytes of an operation that reads them and returns the native handle; the hot path.
     *
     * @throws NullPointerException if the region is null; with a message, which compiled code does not make by itself
     * @throws IndexOutOfBoundsException if the bytes are not all in the region
     */
    static long use(RdmaMr region, long offset, long length) {
        if (region == null) {
            throw new NullPointerException("the local region is null");
        }
        Check.range("local", offset, length, region.size, region.maxLength);
        return region.handle;
    }

    /**
     * Checks the bytes of an operation that writes them and returns the native handle; the hot path.
     *
     * @throws NullPointerException if the region is null
     * @throws IndexOutOfBoundsException if the bytes are not all in the region
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

    NativeObject object() {
        return object;
    }

    /**
     * Ends the registration; does nothing if it has ended already.
     *
     * <p>Waits for a post of another thread that uses the region. Operations that are posted and not complete fail, and
     * so do the other side's.
     *
     * @throws io.rpma.RpmaException if the device reports a failure; the region is closed all the same
     */
    @Override
    public void close() {
        // after a failure the device may still have the memory
        if (object.close("rdma_dereg_mr", Natives::rdmaMrDereg)) {
            MEMORY.remove(object);
        }
    }

    @Override
    public String toString() {
        return object + "[" + size + " bytes]";
    }
}
