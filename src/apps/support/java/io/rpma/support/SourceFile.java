// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.support;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.function.LongConsumer;

/** A file to copy. The file is read twice, so this class detects changes in between. */
public final class SourceFile implements AutoCloseable {
    private static final int PART = 1 << 20;

    private final Path path;
    private final FileChannel channel;
    private final Version version;

    private SourceFile(Path path, FileChannel channel, Version version) {
        this.path = path;
        this.channel = channel;
        this.version = version;
    }

    /**
     * Opens a file.
     *
     * @throws IOException if it can't be read, or is a directory, a device or a pipe
     */
    public static SourceFile open(Path path) throws IOException {
        Version version = Version.of(path);
        return new SourceFile(path, FileChannel.open(path), version);
    }

    /** Returns the size of the file at the time it was opened. */
    public long size() {
        return version.size();
    }

    /**
     * Returns an exception which reports that this file does not fit.
     *
     * @param capacity the room for a file in bytes
     * @param memory names the memory, as in "the server's memory"
     */
    public IOException tooLarge(long capacity, String memory) {
        return new IOException(this + " does not fit: it has " + Size.exact(size()) + ", and " + memory
                + " has room for " + Size.exact(Math.max(0, capacity)));
    }

    /** Sets the position of the next read. */
    public void seek(long position) throws IOException {
        channel.position(position);
    }

    /** Fills the buffer with the next bytes and flips it. */
    public ByteBuffer fill(ByteBuffer buffer) throws IOException {
        while (buffer.hasRemaining()) {
            if (channel.read(buffer) < 0) {
                throw changed();
            }
        }
        return buffer.flip();
    }

    /**
     * Reads the whole file.
     *
     * @param progress gets the number of read bytes from time to time
     */
    public byte[] sha256(LongConsumer progress) throws IOException {
        seek(0);
        Sha256 digest = new Sha256();
        ByteBuffer buffer = ByteBuffer.allocateDirect(PART);
        for (long done = 0; done < size(); done += buffer.limit()) {
            buffer.clear().limit((int) Math.min(PART, size() - done));
            digest.update(fill(buffer));
            progress.accept(done + buffer.limit());
        }
        return digest.result();
    }

    /**
     * Checks that the file is unchanged since it was opened.
     *
     * @throws IOException if the file has changed
     */
    public void checkUnchanged() throws IOException {
        if (!version.equals(Version.of(path))) {
            throw changed();
        }
    }

    private IOException changed() {
        return new IOException(path + " has changed while it was read");
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }

    @Override
    public String toString() {
        return path.toString();
    }

    /** The attributes that show a change. The key distinguishes another file with the same name. */
    private record Version(long size, Object modified, Object key) {
        static Version of(Path path) throws IOException {
            BasicFileAttributes attributes = Files.readAttributes(path, BasicFileAttributes.class);
            if (!attributes.isRegularFile()) {
                throw new IOException(path + (attributes.isDirectory() ? " is a directory" : " is no regular file"));
            }
            return new Version(attributes.size(), attributes.lastModifiedTime(), attributes.fileKey());
        }
    }
}
