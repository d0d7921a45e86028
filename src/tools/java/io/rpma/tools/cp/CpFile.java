// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools.cp;

import io.rpma.examples.common.Sha256;
import io.rpma.examples.common.Size;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Arrays;
import java.util.Set;

/** A copy on the receiving side. It has another name until it is complete, so that an interrupted copy can continue. */
final class CpFile implements AutoCloseable {
    private static final int PART = 1 << 20;

    /** The bytes after which written blocks go to the disk, so that few are left for the last moment. */
    private static final long FLUSHED = 64L << 20;

    private final Path target;
    private final Path part;
    private final long size;
    private final byte[] expected;
    private final FileChannel channel;
    private final Sha256 digest = new Sha256();
    private long position;
    private long flushed;

    private CpFile(Path target, Path part, long size, byte[] expected, FileChannel channel) {
        this.target = target;
        this.part = part;
        this.size = size;
        this.expected = expected;
        this.channel = channel;
    }

    /** Thrown if another copy of the same contents to the same path is under way. */
    static final class BusyException extends IOException {
        private static final long serialVersionUID = 1;

        BusyException() {
            super("another copy of the same file is under way");
        }
    }

    /** Gets the progress of a read. */
    interface Progress {
        /**
         * Gets the number of bytes that are read.
         *
         * @throws IOException if the read must end
         */
        void read(long position) throws IOException;
    }

    /**
     * Returns whether the copy is already complete, and no other copy of the same contents is under way. This is so if the
     * last answer to the sender was lost.
     */
    static boolean isComplete(Path target, long size, byte[] expected, Progress progress) throws IOException {
        if (Files.exists(CpDirectory.part(target, expected), LinkOption.NOFOLLOW_LINKS)
                || !Files.isRegularFile(target, LinkOption.NOFOLLOW_LINKS)
                || Files.size(target) != size) {
            return false;
        }
        try (FileChannel channel = FileChannel.open(target, StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS)) {
            Sha256 digest = new Sha256();
            boolean complete = digest(channel, size, digest, progress) && Arrays.equals(digest.result(), expected);
            if (complete) {
                channel.force(true);
            }
            return complete;
        } catch (AccessDeniedException e) {
            return false; // a file that can't be read can be replaced
        }
    }

    /** Computes the SHA-256 of the first bytes of a file. Returns whether the file has so many. */
    private static boolean digest(FileChannel channel, long size, Sha256 digest, Progress progress) throws IOException {
        ByteBuffer buffer = ByteBuffer.allocateDirect(PART);
        long position = 0;
        while (position < size) {
            buffer.clear().limit((int) Math.min(PART, size - position));
            int read = channel.read(buffer, position);
            if (read < 0) {
                return false;
            }
            digest.update(buffer.flip());
            position += read;
            progress.read(position);
        }
        return true;
    }

    /**
     * Begins or continues a copy.
     *
     * @param size the bytes of the file
     * @param expected the SHA-256 of the file
     * @param progress gets the number of bytes that are read to continue
     * @throws BusyException if another copy of the same contents to the same path is under way
     * @throws IOException if the copy can't be made, for example for lack of space
     */
    static CpFile open(Path target, long size, byte[] expected, Progress progress) throws IOException {
        Path part = CpDirectory.part(target, expected);
        try {
            Files.createFile(part);
        } catch (FileAlreadyExistsException e) {
            // it continues
        }
        Object key = key(part);
        FileChannel channel = FileChannel.open(
                part, Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS));
        boolean open = false;
        try {
            lock(channel);
            if (!key.equals(key(part))) {
                throw new BusyException();
            }
            CpFile file = new CpFile(target, part, size, expected, channel);
            file.resume(progress);
            file.checkSpace();
            open = true;
            return file;
        } finally {
            if (!open) {
                channel.close();
            }
        }
    }

    /**
     * Returns the identity of the file with a name. Another copy can complete, and so take its name from a file, before this
     * one has the lock: then the locked file is the complete copy.
     */
    private static Object key(Path path) throws IOException {
        try {
            return Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS)
                    .fileKey();
        } catch (NoSuchFileException e) {
            throw new BusyException();
        }
    }

    /** The lock ends with the channel. */
    private static void lock(FileChannel channel) throws IOException {
        FileLock lock;
        try {
            lock = channel.tryLock();
        } catch (OverlappingFileLockException e) {
            throw new BusyException();
        }
        if (lock == null) {
            throw new BusyException();
        }
    }

    private void resume(Progress progress) throws IOException {
        if (channel.size() > size) {
            channel.truncate(0);
        }
        long there = channel.size();
        if (!digest(channel, there, digest, progress)) {
            throw new IOException("the incomplete copy has changed");
        }
        position = there;
        flushed = there;
    }

    private void checkSpace() throws IOException {
        long room = Files.getFileStore(part).getUsableSpace();
        if (size - position > room) {
            if (position == 0) {
                Files.delete(part);
            }
            throw new IOException("no space left: " + Size.format(size - position) + " are needed, and "
                    + Size.format(room) + " are free");
        }
    }

    /** Returns the number of bytes that are there. */
    long position() {
        return position;
    }

    /** Returns whether all bytes are there. */
    boolean isFull() {
        return position == size;
    }

    /** Returns the length of the next block. */
    int next() {
        return (int) Math.min(CpMessage.BLOCK, size - position);
    }

    /** Appends the next block. */
    void write(ByteBuffer block) throws IOException {
        digest.update(block.duplicate());
        while (block.hasRemaining()) {
            position += channel.write(block, position);
        }
        if (position - flushed >= FLUSHED) {
            channel.force(false);
            flushed = position;
        }
    }

    /**
     * Checks the SHA-256, and gives the copy its name when its bytes are on the disk.
     *
     * @throws IOException if the bytes differ; they are removed
     */
    void complete() throws IOException {
        if (!Arrays.equals(digest.result(), expected)) {
            Files.delete(part);
            throw new IOException(
                    "the SHA-256 of the copy differs from the file's, and the copy is removed;" + " try again");
        }
        channel.force(true);
        Files.move(part, target, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        try (FileChannel directory = FileChannel.open(target.getParent(), StandardOpenOption.READ)) {
            directory.force(true);
        }
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
