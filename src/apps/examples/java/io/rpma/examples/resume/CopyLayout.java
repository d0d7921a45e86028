// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.resume;

import io.rpma.support.Sha256;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The layout of the server's memory.
 *
 * <table>
 *   <caption>Layout, all numbers little-endian</caption>
 *   <tr><th>offset</th><th>bytes</th><th>content</th></tr>
 *   <tr><td>0</td><td>8</td><td>magic: {@code RPMACOPY}</td></tr>
 *   <tr><td>8</td><td>4</td><td>version: 1</td></tr>
 *   <tr><td>16</td><td>8</td><td>size of the file</td></tr>
 *   <tr><td>24</td><td>32</td><td>SHA-256 of the file</td></tr>
 *   <tr><td>56</td><td>8</td><td>announcement: 0 if there is none, else the size of the client's file plus 1</td></tr>
 *   <tr><td>64</td><td>8</td><td>commit word: 0 if there is no copy, else the number of its bytes plus 1</td></tr>
 *   <tr><td>4096</td><td>up to the end</td><td>the file</td></tr>
 * </table>
 *
 * <p>The commit word makes the rest valid. Each change of the commit word is an atomic write, after everything that the
 * word covers is flushed. The word is 0 while the rest of the header is changed, then 1, and after each block the new
 * position plus 1.
 *
 * <p>The server sets the announcement to 0 before each client, so that afterwards it knows whether the copy is of this
 * client's file. A client announces its file when the commit word belongs to that file, or when the file does not fit.
 */
final class CopyLayout {
    /** "RPMACOPY" as a little-endian number. */
    static final long MAGIC = 0x59504f43_414d5052L;

    static final int VERSION = 1;

    static final int ANNOUNCEMENT_OFFSET = 56;
    static final int COMMIT_OFFSET = 64;
    static final int HEADER_LENGTH = COMMIT_OFFSET + Long.BYTES;

    /** The length of the description of the file, which is changed only while the commit word is 0. */
    static final int DESCRIPTION_LENGTH = ANNOUNCEMENT_OFFSET;

    /** Offset of the file, which begins on its own page. */
    static final long DATA = 4096;

    /** A flush needs this number of bytes at its offset. Blocks begin at multiples of it. */
    static final int ALIGNMENT = 8;

    /** The commit word if there is no copy, and the announcement if there is none. */
    static final long NOTHING = 0;

    private static final int VERSION_OFFSET = 8;
    private static final int SIZE_OFFSET = 16;
    private static final int DIGEST_OFFSET = 24;

    private CopyLayout() {}

    /**
     * A copy, which can be unfinished.
     *
     * @param size of the file
     * @param digest the file's SHA-256
     * @param position the number of committed bytes
     */
    record Copy(long size, byte[] digest, long position) {
        boolean isOf(long fileSize, byte[] fileDigest) {
            return size == fileSize && Arrays.equals(digest, fileDigest);
        }

        boolean isComplete() {
            return position == size;
        }
    }

    /** Returns the length of the longest file that fits into a memory of this size; negative if no file fits. */
    static long capacity(long memorySize) {
        return memorySize / ALIGNMENT * ALIGNMENT - DATA;
    }

    /** Returns the commit word for this number of bytes. */
    static long committed(long position) {
        return position + 1;
    }

    /** Returns the announcement of a file. */
    static long announcement(long size) {
        return size + 1;
    }

    /** Returns the size of the file that a client has announced since the announcement was reset. */
    static OptionalLong announced(ByteBuffer header) {
        long announcement = littleEndian(header).getLong(ANNOUNCEMENT_OFFSET);
        return announcement == NOTHING ? OptionalLong.empty() : OptionalLong.of(announcement - 1);
    }

    /** Resets the announcement for the next client. */
    static void resetAnnouncement(ByteBuffer header) {
        littleEndian(header).putLong(ANNOUNCEMENT_OFFSET, NOTHING);
    }

    /** Writes the description of a file to the first bytes of a buffer. */
    static void describe(ByteBuffer buffer, long size, byte[] digest) {
        ByteBuffer header = littleEndian(buffer);
        header.putLong(MAGIC).putInt(VERSION).putInt(0).putLong(size).put(digest);
    }

    /**
     * Reads a header.
     *
     * @param memorySize the size of the header's memory
     * @return empty if there is no copy, or if the header is invalid
     */
    static Optional<Copy> read(ByteBuffer header, long memorySize) {
        ByteBuffer numbers = littleEndian(header);
        long size = numbers.getLong(SIZE_OFFSET);
        long position = numbers.getLong(COMMIT_OFFSET) - 1;
        boolean valid = numbers.getLong(0) == MAGIC
                && numbers.getInt(VERSION_OFFSET) == VERSION
                && size <= capacity(memorySize)
                && position >= 0
                && (position == size || (position < size && position % ALIGNMENT == 0));
        if (!valid) {
            return Optional.empty();
        }
        byte[] digest = new byte[Sha256.LENGTH];
        numbers.position(DIGEST_OFFSET).get(digest);
        return Optional.of(new Copy(size, digest, position));
    }

    private static ByteBuffer littleEndian(ByteBuffer bytes) {
        return bytes.slice().order(ByteOrder.LITTLE_ENDIAN);
    }
}
