package io.rpma;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ref.Cleaner;
import java.nio.ByteBuffer;
import java.nio.charset.Charset;
import java.nio.file.FileSystemException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Objects;

/**
 * A page-aligned mapping of any size: of fresh memory, of a file or of persistent memory.
 *
 * <p>Safe for use by many threads. Closing throws {@link IllegalStateException} while the memory is registered. A file
 * must not be made shorter while it is mapped: reading the part that is gone raises {@link InternalError}.
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
        /** A device DAX: raw persistent memory, for example {@code /dev/dax0.0}. */
        DEVICE_DAX
    }

    private static final int FORMAT_MASK = 0170000;
    private static final int CHARACTER_DEVICE = 0020000;

    private final Handle handle;
    private final Mapping mapping;
    private final Kind kind;
    private final boolean readOnly;

    private RpmaMemory(Mapping mapping, Kind kind, boolean readOnly) {
        this.mapping = mapping;
        this.kind = kind;
        this.readOnly = readOnly;
        handle = new Handle("RpmaMemory").opened(mapping.address);
        handle.watch(this);
    }

    /**
     * Allocates fresh memory, filled with zeroes.
     *
     * @param size in bytes, at least 1
     * @return the memory, to be closed
     * @throws OutOfMemoryError if the system has no more
     */
    public static RpmaMemory allocate(long size) {
        checkSize(size);
        return allocate(size, 0, "");
    }

    /**
     * Allocates fresh memory in huge pages, filled with zeroes: faster to register, and for the device to find.
     *
     * <p>The system must have set huge pages aside ({@code /proc/sys/vm/nr_hugepages}, or for other sizes than the
     * default one {@code /sys/kernel/mm/hugepages}).
     *
     * @param size in bytes, at least 1; rounded up to whole pages
     * @param pageSize in bytes, a size that the system has: on x86-64 2 MiB, and mostly 1 GiB
     * @return the memory, to be closed
     * @throws IllegalArgumentException if {@code pageSize} is no power of two that is larger than an ordinary page
     * @throws OutOfMemoryError if the system has not as many huge pages of this size
     */
    public static RpmaMemory allocateHuge(long size, long pageSize) {
        checkSize(size);
        if (Long.bitCount(pageSize) != 1 || pageSize <= Natives.memoryPageSize()) {
            throw new IllegalArgumentException("the size of a huge page is a power of two and more than "
                    + Natives.memoryPageSize() + ", not " + pageSize);
        }
        String where = " in huge pages of " + pageSize + ": see /proc/sys/vm/nr_hugepages and /sys/kernel/mm/hugepages";
        if (size > Long.MAX_VALUE - pageSize) {
            throw outOfMemory(size, Errno.ENOMEM, where);
        }
        long whole = (size + pageSize - 1) & -pageSize;
        return allocate(whole, Long.numberOfTrailingZeros(pageSize), where);
    }

    private static RpmaMemory allocate(long size, int pageBits, String where) {
        long address = Natives.memoryMapAnonymous(size, pageBits);
        if (address < 0) {
            throw outOfMemory(size, (int) -address, where);
        }
        return new RpmaMemory(new Mapping(address, size), Kind.ANONYMOUS, false);
    }

    private static OutOfMemoryError outOfMemory(long size, int errno, String where) {
        return new OutOfMemoryError("can't map " + size + " bytes" + where + ": " + Errno.message(errno));
    }

    /**
     * Maps a whole file or device DAX, for reading and writing.
     *
     * @param path of a file that is not empty, or of a device DAX
     * @return the memory, to be closed
     * @throws IOException if it does not exist, is empty or can't be mapped
     */
    public static RpmaMemory map(Path path) throws IOException {
        return map(path, wholeSize(path), true, false);
    }

    /**
     * Maps the first bytes of a file or device DAX, for reading and writing.
     *
     * <p>A file that does not exist is created, and one that is shorter is made longer, its blocks allocated.
     *
     * @param path of a file or of a device DAX
     * @param size in bytes, at least 1; of a device DAX a multiple of its alignment
     * @return the memory, to be closed
     * @throws IOException if it can't be mapped, or there is no room on the file system or the device
     */
    public static RpmaMemory map(Path path, long size) throws IOException {
        checkSize(size);
        return map(path, size, true, true);
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
        return map(path, wholeSize(path), false, false);
    }

    private static RpmaMemory map(Path path, long size, boolean writable, boolean extend) throws IOException {
        checkMappable(path);
        if (isCharacterDevice(path)) {
            long whole = wholeSize(path);
            if (size > whole) {
                throw failure(path, "has " + whole + " bytes, not " + size);
            }
            return mapOpened(path, size, writable, false);
        }
        boolean created = extend && Files.notExists(path);
        boolean mapped = false;
        try {
            RpmaMemory memory = mapOpened(path, size, writable, extend);
            mapped = true;
            return memory;
        } finally {
            if (created && !mapped) {
                Files.deleteIfExists(path);
            }
        }
    }

    private static RpmaMemory mapOpened(Path path, long size, boolean writable, boolean extend) throws IOException {
        int fd = check(path, Natives.memoryOpen(nativePath(path), writable, extend));
        try {
            if (extend) {
                check(path, Natives.memoryAllocate(fd, size));
            }
            long address = Natives.memoryMap(fd, size, writable, true);
            boolean dax = address >= 0;
            if (address == -Errno.EOPNOTSUPP || address == -Errno.EINVAL) {
                address = Natives.memoryMap(fd, size, writable, false);
            }
            check(path, (int) Math.min(0, address));
            Kind kind = isCharacterDevice(path) ? Kind.DEVICE_DAX : dax ? Kind.FILE_DAX : Kind.FILE;
            return new RpmaMemory(new Mapping(address, size), kind, !writable);
        } finally {
            Natives.memoryClose(fd);
        }
    }

    private static void checkMappable(Path path) throws IOException {
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

    private static int check(Path path, int result) throws IOException {
        if (result < 0) {
            throw failure(path, Errno.message(-result));
        }
        return result;
    }

    private static byte[] nativePath(Path path) {
        Charset charset = Charset.forName(System.getProperty("sun.jnu.encoding", "UTF-8"));
        byte[] name = path.toAbsolutePath().toString().getBytes(charset);
        return Arrays.copyOf(name, name.length + 1);
    }

    private static boolean isCharacterDevice(Path path) throws IOException {
        return Files.exists(path) && ((int) Files.getAttribute(path, "unix:mode") & FORMAT_MASK) == CHARACTER_DEVICE;
    }

    private static long wholeSize(Path path) throws IOException {
        checkMappable(path);
        long size = isCharacterDevice(path) ? deviceSize(path) : Files.size(path);
        if (size == 0) {
            throw failure(path, "is empty, so there is nothing to map");
        }
        return size;
    }

    /** A character device has no length of its own; the kernel tells that of a device DAX in sysfs. */
    private static long deviceSize(Path path) throws IOException {
        long device = (long) Files.getAttribute(path, "unix:rdev");
        long major = (device >> 8 & 0xfff) | (device >> 32 & ~0xfffL);
        long minor = (device & 0xff) | (device >> 12 & ~0xffL);
        Path sysfs = Path.of("/sys/dev/char/" + major + ":" + minor);
        try {
            if (sysfs.resolve("subsystem").toRealPath().endsWith("dax")) {
                return Long.parseLong(Files.readString(sysfs.resolve("size")).strip());
            }
        } catch (NoSuchFileException e) {
            throw (IOException) failure(path, "is no device DAX").initCause(e);
        }
        throw failure(path, "is a character device, but no device DAX");
    }

    /** {@return the address of the first byte} */
    public long address() {
        return mapping.address;
    }

    /** {@return the size in bytes} */
    public long size() {
        return mapping.size;
    }

    /** {@return what is behind the mapping} */
    public Kind kind() {
        return kind;
    }

    /** {@return whether the mapping can only be read} */
    public boolean isReadOnly() {
        return readOnly;
    }

    /** {@return whether what the processors or the device have flushed to this memory survives a power cut} */
    public boolean isPersistent() {
        return kind == Kind.FILE_DAX || kind == Kind.DEVICE_DAX;
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
        handle.checkOpen();
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
     * Makes what this machine's processors have stored into a part of the memory persistent, and waits for it: on
     * persistent memory by writing their caches back, for other files by writing the pages of the page cache to the disk.
     *
     * <p>Bytes that came over the network do not pass through these caches on every platform: the other side's flush
     * makes them persistent. Fresh memory of {@link #allocate} is left as it is.
     *
     * @param offset of the first byte
     * @param length in bytes
     * @throws IllegalStateException if closed
     * @throws IndexOutOfBoundsException if bytes are outside of the memory
     * @throws UncheckedIOException if a file can't be written
     */
    public void persist(long offset, long length) {
        Objects.checkFromIndexSize(offset, length, size());
        handle.checkOpen();
        mapping.enter();
        try {
            if (isPersistent()) {
                Natives.memoryPersist(address() + offset, length);
            } else if (kind == Kind.FILE) {
                sync(offset, length);
            }
        } finally {
            mapping.leave();
        }
    }

    private void sync(long offset, long length) {
        long before = offset % Natives.memoryPageSize();
        int result = Natives.memorySync(address() + offset - before, before + length);
        if (result < 0) {
            throw new UncheckedIOException(new IOException("msync: " + Errno.message(-result)));
        }
    }

    Handle handle() {
        return handle;
    }

    /**
     * Ends the use of the memory; does nothing if it is closed already.
     *
     * <p>It is unmapped now or, if a buffer of it is still reachable, once none is.
     *
     * @throws IllegalStateException if the memory is registered; the message names the region, and nothing is closed
     */
    @Override
    public void close() {
        handle.close("munmap", address -> mapping.close());
    }

    @Override
    public String toString() {
        return handle + "[" + kind + ", " + size() + " bytes]";
    }

    /** The mapped pages: reading a buffer of unmapped ones would end the JVM, so they stay as long as there is one. */
    private static final class Mapping {
        private static final Cleaner VIEWS = Cleaner.create();

        private final long address;
        private final long size;
        private int uses;
        private boolean closed;

        Mapping(long address, long size) {
            this.address = address;
            this.size = size;
        }

        /** Slices and duplicates of the buffer keep it reachable, so that it stands for them too. */
        synchronized ByteBuffer view(long offset, int length) {
            enter();
            boolean made = false;
            try {
                ByteBuffer buffer = Natives.memoryBuffer(address + offset, length);
                VIEWS.register(buffer, this::leave);
                made = true;
                return buffer;
            } finally {
                if (!made) {
                    leave();
                }
            }
        }

        /** Begins a use of the pages, which stay mapped until {@link #leave}. */
        synchronized void enter() {
            if (closed) {
                throw new IllegalStateException("the memory is closed");
            }
            uses++;
        }

        synchronized void leave() {
            uses--;
            if (closed && uses == 0) {
                unmap();
            }
        }

        synchronized long close() {
            closed = true;
            if (uses == 0) {
                unmap();
            }
            return 0;
        }

        private void unmap() {
            int result = Natives.memoryUnmap(address, size);
            if (result < 0) {
                throw new IllegalStateException("munmap failed: " + Errno.message(-result));
            }
        }
    }
}
