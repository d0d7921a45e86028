package io.rpma.examples.replicate;

import io.rpma.RpmaMemory;
import io.rpma.examples.common.Sha256;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.OptionalLong;

/**
 * What is where in the replicated memory.
 *
 * <table>
 *   <caption>Layout, all numbers little-endian</caption>
 *   <tr><th>offset</th><th>bytes</th><th>content</th></tr>
 *   <tr><td>0</td><td>8</td><td>commit word: 0 while nothing is committed, else the length of the file plus 1</td></tr>
 *   <tr><td>8</td><td>32</td><td>SHA-256 of the file</td></tr>
 *   <tr><td>4096</td><td>up to the end</td><td>the file</td></tr>
 * </table>
 *
 * <p>The commit word makes the rest valid. It is written last, by one atomic write, when all else is flushed: whoever looks
 * at the memory, also after a power cut, finds either a complete file or none. The length is stored plus 1 so that fresh
 * memory, which is full of zeroes, does not look like an empty file.
 *
 * <p>A flush needs 8 bytes of the region where it begins, even for a single byte of data. So the file is written in chunks
 * that begin at multiples of 8, and an odd end of the memory, of less than 8 bytes, is left unused.
 */
final class Layout {
    /** Offset of the commit word; an atomic write needs a multiple of 8. */
    static final long COMMIT = 0;

    /** Offset of the SHA-256. */
    static final long DIGEST = 8;

    /** Offset of the file: a page of its own. */
    static final long DATA = 4096;

    /** Chunks begin at multiples of this. */
    static final int ALIGNMENT = 8;

    /** The commit word while nothing is committed. */
    static final long NOTHING = 0;

    private static final int HEADER_LENGTH = (int) DIGEST + Sha256.LENGTH;

    private Layout() {}

    /** The length of the longest file that fits into a memory of this size; negative if not even an empty one does. */
    static long capacity(long memorySize) {
        return memorySize / ALIGNMENT * ALIGNMENT - DATA;
    }

    /** The commit word of a file. */
    static long committed(long length) {
        return length + 1;
    }

    /** Empties this side's memory: a power cut must not leave the header of an older file over a part of the next. */
    static void reset(RpmaMemory memory) {
        header(memory).put(new byte[HEADER_LENGTH]);
        memory.persist(0, HEADER_LENGTH);
    }

    /** The length of the file in this side's memory, if one is committed. */
    static OptionalLong committedLength(RpmaMemory memory) {
        long commitWord = header(memory).getLong((int) COMMIT);
        return commitWord == NOTHING ? OptionalLong.empty() : OptionalLong.of(commitWord - 1);
    }

    /** The SHA-256 that the header of this side's memory tells. */
    static byte[] digest(RpmaMemory memory) {
        byte[] digest = new byte[Sha256.LENGTH];
        header(memory).position((int) DIGEST).get(digest);
        return digest;
    }

    private static ByteBuffer header(RpmaMemory memory) {
        return memory.buffer(0, HEADER_LENGTH).order(ByteOrder.LITTLE_ENDIAN);
    }
}
