package io.rpma.examples.common;

import io.rpma.RpmaMemory;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.function.LongConsumer;

/** SHA-256 of bytes that come in parts. */
public final class Sha256 {
    /** The length of a result in bytes. */
    public static final int LENGTH = 32;

    /** How many bytes are hashed at once. */
    private static final int PART = 4 << 20;

    private final MessageDigest digest;

    /** Begins. */
    public Sha256() {
        try {
            digest = MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }

    /**
     * Of this side's memory.
     *
     * @param progress is told now and then how many bytes are done
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

    /** Takes the remaining bytes of a buffer. */
    public void update(ByteBuffer part) {
        digest.update(part);
    }

    /** Ends it. */
    public byte[] result() {
        return digest.digest();
    }

    /** For people. */
    public static String format(byte[] digest) {
        return HexFormat.of().formatHex(digest);
    }
}
