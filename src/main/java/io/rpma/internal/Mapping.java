// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.internal;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Mapped pages. An access to unmapped pages would end the JVM. So the pages stay mapped while a buffer of them is
 * reachable or a call uses them.
 */
public final class Mapping {
    /** A separate cleaner, because the logger of the program can block the thread that reports leaks. */
    private static final LazyCleaner VIEWS = new LazyCleaner();

    private final long size;
    private final long pageSize;

    // set by anonymous() and map()

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
     * Maps anonymous memory.
     *
     * @param size the size in bytes
     * @param pageSize the size of a huge page or of an ordinary page
     */
    public static Mapping anonymous(long size, long pageSize) {
        boolean huge = pageSize != Natives.memoryPageSize();
        Mapping mapping = new Mapping(size, pageSize);
        mapping.address = Natives.memoryMapAnonymous(size, huge ? Long.numberOfTrailingZeros(pageSize) : 0);
        if (mapping.address < 0) {
            throw outOfMemory(size, huge ? pageSize : 0, Result.errno(mapping.address));
        }
        return mapping;
    }

    public static OutOfMemoryError outOfMemory(long size, long hugePageSize, int errno) {
        return new OutOfMemoryError("can't map " + size + " bytes"
                + (hugePageSize == 0 ? "" : " in huge pages of " + hugePageSize) + ": " + Errno.message(errno)
                + "; "
                + (hugePageSize == 0 ? Hint.memory() : Hint.hugePages()));
    }

    /** Maps the first bytes of a file. The file must be long enough. */
    public static Mapping file(Path path, long size, boolean writable) throws IOException {
        return map(path, check(path, Natives.memoryOpen(nativePath(path), writable, false)), size, writable, false);
    }

    /** Maps the first bytes of a file. Creates the file if it does not exist, and extends it if it is too short. */
    public static Mapping extendedFile(Path path, long size) throws IOException {
        int created = Natives.memoryOpen(nativePath(path), true, true);
        if (Result.errno(created) == Errno.EEXIST) {
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

    /** Maps a file and closes its descriptor, which the mapping does not need. */
    private static Mapping map(Path path, int fd, long size, boolean writable, boolean extend) throws IOException {
        try {
            long pageSize = Natives.memoryFilePageSize(fd);
            check(path, (int) Math.min(0, pageSize));
            boolean huge = pageSize != Natives.memoryPageSize();
            if (extend) {
                check(path, Natives.memoryAllocate(fd, size), huge);
            }
            boolean onDisk = check(path, Natives.memoryIsInMemory(fd)) == 0;
            Mapping mapping = new Mapping(size, pageSize);
            mapping.address = Natives.memoryMap(fd, size, writable, true);
            mapping.bypassesPageCache = mapping.address >= 0;
            int errno = Result.errno(mapping.address);
            if (errno == Errno.EOPNOTSUPP || errno == Errno.EINVAL) {
                mapping.address = Natives.memoryMap(fd, size, writable, false);
            }
            check(path, (int) Math.min(0, mapping.address), huge);
            mapping.onDisk = onDisk && !mapping.bypassesPageCache;
            return mapping;
        } finally {
            Natives.memoryClose(fd);
        }
    }

    private static int check(Path path, int result) throws IOException {
        return check(path, result, false);
    }

    private static int check(Path path, int result, boolean huge) throws IOException {
        if (result < 0) {
            int errno = Result.errno(result);
            String hint = Hint.ofFile(errno, huge);
            throw new FileSystemException(
                    path.toString(), null, Errno.message(errno) + (hint.isEmpty() ? "" : "; " + hint));
        }
        return result;
    }

    /**
     * Returns the bytes of the path and a final zero. {@code toString()} would lose bytes that its charset can't
     * decode.
     */
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

    /** Returns whether stores go to the underlying memory without the page cache (DAX). */
    public boolean bypassesPageCache() {
        return bypassesPageCache;
    }

    /**
     * Returns a buffer, which counts as a use of the pages until it is collected. Its slices and duplicates keep it
     * reachable, so they need no count of their own.
     */
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
     * Writes the bytes back from the caches of the processors. The pages must be of a kind that no truncation can
     * remove.
     *
     * @return an errno, or 0 after a success
     */
    public int writeBack(long offset, long length) {
        enter();
        try {
            long before = offset % Natives.memoryPageSize();
            return Result.errno(Natives.memoryPersist(address + offset - before, before, length));
        } finally {
            leave();
        }
    }

    /**
     * Makes the kernel write the pages of a file.
     *
     * @param offset the offset of the first byte
     * @param length the number of bytes, at least 1
     * @param all whether to write the pages that the kernel considers unchanged, too
     * @return an errno, or 0 after a success: {@code EFAULT} if the file has lost a page, {@code EOPNOTSUPP} if the
     *     kernel can't write all pages
     */
    public int sync(long offset, long length, boolean all) {
        enter();
        try {
            long before = offset % Natives.memoryPageSize();
            return Result.errno(Natives.memorySync(address + offset - before, before + length, all && onDisk));
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

    /** Unmaps the pages now, or after their last use. */
    public synchronized void close() {
        closed = true;
        unmapIfUnused();
    }

    private void unmapIfUnused() {
        if (closed && uses == 0) {
            // whole pages, because munmap(2) refuses a part of a huge page
            int result = Natives.memoryUnmap(address, (size + pageSize - 1) / pageSize * pageSize);
            if (result < 0) {
                throw Call.failure("munmap", result);
            }
        }
    }
}
