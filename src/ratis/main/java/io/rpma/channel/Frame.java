// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.channel;

import java.nio.ByteBuffer;

/**
 * The header of a message. The bytes of the message follow, or the descriptor of a region that has them.
 *
 * @param kind what is sent
 * @param offered whether the message is in a region, which the receiver reads
 * @param slot the slot of the request
 * @param length the number of bytes of the message
 */
record Frame(Kind kind, boolean offered, int slot, int length) {
    static final int SIZE = 8;

    /** What is sent. */
    enum Kind {
        REQUEST,
        ANSWER,
        /** An answer that is the reason of the refusal, in UTF-8. */
        REFUSAL,
        /** A request that tells that an offered answer is read. It has an answer without bytes. */
        READ,
        /** The end of the answers. The side that asks then ends the connection. */
        CLOSE
    }

    private static final Kind[] KINDS = Kind.values();

    void writeTo(ByteBuffer target) {
        target.put((byte) kind.ordinal());
        target.put((byte) (offered ? 1 : 0));
        target.putShort((short) slot);
        target.putInt(length);
    }

    /**
     * Reads a header. The position of the buffer is then after it.
     *
     * @throws ChannelException if it is none
     */
    static Frame readFrom(ByteBuffer source) throws ChannelException {
        if (source.remaining() < SIZE) {
            throw new ChannelException("a message of " + source.remaining() + " bytes has no header");
        }
        int kind = source.get();
        int offered = source.get();
        int slot = Short.toUnsignedInt(source.getShort());
        int length = source.getInt();
        if (kind < 0 || kind >= KINDS.length || (offered & ~1) != 0 || length < 0) {
            throw new ChannelException("an impossible header");
        }
        return new Frame(KINDS[kind], offered == 1, slot, length);
    }
}
