// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.replicate;

import io.rpma.RpmaMemory;
import io.rpma.support.Sha256;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.OptionalLong;

/**
 * The layout of the replicated memory.
 *
 * <table>
 *   <caption>Layout, all numbers little-endian</caption>
 *   <tr><th>offset</th><th>bytes</th><th>content</th></tr>
 *   <tr><td>0</td><td>8</td><td>commit word: 0 if nothing is committed, else the length of the file plus 1</td></tr>
 *   <tr><td>8</td><td>32</td><td>SHA-256 of the file</td></tr>
 *   <tr><td>4096</td><td>up to the end</td><td>the file</td></tr>
 * </table>
 *
 * <p>The commit word makes the rest valid. It is written last, by one atomic write, after everything else is flushed.
 * So at any time, also after a power cut, either a complete file is committed or no file. The word is the length plus
 * 1, so that fresh memory, which is full of zeroes, is different from memory with an empty file.
 *
 * <p>A flush needs 8 bytes of the region at its offset, even for a single byte of data. So the file is written in
 * chunks that begin at multiples of 8, and up to 7 bytes at the end of the memory are unused.
 */
final class Layout {
    /** Offset of the commit word; an atomic write needs a multiple of 8. */
    static final long COMMIT = 0;

    /** Offset of the SHA-256. */
    static final long DIGEST = 8;

    /** Offset of the file, which begins on its own page. */
    static final long DATA = 4096;

    /** Chunks begin at multiples of this number. */
    static final int ALIGNMENT = 8;

    /** The commit word if nothing is committed. */
    static final long NOTHING = 0;

    private static final int HEADER_LENGTH = (int) DIGEST + Sha256.LENGTH;

    private Layout() {}

    /** Returns the length of the longest file that fits into a memory of this size; negative if no file fits. */
    static long capacity(long memorySize) {
        return memorySize / ALIGNMENT * ALIGNMENT - DATA;
    }

    /** Returns the commit word of a file. */
    static long committed(long length) {
        return length + 1;
    }

    /**
     * Clears the header in this side's memory, so that a power cut can't leave an older header with a part of a new
     * file.
     */
    static void reset(RpmaMemory memory) {
        header(memory).put(new byte[HEADER_LENGTH]);
        memory.persist(0, HEADER_LENGTH);
    }

    /** Returns the length of the file in this side's memory, if a file is committed. */
    static OptionalLong committedLength(RpmaMemory memory) {
        long commitWord = header(memory).getLong((int) COMMIT);
        return commitWord == NOTHING ? OptionalLong.empty() : OptionalLong.of(commitWord - 1);
    }

    /** Returns the SHA-256 in the header of this side's memory. */
    static byte[] digest(RpmaMemory memory) {
        byte[] digest = new byte[Sha256.LENGTH];
        header(memory).position((int) DIGEST).get(digest);
        return digest;
    }

    private static ByteBuffer header(RpmaMemory memory) {
        return memory.buffer(0, HEADER_LENGTH).order(ByteOrder.LITTLE_ENDIAN);
    }
}
