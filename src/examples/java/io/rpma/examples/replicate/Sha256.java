package io.rpma.examples.replicate;

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** SHA-256 of bytes that come in parts. */
final class Sha256 {
    private final MessageDigest digest;

    Sha256() {
        try {
            digest = MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }

    /** Takes the remaining bytes of a buffer. */
    void update(ByteBuffer part) {
        digest.update(part);
    }

    /** Ends it. */
    byte[] result() {
        return digest.digest();
    }

    /** For people. */
    static String format(byte[] digest) {
        return HexFormat.of().formatHex(digest);
    }
}
