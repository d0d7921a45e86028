// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.channel;

import java.nio.ByteBuffer;

/** Bytes to send. */
public interface Message {
    /** {@return the number of bytes} */
    int length();

    /**
     * Copies the bytes.
     *
     * @param target has room for exactly {@link #length()} bytes, and is valid until this method returns
     */
    void writeTo(ByteBuffer target);

    /**
     * Returns a message of a buffer's remaining bytes.
     *
     * @param bytes the bytes; the position of the buffer does not change
     * @return the message
     */
    static Message of(ByteBuffer bytes) {
        return new Message() {
            @Override
            public int length() {
                return bytes.remaining();
            }

            @Override
            public void writeTo(ByteBuffer target) {
                target.put(bytes.duplicate());
            }
        };
    }

    /**
     * Returns a message of the bytes of an array.
     *
     * @param bytes the bytes
     * @return the message
     */
    static Message of(byte[] bytes) {
        return of(ByteBuffer.wrap(bytes));
    }
}
