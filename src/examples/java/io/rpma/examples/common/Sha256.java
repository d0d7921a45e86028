package io.rpma.examples.common;

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** SHA-256 of bytes that come in parts. */
public final class Sha256 {
    /** The length of a result in bytes. */
    public static final int LENGTH = 32;

    private final MessageDigest digest;

    /** Begins. */
    public Sha256() {
        try {
            digest = MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
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
