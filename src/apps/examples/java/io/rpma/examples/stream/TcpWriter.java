// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.stream;

import io.rpma.support.Errors;
import io.rpma.support.LostException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.channels.UnresolvedAddressException;

/** Writes a stream through a TCP socket, for the comparison. */
final class TcpWriter implements BlockWriter {
    private final SocketChannel channel;
    private final ByteBuffer block;

    private TcpWriter(SocketChannel channel, int size) {
        this.channel = channel;
        block = ByteBuffer.allocateDirect(size);
    }

    /** Makes one attempt to connect to a reader. */
    static TcpWriter connect(String address, int port, int block) throws LostException {
        try {
            return new TcpWriter(SocketChannel.open(new InetSocketAddress(address, port)), block);
        } catch (IOException | UnresolvedAddressException e) {
            throw new LostException(address + ":" + port, Errors.line(e));
        }
    }

    @Override
    public ByteBuffer acquire() {
        return block.clear();
    }

    @Override
    public void commit(int length) throws IOException {
        block.position(0).limit(length);
        while (block.hasRemaining()) {
            channel.write(block);
        }
    }

    @Override
    public void close() throws IOException {
        try (channel) {
            if (channel.isOpen()) {
                channel.shutdownOutput();
                if (channel.read(block.clear()) < 0) {
                    throw new IOException("the reader has not acknowledged the end of the stream");
                }
            }
        }
    }

    @Override
    public void abort() {
        reset(channel);
    }

    /** Closes a connection so that the other side does not take this for the end of the stream. */
    static void reset(SocketChannel channel) {
        try (channel) {
            channel.setOption(StandardSocketOptions.SO_LINGER, 0);
        } catch (IOException e) {
            // The connection is closed nevertheless, and is not needed any more.
        }
    }
}
