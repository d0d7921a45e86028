// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.channel;

import java.nio.ByteBuffer;

/**
 * What a side tells about itself in the private data of a connection.
 *
 * @param receives the number of small messages that it has room for
 * @param bufferSize the maximum size of a small message, with its header
 * @param messageSize the maximum size of a message
 * @param requests the maximum number of unanswered requests
 * @param requestBytes the maximum number of bytes of unanswered requests
 */
record Hello(int receives, int bufferSize, int messageSize, int requests, int requestBytes) {
    /** A report of half of the receives is then a report of two at least. */
    static final int LEAST_RECEIVES = 4;

    /** "chan", version 1. */
    private static final long MAGIC = 0x6368_616e_0000_0001L;

    private static final int SIZE = Long.BYTES + 5 * Integer.BYTES;

    byte[] toPrivateData() {
        return ByteBuffer.allocate(SIZE)
                .putLong(MAGIC)
                .putInt(receives)
                .putInt(bufferSize)
                .putInt(messageSize)
                .putInt(requests)
                .putInt(requestBytes)
                .array();
    }

    /**
     * Reads what the other side has sent.
     *
     * @throws ChannelException if it is no channel of this version
     */
    static Hello fromPrivateData(byte[] data) throws ChannelException {
        if (data.length < SIZE || ByteBuffer.wrap(data).getLong() != MAGIC) {
            throw new ChannelException("the other side is another program, or another version of this one");
        }
        ByteBuffer values = ByteBuffer.wrap(data).position(Long.BYTES);
        Hello hello = new Hello(values.getInt(), values.getInt(), values.getInt(), values.getInt(), values.getInt());
        if (hello.receives < LEAST_RECEIVES
                || hello.receives > ChannelOptions.MOST_RECEIVES
                || hello.bufferSize < ChannelOptions.LEAST_BUFFER
                || hello.bufferSize > ChannelOptions.MOST_BUFFER
                || hello.messageSize < 1
                || hello.requests < 1
                || hello.requestBytes < 1) {
            throw new ChannelException("the other side has impossible limits: " + hello);
        }
        return hello;
    }

    /** Returns the limits that apply if the other side has these. */
    Hello with(Hello other) {
        return new Hello(
                receives,
                Math.min(bufferSize, other.bufferSize),
                Math.min(messageSize, other.messageSize),
                Math.min(requests, other.requests),
                Math.min(requestBytes, other.requestBytes));
    }
}
