// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.channel;

import java.nio.ByteBuffer;

/**
 * The header of what is sent. The bytes of the message follow, or the descriptor of a region that has them.
 *
 * @param kind what is sent
 * @param offered whether the message is in a region, which the receiver reads
 * @param credits the number of messages that the receiver may send in addition
 * @param read the number of the receiver's regions that are read, in the order of their offers
 * @param length the number of bytes of the message
 * @param id the number of the request
 */
record Frame(Kind kind, boolean offered, int credits, int read, int length, long id) {
    static final int SIZE = 20;

    /** What is sent. */
    enum Kind {
        /** Only credits and numbers of read regions. It needs no credit. */
        RETURN,
        REQUEST,
        ANSWER,
        /** An answer that is the reason of the refusal, in UTF-8. */
        REFUSAL,
        /** The end of the answers. The side that asks then ends the connection. */
        CLOSE
    }

    private static final Kind[] KINDS = Kind.values();

    void writeTo(ByteBuffer target) {
        target.put((byte) kind.ordinal());
        target.put((byte) (offered ? 1 : 0));
        target.putShort((short) credits);
        target.putShort((short) read);
        target.putShort((short) 0);
        target.putInt(length);
        target.putLong(id);
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
        int credits = Short.toUnsignedInt(source.getShort());
        int read = Short.toUnsignedInt(source.getShort());
        int reserved = source.getShort();
        int length = source.getInt();
        long id = source.getLong();
        if (kind < 0 || kind >= KINDS.length || (offered & ~1) != 0 || reserved != 0 || length < 0) {
            throw new ChannelException("an impossible header");
        }
        return new Frame(KINDS[kind], offered == 1, credits, read, length, id);
    }
}
