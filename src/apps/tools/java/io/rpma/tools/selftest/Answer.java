// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools.selftest;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaMemory;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;

/**
 * What the listening side sends for each message: the message, its immediate data, and a digest of the memory that the
 * other side can write.
 *
 * @param immediate null if there was none
 */
record Answer(Integer immediate, byte[] digest, byte[] message) {
    /** The memory of each side: bytes for writes and reads, then two slots for messages. */
    static final int DATA = 1 << 16;

    /** The largest message, an answer included. */
    static final int SLOT = 512;

    /** The size of the memory of each side. */
    static final int MEMORY = DATA + 2 * SLOT;

    /** The program in private data. */
    static final int SERVICE = 0x52505354;

    private static final int DIGEST = 32;
    private static final int HEAD = Byte.BYTES + Integer.BYTES + DIGEST;

    /** The largest message that has an answer. */
    static final int MOST = SLOT - HEAD;

    /**
     * Makes the answer to a received message.
     *
     * @param isMessage whether the receive has bytes: it has none after a write
     */
    static Answer to(RpmaCompletions received, int index, boolean isMessage, RpmaMemory memory, long slot) {
        byte[] message = new byte[isMessage ? (int) Math.min(MOST, received.byteLen(index)) : 0];
        memory.buffer(slot, SLOT).get(message);
        Integer immediate = received.hasImmData(index) ? received.immData(index) : null;
        return of(immediate, memory.buffer(0, DATA), message);
    }

    static Answer of(Integer immediate, ByteBuffer data, byte[] message) {
        return new Answer(immediate, digest(data), message);
    }

    /** Writes the answer to a buffer, and returns its length. */
    int write(ByteBuffer to) {
        to.put((byte) (immediate == null ? 0 : 1)).putInt(immediate == null ? 0 : immediate);
        to.put(digest).put(message);
        return HEAD + message.length;
    }

    /** Reads an answer of a length. */
    static Answer read(ByteBuffer from, int length) {
        boolean hasImmediate = from.get() != 0;
        int immediate = from.getInt();
        byte[] digest = new byte[DIGEST];
        from.get(digest);
        byte[] message = new byte[Math.max(0, length - HEAD)];
        from.get(message);
        return new Answer(hasImmediate ? immediate : null, digest, message);
    }

    /** Returns whether the other side's memory has these bytes. */
    boolean isOf(byte[] data) {
        return Arrays.equals(digest, digest(ByteBuffer.wrap(data)));
    }

    private static byte[] digest(ByteBuffer bytes) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            digest.update(bytes);
            return digest.digest();
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e); // each JDK has it
        }
    }
}
