package io.rpma;

import io.rpma.internal.DaxDevice;
import io.rpma.internal.Errno;
import io.rpma.internal.Loader;
import io.rpma.internal.Mapping;
import io.rpma.internal.NativeObject;
import io.rpma.internal.Natives;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.FileSystemException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;

/**
 * A page-aligned mapping of any size: of fresh memory, of a file or of persistent memory.
 *
 * <p>Safe for use by many threads. Closing throws {@link IllegalStateException} while the memory is registered.
 *
 * <p>A file must not be made shorter while it is mapped. As with a buffer of {@code FileChannel.map}, the methods of a buffer throw
 * {@link InternalError} where they meet the part that is gone, and other methods of the JDK that are given the buffer may end the
 * process with {@code SIGBUS}: {@code CRC32.update}, {@code Adler32.update} and {@code Deflater} do, for example. Those of this
 * library throw exceptions.
 *
 * <p>Manual pages: mmap(2), msync(2).
 */
public final class RpmaMemory implements AutoCloseable {
    /** What is behind a mapping. */
    public enum Kind {
        /** Fresh memory of this process, gone with it. */
        ANONYMOUS,
        /**
         * A file through the page cache. Kernels from 6.5 on refuse to register it for what writes to it, unless it is
         * in memory itself (tmpfs, hugetlbfs).
         */
        FILE,
        /** A file on persistent memory without the page cache: of a file system mounted with DAX. */
        FILE_DAX,
        /** A device DAX: memory without a file system, mostly persistent, for example {@code /dev/dax0.0}. */
        DEVICE_DAX
    }

    private final NativeObject object;
    private final Mapping mapping;
    private final Kind kind;
    private final boolean persistent;
    private final boolean readOnly;

    /** Stays true once it is: a device that has written has not marked the pages for the kernel. */
    private volatile boolean writtenByDevices;

    private RpmaMemory(Mapping mapping, Kind kind, boolean persistent, boolean readOnly) {
        this.mapping = mapping;
        this.kind = kind;
        this.persistent = persistent;
        this.readOnly = readOnly;
        object = new NativeObject(this, "RpmaMemory");
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
        memory.object.made("mmap", mapping.address());
        return memory;
    }

    /**
     * Allocates fresh memory, filled with zeroes.
     *
     * <p>Child processes do not get it ({@code MADV_DONTFORK} of madvise(2)).
     *
     * @param size in bytes, at least 1
     * @return the memory, to be closed
     * @throws IllegalArgumentException if {@code size} is not positive
     * @throws OutOfMemoryError if the system has no more
     */
    public static RpmaMemory allocate(long size) {
        checkSize(size);
        Loader.ensureLoaded();
        return anonymous(Mapping.anonymous(size, Natives.memoryPageSize()));
    }

    /**
     * Allocates fresh memory in huge pages, filled with zeroes: faster to register, and for the device to find.
     *
     * <p>Child processes do not get it ({@code MADV_DONTFORK} of madvise(2)).
     *
     * <p>The system must have set huge pages aside ({@code /proc/sys/vm/nr_hugepages}, or for other sizes than the
     * default one {@code /sys/kernel/mm/hugepages}).
     *
     * @param size in bytes, at least 1; rounded up to whole pages
     * @param pageSize in bytes, a size that the system has: on x86-64 2 MiB, and mostly 1 GiB
     * @return the memory, to be closed
     * @throws IllegalArgumentException if {@code size} is not positive, or {@code pageSize} is no power of two that is larger
     *     than an ordinary page
     * @throws OutOfMemoryError if the system has not as many huge pages of this size
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
     * Maps a whole file or device DAX, for reading and writing.
     *
     * @param path of a file that is not empty, or of a device DAX
     * @return the memory, to be closed
     * @throws IOException if it does not exist, is empty or can't be mapped
     */
    public static RpmaMemory map(Path path) throws IOException {
        return mapWhole(path, true);
    }

    /**
     * Maps the first bytes of a file or device DAX, for reading and writing.
     *
     * <p>A file that does not exist is created, and one that is shorter is made longer, its blocks allocated.
     *
     * @param path of a file or of a device DAX
     * @param size in bytes, at least 1; of a device DAX a multiple of its alignment
     * @return the memory, to be closed
     * @throws IllegalArgumentException if {@code size} is not positive
     * @throws IOException if it can't be mapped, or there is no room on the file system or the device
     */
    public static RpmaMemory map(Path path, long size) throws IOException {
        checkSize(size);
        checkMappable(path);
        if (!DaxDevice.isCharacterDevice(path)) {
            return file(Mapping.extendedFile(path, size), false);
        }
        DaxDevice device = new DaxDevice(path);
        if (size > device.size()) {
            throw failure(path, "has " + device.size() + " bytes, not " + size);
        }
        return device(device, path, size, true);
    }

    /**
     * Maps a whole file or device DAX, for reading only: as a source of reads and sends.
     *
     * <p>Kernels before 6.2 refuse to register such a mapping.
     *
     * @param path of a file that is not empty, or of a device DAX
     * @return the memory, to be closed
     * @throws IOException if it does not exist, is empty or can't be mapped
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
        return file(Mapping.file(path, size, writable), !writable);
    }

    private static RpmaMemory device(DaxDevice device, Path path, long size, boolean writable) throws IOException {
        boolean persistent = device.isPersistent();
        return of(Mapping.file(path, size, writable), Kind.DEVICE_DAX, persistent, !writable);
    }

    private static RpmaMemory file(Mapping mapping, boolean readOnly) {
        boolean dax = mapping.bypassesPageCache();
        return of(mapping, dax ? Kind.FILE_DAX : Kind.FILE, dax, readOnly);
    }

    private static void checkMappable(Path path) throws IOException {
        Loader.ensureLoaded();
        if (path.getFileSystem() != FileSystems.getDefault()) {
            throw new IllegalArgumentException(path + " is not on the default file system, but in "
                    + path.getFileSystem() + ", which has nothing to map");
        }
        if (Files.isDirectory(path)) {
            throw failure(path, "is a directory");
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

    /** {@return the address of the first byte; once this is closed, it may be that of something else} */
    public long address() {
        return mapping.address();
    }

    /** {@return the size in bytes} */
    public long size() {
        return mapping.size();
    }

    /** {@return what is behind the mapping} */
    public Kind kind() {
        return kind;
    }

    /** {@return whether the mapping can only be read} */
    public boolean isReadOnly() {
        return readOnly;
    }

    /**
     * {@return whether bytes that are flushed to this memory survive a power cut}
     *
     * <p>True for a file that the kernel maps with {@code MAP_SYNC}, which only DAX file systems allow, and for a device DAX
     * whose region in sysfs has the {@code devtype} {@code nd_pmem} and a known {@code persistence_domain}. False in doubt:
     * for volatile memory, for virtio-pmem, whose flushes only the host can do, and where the platform names no domain.
     */
    public boolean isPersistent() {
        return persistent;
    }

    /** Whether these addresses are all of this memory, and it is persistent. */
    boolean isPersistent(long address, long length) {
        long offset = address - address();
        return persistent && offset >= 0 && offset <= size() && length <= size() - offset;
    }

    /**
     * {@return a buffer over the whole memory, big-endian as every new buffer}
     *
     * @throws IllegalStateException if closed
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
     * Makes a buffer over a part of the memory.
     *
     * <p>It may be used after {@link #close()}: the memory stays mapped while a buffer of it is reachable.
     *
     * @param offset of the first byte
     * @param length in bytes
     * @return the buffer, big-endian as every new buffer, read-only if the memory is
     * @throws IllegalStateException if closed
     * @throws IndexOutOfBoundsException if bytes are outside of the memory
     */
    public ByteBuffer buffer(long offset, int length) {
        Objects.checkFromIndexSize(offset, length, size());
        object.checkOpen();
        ByteBuffer buffer = mapping.view(offset, length);
        return readOnly ? buffer.asReadOnlyBuffer() : buffer;
    }

    /**
     * Makes all of the memory persistent, as {@link #persist(long, long)}.
     *
     * @throws IllegalStateException if closed
     * @throws UncheckedIOException if a file can't be written
     */
    public void persist() {
        persist(0, size());
    }

    /**
     * Makes the bytes that this machine's processors have stored into a part of the memory persistent, and waits for it: of a
     * device DAX by writing the processors' caches back, of a file by msync(2), which writes the caches back for a file of a DAX
     * file system, and the pages of the page cache to the disk for another one. Fresh memory of {@link #allocate} is left as it is.
     *
     * <p>Bytes that came over the network are persistent after a native flush of the other side, see
     * {@link RpmaDevice#isFlushNative()}; without one they may be in these caches, and this method makes them persistent once they
     * are there, for example when a message that was sent after them has arrived. Of a file that is not of a DAX file system, which
     * only kernels before 6.5 register for remote writes, it writes all pages of the part. The kernel itself writes such bytes
     * when their region is closed.
     *
     * @param offset of the first byte
     * @param length in bytes
     * @throws IllegalStateException if closed
     * @throws IndexOutOfBoundsException if bytes are outside of the memory
     * @throws UncheckedIOException if a file can't be written, or has been made shorter so that it has lost the last of these
     *     bytes with its page, which kernels before 5.14 do not report; or if these kernels can't find what devices have written
     */
    public void persist(long offset, long length) {
        Objects.checkFromIndexSize(offset, length, size());
        object.checkOpen();
        int result = write(offset, length);
        if (result < 0) {
            throw new UncheckedIOException(new IOException("can't persist " + this + ": " + reason(-result)));
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
                // not by instructions: one that meets a page that the file has lost would end the process
                return mapping.sync(offset, length, writtenByDevices && !readOnly);
            default:
                return 0;
        }
    }

    NativeObject object() {
        return object;
    }

    /** To be called before the memory is registered for a device that writes to it. */
    void markWrittenByDevices() {
        writtenByDevices = true;
    }

    /**
     * Ends the use of the memory; does nothing if it is closed already.
     *
     * <p>It is unmapped now or, if a buffer of it is still reachable or registered, once none is.
     *
     * @throws IllegalStateException if the memory is registered; the message names the region, and nothing is closed
     * @throws RpmaException if the system refuses to unmap it
     */
    @Override
    public void close() {
        object.close("munmap", address -> {
            mapping.close();
            return 0;
        });
    }

    @Override
    public String toString() {
        return object + "[" + kind + ", " + size() + " bytes]";
    }
}
