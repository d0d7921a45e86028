// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools.cp;

import io.rpma.examples.common.Sha256;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;

/**
 * The messages and the private data of {@code cp}.
 *
 * <p>The sender sends a {@link Request}, and writes the blocks of the file into the slots of the receiver's memory. Each write
 * has the number of the block as immediate data. The receiver answers the request and each block. While it reads the file, the
 * sender sends a message of {@link #SIGN} bytes after some seconds without a block, because a silent sender counts as gone.
 */
final class CpMessage {
    /** Identifies the program and the version of the messages in the private data of both sides: "cp". */
    static final int SERVICE = 0x6370_0002;

    static final int BLOCK = 1 << 20;

    /** The most blocks under way. */
    static final int SLOTS = 8;

    /** The length of the memory for a message. */
    static final int LENGTH = 4096;

    /** The length of the message that only shows that the sender lives. Its bytes have no meaning. */
    static final int SIGN = 1;

    private static final int MOST_TEXT = LENGTH / 2;
    private static final Pattern CONTROL = Pattern.compile("[\\p{Cntrl}\\x80-\\x9f]");

    private CpMessage() {}

    /** Returns the private data of the sender. */
    static byte[] privateData() {
        return ByteBuffer.allocate(Integer.BYTES).putInt(SERVICE).array();
    }

    /** Returns whether private data is of a sender of this version. */
    static boolean isSender(byte[] privateData) {
        return privateData.length >= Integer.BYTES
                && ByteBuffer.wrap(privateData).getInt() == SERVICE;
    }

    /**
     * The request to copy a file.
     *
     * @param size the bytes of the file
     * @param digest the SHA-256 of the file
     * @param path the path of the copy, relative to the receiver's directory
     */
    record Request(long size, byte[] digest, String path) {
        /** Writes the message at the position. */
        void put(ByteBuffer message) {
            message.putLong(size).put(digest);
            putText(message, path);
        }

        /**
         * Reads a message.
         *
         * @throws IllegalArgumentException if it is no request
         */
        static Request get(ByteBuffer message) {
            try {
                long size = message.getLong();
                byte[] digest = new byte[Sha256.LENGTH];
                message.get(digest);
                String path = getText(message);
                if (size < 0) {
                    throw new IllegalArgumentException("a request for " + size + " bytes");
                }
                return new Request(size, digest, path);
            } catch (BufferUnderflowException e) {
                throw new IllegalArgumentException("a request that is too short", e);
            }
        }
    }

    /** The kinds of answers. */
    enum Kind {
        /** The bytes before the position are there. Begin or continue there. */
        READY,
        /** The receiver still reads the bytes before the position. */
        WORKING,
        /** The bytes before the position are written. */
        WRITTEN,
        /** The copy is complete. */
        DONE,
        /** The copy was complete before the request. */
        COMPLETE,
        /** Another copy of the same file is under way; it may be a lost connection of the same sender. */
        BUSY,
        /** The copy has failed, and another attempt would too. */
        FAILED
    }

    /**
     * An answer.
     *
     * @param position in the file
     * @param text the reason of a failure, or empty
     */
    record Answer(Kind kind, long position, String text) {
        /** Writes the message at the position. */
        void put(ByteBuffer message) {
            message.put((byte) kind.ordinal()).putLong(position);
            putText(message, text);
        }

        /**
         * Reads a message.
         *
         * @throws IllegalArgumentException if it is no answer
         */
        static Answer get(ByteBuffer message) {
            try {
                int kind = message.get();
                long position = message.getLong();
                String text = getText(message);
                if (kind < 0 || kind >= Kind.values().length || position < 0) {
                    throw new IllegalArgumentException("an unknown answer");
                }
                return new Answer(Kind.values()[kind], position, printable(text));
            } catch (BufferUnderflowException e) {
                throw new IllegalArgumentException("an answer that is too short", e);
            }
        }
    }

    /** Returns a text of the other side without control characters, which could change the terminal. */
    static String printable(String text) {
        return CONTROL.matcher(text).replaceAll("?");
    }

    /** Returns whether a path is short enough for a request. */
    static boolean fits(String path) {
        return path.getBytes(StandardCharsets.UTF_8).length <= MOST_TEXT;
    }

    private static void putText(ByteBuffer message, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        int length = Math.min(bytes.length, MOST_TEXT);
        message.putShort((short) length).put(bytes, 0, length);
    }

    private static String getText(ByteBuffer message) {
        int length = message.getShort();
        if (length < 0 || length > MOST_TEXT) {
            throw new IllegalArgumentException("a text of " + length + " bytes");
        }
        byte[] bytes = new byte[length];
        message.get(bytes);
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
