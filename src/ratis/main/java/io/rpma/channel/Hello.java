// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.channel;

import java.nio.ByteBuffer;

/**
 * What a side tells about itself in the private data of a connection.
 *
 * @param bufferSize the maximum size of a small message, with its header
 * @param messageSize the maximum size of a message
 * @param requests the maximum number of unanswered requests
 * @param requestBytes the maximum number of bytes of unanswered requests
 */
record Hello(int bufferSize, int messageSize, int requests, int requestBytes) {
    /** "chan", version 1. */
    private static final long MAGIC = 0x6368_616e_0000_0001L;

    private static final int SIZE = Long.BYTES + 4 * Integer.BYTES;

    byte[] toPrivateData() {
        return ByteBuffer.allocate(SIZE)
                .putLong(MAGIC)
                .putInt(bufferSize)
                .putInt(messageSize)
                .putInt(requests)
                .putInt(requestBytes)
                .array();
    }

    /**
     * Returns the limits that apply between this side and the other one.
     *
     * @param data what the other side has sent
     * @throws ChannelException if it is no channel of this version
     */
    Hello with(byte[] data) throws ChannelException {
        if (data.length < SIZE || ByteBuffer.wrap(data).getLong() != MAGIC) {
            throw new ChannelException("the other side is another program, or another version of this one");
        }
        ByteBuffer other = ByteBuffer.wrap(data).position(Long.BYTES);
        Hello common = new Hello(
                Math.min(bufferSize, other.getInt()),
                Math.min(messageSize, other.getInt()),
                Math.min(requests, other.getInt()),
                Math.min(requestBytes, other.getInt()));
        if (common.bufferSize < ChannelOptions.LEAST_BUFFER
                || common.messageSize < 1
                || common.requests < 1
                || common.requestBytes < 1) {
            throw new ChannelException("the other side has impossible limits: " + common);
        }
        return common;
    }
}
