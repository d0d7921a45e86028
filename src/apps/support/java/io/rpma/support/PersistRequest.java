// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.support;

import io.rpma.RpmaMemory;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A message that asks the other side to make bytes of its memory persistent; the answer is an empty message.
 *
 * <p>Requests are carried out and answered in their order, so the bytes that a commit covers are persistent before the
 * commit is persistent.
 *
 * @param kind the kind of the request
 * @param offset the first byte, from the beginning of the memory
 * @param operand for {@link Kind#PERSIST} the number of bytes, for {@link Kind#COMMIT} the number to store
 */
record PersistRequest(Kind kind, long offset, long operand) {
    /** The length of a message in bytes. */
    static final int LENGTH = 3 * Long.BYTES;

    /** The maximum number of requests without an answer on a connection. */
    static final int MOST = 256;

    private static final VarHandle WORD = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    /** The kinds of requests. */
    enum Kind {
        /** Makes bytes persistent. */
        PERSIST,

        /** Stores a little-endian number of 8 bytes atomically, and makes it persistent. */
        COMMIT
    }

    /** Writes the message. */
    void put(ByteBuffer message) {
        message.order(ByteOrder.LITTLE_ENDIAN)
                .putLong(0, kind.ordinal())
                .putLong(Long.BYTES, offset)
                .putLong(2 * Long.BYTES, operand);
    }

    /**
     * Reads a message.
     *
     * @throws IllegalArgumentException if it is not a request
     */
    static PersistRequest get(ByteBuffer message) {
        if (message.remaining() != LENGTH) {
            // The slot of a shorter message still has bytes of an earlier request.
            throw new IllegalArgumentException("a request has " + LENGTH + " bytes, not " + message.remaining());
        }
        message.order(ByteOrder.LITTLE_ENDIAN);
        long kind = message.getLong(0);
        if (kind < 0 || kind >= Kind.values().length) {
            throw new IllegalArgumentException("there is no request " + kind);
        }
        return new PersistRequest(
                Kind.values()[(int) kind], message.getLong(Long.BYTES), message.getLong(2 * Long.BYTES));
    }

    /**
     * Carries out the request.
     *
     * @throws IndexOutOfBoundsException if bytes are outside of the memory
     * @throws IllegalArgumentException if the offset of a commit is not a multiple of 8
     */
    void carryOut(RpmaMemory memory) {
        if (kind == Kind.PERSIST) {
            memory.persist(offset, operand);
            return;
        }
        if (offset % Long.BYTES != 0) {
            throw new IllegalArgumentException("a number is stored at a multiple of 8: " + offset);
        }
        WORD.setRelease(memory.buffer(offset, Long.BYTES).order(ByteOrder.LITTLE_ENDIAN), 0, operand);
        memory.persist(offset, Long.BYTES);
    }
}
