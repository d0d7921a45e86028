// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import io.rpma.internal.DaxDevice;
import io.rpma.internal.Errno;
import io.rpma.internal.Loader;
import io.rpma.internal.Mapping;
import io.rpma.internal.Natives;
import io.rpma.internal.ObjectKind;
import io.rpma.internal.PersistentMemory;
import io.rpma.internal.Resource;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.FileSystemException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;

/**
 * A page-aligned mapping of any size, of fresh memory, a file or persistent memory.
 *
 * <pre>{@code
 * try (RpmaMemory memory = RpmaMemory.map(Path.of("/mnt/pmem/data"), 1 << 20)) {
 *     memory.buffer().putLong(0, 42);
 *     memory.persist(0, Long.BYTES);
 *     try (RpmaMrLocal region = peer.register(memory, RpmaMrUsage.READ_SRC)) {
 *         System.out.println("offered: " + region);
 *     }
 * }
 * }</pre>
 *
 * <p>Safe for use by many threads. Closing throws {@link IllegalStateException} while the memory is registered, or a
 * {@link RpmaMemoryPool} of it is open.
 *
 * <p>Do not truncate a file while it is mapped. As with a buffer of {@code FileChannel.map}, the methods of a buffer
 * throw {@link InternalError} if they access the part that was cut off. Other methods of the JDK that take the buffer
 * as an argument may end the process with {@code SIGBUS}, for example {@code CRC32.update}, {@code Adler32.update} and
 * {@code Deflater}. Methods of this library do not end the process: if they notice the loss, they throw
 * {@link UncheckedIOException} or {@link RpmaException}.
 *
 * <p>Manual pages: mmap(2), msync(2).
 */
public final class RpmaMemory implements AutoCloseable {
    /** The kind of memory behind a mapping. */
    public enum Kind {
        /** Fresh memory of this process. Its content is lost when the process ends. */
        ANONYMOUS,
        /**
         * A file in the page cache. Linux 6.5 and later refuse to register it for usages that write to it, unless its
         * file system is in memory (tmpfs, hugetlbfs).
         */
        FILE,
        /** A file on persistent memory without the page cache: its file system is mounted with DAX. */
        FILE_DAX,
        /** A device DAX: memory without a file system, usually persistent, for example {@code /dev/dax0.0}. */
        DEVICE_DAX
    }

    private final Resource object;
    private final Mapping mapping;
    private final Kind kind;
    private final boolean persistent;
    private final boolean readOnly;

    /** Never reset: the kernel does not know which pages a device has written. */
    private volatile boolean writtenByDevices;

    private static final class Unmapping extends ObjectKind {
        private final Mapping mapping;

        Unmapping(Mapping mapping) {
            super("munmap");
            this.mapping = mapping;
        }

        @Override
        protected long delete(Resource memory) {
            mapping.close();
            return 0;
        }
    }

    private RpmaMemory(Mapping mapping, Kind kind, boolean persistent, boolean readOnly) {
        this.mapping = mapping;
        this.kind = kind;
        this.persistent = persistent;
        this.readOnly = readOnly;
        object = new Resource(this, "RpmaMemory", new Unmapping(mapping));
    }

    private static RpmaMemory of(Mapping mapping, Kind kind, boolean persistent, boolean readOnly) {
        RpmaMemory memory = null;
        try {
            memory = new RpmaMemory(mapping, kind, persistent, readOnly);
        } finally {
            if (memory == null) {
                mapping.close();
            }
        }
        memory.object.made("mmap", Resource.WITHOUT_ENTRY);
        return memory;
    }

    /**
     * Allocates fresh memory, filled with zeroes.
     *
     * <p>Child processes do not inherit the memory ({@code MADV_DONTFORK} of madvise(2)).
     *
     * @param size the size in bytes, at least 1
     * @return the memory; the caller closes it
     * @throws IllegalArgumentException if {@code size} is not positive
     * @throws OutOfMemoryError if the system has too little memory
     */
    public static RpmaMemory allocate(long size) {
        checkSize(size);
        Loader.ensureLoaded();
        return anonymous(Mapping.anonymous(size, Natives.memoryPageSize()));
    }

    /**
     * Allocates fresh memory in huge pages, filled with zeroes. Its registration and the device's look-ups of its
     * addresses are faster than with ordinary pages.
     *
     * <p>Child processes do not inherit the memory ({@code MADV_DONTFORK} of madvise(2)).
     *
     * <p>The system must have reserved {@code ceil(size / pageSize)} huge pages: by {@code /proc/sys/vm/nr_hugepages}
     * for the default size, and by {@code /sys/kernel/mm/hugepages} for other sizes.
     *
     * @param size the size in bytes, at least 1; rounded up to a multiple of {@code pageSize}
     * @param pageSize the size of a page in bytes, which the system must support: on x86-64 2 MiB and usually 1 GiB
     * @return the memory; the caller closes it
     * @throws IllegalArgumentException if {@code size} is not positive, or {@code pageSize} is not a power of two that
     *     is larger than an ordinary page
     * @throws OutOfMemoryError if the system has too few huge pages of this size
     */
    public static RpmaMemory allocateHuge(long size, long pageSize) {
        checkSize(size);
        Loader.ensureLoaded();
        if (Long.bitCount(pageSize) != 1 || pageSize <= Natives.memoryPageSize()) {
            throw new IllegalArgumentException("the size of a huge page is a power of two and more than "
                    + Natives.memoryPageSize() + ", not " + pageSize);
        }
        if (size > Long.MAX_VALUE - pageSize) {
            throw Mapping.outOfMemory(size, pageSize, Errno.ENOMEM);
        }
        return anonymous(Mapping.anonymous((size + pageSize - 1) & -pageSize, pageSize));
    }

    private static RpmaMemory anonymous(Mapping mapping) {
        return of(mapping, Kind.ANONYMOUS, false, false);
    }

    /**
     * Maps a whole file or device DAX for reading and writing.
     *
     * @param path the path of a file that is not empty, or of a device DAX
     * @return the memory; the caller closes it
     * @throws IllegalArgumentException if {@code path} is not in the default file system
     * @throws IOException if the file or device does not exist, is empty, or can't be mapped
     */
    public static RpmaMemory map(Path path) throws IOException {
        return mapWhole(path, true);
    }

    /**
     * Maps the first bytes of a file or device DAX for reading and writing.
     *
     * <p>Creates a file that does not exist, and extends a file that is shorter. Allocates the blocks of the new bytes.
     *
     * @param path the path of a file or of a device DAX
     * @param size the size in bytes, at least 1; for a device DAX a multiple of its alignment
     * @return the memory; the caller closes it
     * @throws IllegalArgumentException if {@code size} is not positive, or {@code path} is not in the default file
     *     system
     * @throws IOException if the file or device can't be mapped, or has too little room
     */
    public static RpmaMemory map(Path path, long size) throws IOException {
        checkSize(size);
        checkMappable(path);
        if (!DaxDevice.isCharacterDevice(path)) {
            return file(Mapping.extendedFile(path, size), path, false);
        }
        DaxDevice device = new DaxDevice(path);
        if (size > device.size()) {
            throw failure(path, "has " + device.size() + " bytes, not " + size);
        }
        return device(device, path, size, true);
    }

    /**
     * Maps a whole file or device DAX for reading only, as the source of reads and sends.
     *
     * <p>Linux before 6.2 refuses to register such a mapping.
     *
     * @param path the path of a file that is not empty, or of a device DAX
     * @return the memory; the caller closes it
     * @throws IllegalArgumentException if {@code path} is not in the default file system
     * @throws IOException if the file or device does not exist, is empty, or can't be mapped
     */
    public static RpmaMemory mapReadOnly(Path path) throws IOException {
        return mapWhole(path, false);
    }

    private static RpmaMemory mapWhole(Path path, boolean writable) throws IOException {
        checkMappable(path);
        if (DaxDevice.isCharacterDevice(path)) {
            DaxDevice device = new DaxDevice(path);
            return device(device, path, device.size(), writable);
        }
        long size = Files.size(path);
        if (size == 0) {
            throw failure(path, "is empty, so there is nothing to map");
        }
        return file(Mapping.file(path, size, writable), path, !writable);
    }

    private static RpmaMemory device(DaxDevice device, Path path, long size, boolean writable) throws IOException {
        boolean persistent = device.isPersistent();
        return of(Mapping.file(path, size, writable), Kind.DEVICE_DAX, persistent, !writable);
    }

    private static RpmaMemory file(Mapping mapping, Path path, boolean readOnly) throws IOException {
        if (!mapping.bypassesPageCache()) {
            return of(mapping, Kind.FILE, false, readOnly);
        }
        boolean persistent;
        try {
            persistent = PersistentMemory.containsFile(path);
        } catch (Throwable e) {
            mapping.close();
            throw e;
        }
        return of(mapping, Kind.FILE_DAX, persistent, readOnly);
    }

    private static void checkMappable(Path path) throws IOException {
        Loader.ensureLoaded();
        if (path.getFileSystem() != FileSystems.getDefault()) {
            throw new IllegalArgumentException(path + " is not on the default file system, but in "
                    + path.getFileSystem() + ", which has nothing to map");
        }
        if (Files.exists(path) && !Files.isRegularFile(path) && !DaxDevice.isCharacterDevice(path)) {
            throw failure(
                    path,
                    Files.isDirectory(path)
                            ? "is a directory"
                            : "is neither a regular file nor a device DAX, which 'ndctl create-namespace --mode=devdax'"
                                    + " makes of persistent memory");
        }
    }

    private static FileSystemException failure(Path path, String reason) {
        return new FileSystemException(path.toString(), null, reason);
    }

    private static void checkSize(long size) {
        if (size < 1) {
            throw new IllegalArgumentException("a mapping has at least 1 byte, not " + size);
        }
    }

    /** {@return the address of the first byte; after the close, other memory may have this address} */
    public long address() {
        return mapping.address();
    }

    /** {@return the size in bytes} */
    public long size() {
        return mapping.size();
    }

    /** {@return the kind of memory behind the mapping} */
    public Kind kind() {
        return kind;
    }

    /** {@return whether the mapping is read-only} */
    public boolean isReadOnly() {
        return readOnly;
    }

    /**
     * {@return whether bytes that are flushed to this memory survive a power failure}
     *
     * <p>The result is true if both conditions are met:
     *
     * <ul>
     *   <li>The memory is a device DAX, or a file that the kernel maps with {@code MAP_SYNC}. Only DAX file systems
     *       support {@code MAP_SYNC}.
     *   <li>In sysfs, the region of the device has the {@code devtype} {@code nd_pmem} and the
     *       {@code persistence_domain} {@code memory_controller} or {@code cpu_cache}. For a logical volume, all its
     *       devices must have such regions.
     * </ul>
     *
     * <p>The result is false, for example, for volatile memory, for platforms that report no domain, for file systems
     * without a block device of their own, and for virtio-pmem, because only the host can flush it.
     */
    public boolean isPersistent() {
        return persistent;
    }

    /** Whether this memory is persistent and contains all these addresses. */
    boolean isPersistent(long address, long length) {
        long offset = address - address();
        return persistent && offset >= 0 && offset <= size() && length <= size() - offset;
    }

    /**
     * {@return a buffer of the whole memory; big-endian, like every new buffer}
     *
     * @throws IllegalStateException if this object is closed
     * @throws IndexOutOfBoundsException if the memory has 2^31 bytes or more: see {@link #buffer(long, int)}
     */
    public ByteBuffer buffer() {
        if (size() > Integer.MAX_VALUE) {
            throw new IndexOutOfBoundsException(
                    "a buffer has at most 2^31 - 1 bytes, the memory " + size() + ": take a part of it");
        }
        return buffer(0, (int) size());
    }

    /**
     * Creates a buffer of a part of the memory.
     *
     * <p>The buffer may be used after {@link #close()}: the memory stays mapped while a buffer of it is reachable.
     *
     * @param offset the offset of the first byte
     * @param length the number of bytes
     * @return the buffer; big-endian, like every new buffer, and read-only if the memory is
     * @throws IllegalStateException if this object is closed
     * @throws IndexOutOfBoundsException if a byte is outside the memory
     */
    public ByteBuffer buffer(long offset, int length) {
        Objects.checkFromIndexSize(offset, length, size());
        object.checkOpen();
        ByteBuffer buffer = mapping.view(offset, length);
        return readOnly ? buffer.asReadOnlyBuffer() : buffer;
    }

    /**
     * Makes the whole memory persistent, as {@link #persist(long, long)}.
     *
     * @throws IllegalStateException if this object is closed
     * @throws UncheckedIOException for the same reasons as {@link #persist(long, long)}
     */
    public void persist() {
        persist(0, size());
    }

    /**
     * Makes a part of the memory persistent. Returns when all earlier stores of this machine's processors to the part
     * are persistent.
     *
     * <ul>
     *   <li>Device DAX: writes the caches of the processors back.
     *   <li>File of a DAX file system: calls msync(2), which writes the caches back.
     *   <li>Any other file: calls msync(2), which writes the pages of the page cache to the disk.
     *   <li>Fresh memory of {@link #allocate}: has no effect.
     * </ul>
     *
     * <p>Bytes that the other side writes are persistent after the other side has flushed them natively with
     * {@link RpmaFlushType#PERSISTENT}: see {@link RpmaDevice#isFlushNative()}. Without a native flush, the bytes may
     * still be in the caches of this machine's processors. This method makes them persistent if they have arrived on
     * this machine. The arrival of a message that was sent later proves the arrival of the bytes.
     *
     * <p>Only Linux before 6.5 registers files on disks for usages that write to them. If a file was registered for
     * such a usage, this method writes all pages of the part, changed or not. The close of the region marks its pages
     * as changed, so that the kernel writes the bytes of remote writes later.
     *
     * <p>Register such a file as {@code RpmaMemory}, or by its address with the {@code RpmaMemory} as the owner. This
     * method does not know of a registration as a buffer, or by an address with another owner. After such a
     * registration, the method can miss the bytes of remote writes.
     *
     * @param offset the offset of the first byte
     * @param length the number of bytes
     * @throws IllegalStateException if this object is closed
     * @throws IndexOutOfBoundsException if a byte is outside the memory
     * @throws UncheckedIOException if a file can't be written, or a page of a device DAX is broken; if a truncation
     *     removed the page of the last byte from the file, which Linux before 5.14 does not report; or if Linux before
     *     5.14 can't find the bytes that devices have written
     */
    public void persist(long offset, long length) {
        Objects.checkFromIndexSize(offset, length, size());
        object.checkOpen();
        int errno = write(offset, length);
        if (errno != 0) {
            throw new UncheckedIOException(new IOException("can't persist " + this + ": " + reason(errno)));
        }
    }

    private String reason(int errno) {
        if (kind != Kind.DEVICE_DAX && errno == Errno.EFAULT) {
            return "the file has been made shorter, or its file system can't read or write a page of it";
        }
        if (errno == Errno.EOPNOTSUPP) {
            return "devices write to it, and kernels before 5.14 find their bytes only when the regions of this memory are closed";
        }
        return Errno.message(errno);
    }

    private int write(long offset, long length) {
        if (length == 0) {
            return 0;
        }
        switch (kind) {
            case DEVICE_DAX:
                return mapping.writeBack(offset, length);
            case FILE:
            case FILE_DAX:
                // no cache instructions: on a page that was truncated from the file they end the process
                return mapping.sync(offset, length, writtenByDevices && !readOnly);
            default:
                return 0;
        }
    }

    Resource object() {
        return object;
    }

    /** Must be called before the memory is registered for a device that writes to it. */
    void markWrittenByDevices() {
        writtenByDevices = true;
    }

    /**
     * Closes the memory, which ends its use. Has no effect if it is already closed. Waits while another thread closes
     * it.
     *
     * <p>Unmaps the memory at once if it has no buffers. Otherwise the memory is unmapped after all buffers of it have
     * been garbage-collected. A registered buffer stays reachable.
     *
     * @throws IllegalStateException if the memory is registered or has a pool; the message names the region or the
     *     pool, and nothing is closed
     * @throws RpmaException if the system refuses to unmap it
     */
    @Override
    public void close() {
        object.close();
    }

    @Override
    public String toString() {
        return object.describe(kind, size() + " bytes");
    }
}
