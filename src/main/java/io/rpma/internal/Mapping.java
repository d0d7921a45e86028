package io.rpma.internal;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Mapped pages. Touching pages that are unmapped would end the JVM, so they stay as long as a buffer of them is reachable
 * or a call uses them.
 */
public final class Mapping {
    /** Its thread is not that of the handles, whose reports a user's log function may hold up. */
    private static final LazyCleaner VIEWS = new LazyCleaner();

    private final long size;
    private final long pageSize;

    // set when it is mapped

    private long address;
    private boolean bypassesPageCache;
    private boolean onDisk;

    private int uses;
    private boolean closed;

    private Mapping(long size, long pageSize) {
        this.size = size;
        this.pageSize = pageSize;
    }

    /**
     * Maps fresh memory.
     *
     * @param pageSize of huge pages, or that of ordinary ones
     */
    public static Mapping anonymous(long size, long pageSize) {
        boolean huge = pageSize != Natives.memoryPageSize();
        Mapping mapping = new Mapping(size, pageSize);
        mapping.address = Natives.memoryMapAnonymous(size, huge ? Long.numberOfTrailingZeros(pageSize) : 0);
        if (mapping.address < 0) {
            throw outOfMemory(size, huge ? pageSize : 0, (int) -mapping.address);
        }
        return mapping;
    }

    public static OutOfMemoryError outOfMemory(long size, long hugePageSize, int errno) {
        return new OutOfMemoryError("can't map " + size + " bytes"
                + (hugePageSize == 0 ? "" : " in huge pages of " + hugePageSize) + ": " + Errno.message(errno)
                + (hugePageSize == 0 ? "" : "; see /proc/sys/vm/nr_hugepages and /sys/kernel/mm/hugepages"));
    }

    /** Maps the first bytes of a file that is long enough. */
    public static Mapping file(Path path, long size, boolean writable) throws IOException {
        return map(path, check(path, Natives.memoryOpen(nativePath(path), writable, false)), size, writable, false);
    }

    /** Maps the first bytes of a file, which is created or made longer where needed. */
    public static Mapping extendedFile(Path path, long size) throws IOException {
        int created = Natives.memoryOpen(nativePath(path), true, true);
        if (created == -Errno.EEXIST) {
            int fd = check(path, Natives.memoryOpen(nativePath(path), true, false));
            return map(path, fd, size, true, true);
        }
        boolean mapped = false;
        try {
            Mapping mapping = map(path, check(path, created), size, true, true);
            mapped = true;
            return mapping;
        } finally {
            if (created >= 0 && !mapped) {
                Files.deleteIfExists(path);
            }
        }
    }

    /** Maps a file and closes its descriptor, which a mapping outlives. */
    private static Mapping map(Path path, int fd, long size, boolean writable, boolean extend) throws IOException {
        try {
            if (extend) {
                check(path, Natives.memoryAllocate(fd, size));
            }
            long pageSize = Natives.memoryFilePageSize(fd);
            check(path, (int) Math.min(0, pageSize));
            boolean onDisk = check(path, Natives.memoryIsInMemory(fd)) == 0;
            Mapping mapping = new Mapping(size, pageSize);
            mapping.address = Natives.memoryMap(fd, size, writable, true);
            mapping.bypassesPageCache = mapping.address >= 0;
            if (mapping.address == -Errno.EOPNOTSUPP || mapping.address == -Errno.EINVAL) {
                mapping.address = Natives.memoryMap(fd, size, writable, false);
            }
            check(path, (int) Math.min(0, mapping.address));
            mapping.onDisk = onDisk && !mapping.bypassesPageCache;
            return mapping;
        } finally {
            Natives.memoryClose(fd);
        }
    }

    private static int check(Path path, int result) throws IOException {
        if (result < 0) {
            throw new FileSystemException(path.toString(), null, Errno.message(-result));
        }
        return result;
    }

    /** The bytes of the path with a zero; the path as text loses those that are not valid in its charset. */
    private static byte[] nativePath(Path path) {
        String encoded = path.toAbsolutePath().toUri().getRawPath();
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        for (int i = 0; i < encoded.length(); i++) {
            if (encoded.charAt(i) == '%') {
                bytes.write(Integer.parseInt(encoded.substring(i + 1, i + 3), 16));
                i += 2;
            } else {
                bytes.write(encoded.charAt(i));
            }
        }
        bytes.write(0);
        return bytes.toByteArray();
    }

    public long address() {
        return address;
    }

    public long size() {
        return size;
    }

    /** Whether what is stored here goes to the memory behind it without the page cache (DAX). */
    public boolean bypassesPageCache() {
        return bypassesPageCache;
    }

    /** A buffer, whose slices and duplicates keep it reachable, so that it stands for them too. */
    public synchronized ByteBuffer view(long offset, int length) {
        enter();
        boolean made = false;
        try {
            ByteBuffer buffer = Natives.memoryBuffer(address + offset, length);
            VIEWS.started().register(buffer, this::leave);
            made = true;
            return buffer;
        } finally {
            if (!made) {
                leave();
            }
        }
    }

    /**
     * Writes the processors' caches back; for pages that can't go away.
     *
     * @return a negative errno if that fails
     */
    public int writeBack(long offset, long length) {
        enter();
        try {
            long before = offset % Natives.memoryPageSize();
            return Natives.memoryPersist(address + offset - before, before, length);
        } finally {
            leave();
        }
    }

    /**
     * Has the kernel write the pages of a file.
     *
     * @param length at least 1
     * @param all whether to write the pages that the kernel takes for unchanged, too
     * @return a negative errno if that fails; that of {@code EFAULT} if a page is gone, {@code EOPNOTSUPP} if the kernel can't
     *     write all pages
     */
    public int sync(long offset, long length, boolean all) {
        enter();
        try {
            long before = offset % Natives.memoryPageSize();
            return Natives.memorySync(address + offset - before, before + length, all && onDisk);
        } finally {
            leave();
        }
    }

    private synchronized void enter() {
        if (closed) {
            throw new IllegalStateException("the memory is closed");
        }
        uses++;
    }

    private synchronized void leave() {
        uses--;
        unmapIfUnused();
    }

    /** Unmaps the pages now or once they are not used any more. */
    public synchronized void close() {
        closed = true;
        unmapIfUnused();
    }

    private void unmapIfUnused() {
        if (closed && uses == 0) {
            // whole pages: munmap(2) refuses a part of a huge one
            int result = Natives.memoryUnmap(address, (size + pageSize - 1) / pageSize * pageSize);
            if (result < 0) {
                throw Call.failure("munmap", Result.ERRNO + result);
            }
        }
    }
}
