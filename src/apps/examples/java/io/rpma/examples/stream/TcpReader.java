// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.stream;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.concurrent.TimeUnit;

/** Reads a stream through a TCP socket, for the comparison. The death of the writer's process is taken for the end. */
final class TcpReader implements BlockReader {
    private final SocketChannel channel;
    private final ByteBuffer block;
    private boolean ended;

    private TcpReader(SocketChannel channel, int size) {
        this.channel = channel;
        block = ByteBuffer.allocateDirect(size).limit(0);
    }

    /** Listens at an address and a port. The caller closes the result. */
    static ServerSocketChannel listen(String address, int port) throws IOException {
        ServerSocketChannel server = ServerSocketChannel.open();
        boolean bound = false;
        try {
            server.bind(new InetSocketAddress(address, port));
            bound = true;
            return server;
        } finally {
            if (!bound) {
                server.close();
            }
        }
    }

    /** Waits for a writer, with a timeout in seconds. */
    static TcpReader accept(ServerSocketChannel server, int timeout, int block) throws IOException {
        server.socket().setSoTimeout((int) Math.min(Integer.MAX_VALUE, TimeUnit.SECONDS.toMillis(timeout)));
        try {
            return new TcpReader(server.socket().accept().getChannel(), block);
        } catch (SocketTimeoutException e) {
            throw new IOException("no writer has connected within " + timeout + " s (--timeout)", e);
        }
    }

    @Override
    public ByteBuffer peek() throws IOException {
        if (!block.hasRemaining()) {
            ended = channel.read(block.clear()) < 0;
            block.flip();
        }
        return ended ? null : block.slice();
    }

    @Override
    public void release(int length) {
        block.position(block.position() + length);
    }

    @Override
    public void close() throws IOException {
        try (channel) {
            if (ended && channel.isOpen()) {
                channel.write(ByteBuffer.allocate(1));
            }
        }
    }

    @Override
    public void abort() {
        TcpWriter.reset(channel);
    }
}
