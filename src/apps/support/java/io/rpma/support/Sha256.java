// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.support;

import io.rpma.RpmaMemory;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.function.LongConsumer;

/** The SHA-256 of bytes that are added in parts. */
public final class Sha256 {
    /** The length of a result in bytes. */
    public static final int LENGTH = 32;

    /** The number of bytes that are hashed at once. */
    private static final int PART = 4 << 20;

    private final MessageDigest digest;

    /** Begins without bytes. */
    public Sha256() {
        try {
            digest = MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }

    /**
     * Computes the SHA-256 of this side's memory.
     *
     * @param progress gets the number of hashed bytes from time to time
     */
    public static byte[] of(RpmaMemory memory, long offset, long length, LongConsumer progress) {
        Sha256 digest = new Sha256();
        int part;
        for (long done = 0; done < length; done += part) {
            part = (int) Math.min(PART, length - done);
            digest.update(memory.buffer(offset + done, part));
            progress.accept(done + part);
        }
        return digest.result();
    }

    /** Adds the remaining bytes of a buffer. */
    public void update(ByteBuffer part) {
        digest.update(part);
    }

    /** Returns the SHA-256 of all added bytes, and resets this object. */
    public byte[] result() {
        return digest.digest();
    }

    /** Formats a SHA-256 for the user. */
    public static String format(byte[] digest) {
        return HexFormat.of().formatHex(digest);
    }
}
