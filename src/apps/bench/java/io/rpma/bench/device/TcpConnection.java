// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.bench.device;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Messages over TCP, for a comparison. The target acknowledges each message with a byte. {@code src/apps/bench/c/tcp.c}
 * is the counterpart in C.
 */
final class TcpConnection implements DirectLoad.DirectEnd, AutoCloseable {
    private static final int ACKNOWLEDGMENTS = 64;

    private final Socket socket;
    private final OutputStream output;
    private final InputStream input;
    private final byte[] message;
    private final byte[] acknowledgments = new byte[ACKNOWLEDGMENTS];

    private TcpConnection(Socket socket, long size) throws IOException {
        this.socket = socket;
        message = new byte[(int) size];
        output = socket.getOutputStream();
        input = socket.getInputStream();
    }

    /** Connects to the target, for messages of this size. */
    static TcpConnection open(String address, int port, long size) throws IOException {
        return open(new Socket(address, port), size);
    }

    /** Takes over a connected socket, which is closed if this fails. */
    static TcpConnection open(Socket socket, long size) throws IOException {
        boolean open = false;
        try {
            socket.setTcpNoDelay(true);
            TcpConnection connection = new TcpConnection(socket, size);
            connection.output.write(ByteBuffer.allocate(Long.BYTES)
                    .order(ByteOrder.nativeOrder())
                    .putLong(size)
                    .array());
            open = true;
            return connection;
        } finally {
            if (!open) {
                socket.close();
            }
        }
    }

    @Override
    public void post(long number) throws IOException {
        output.write(message);
    }

    @Override
    public int take() throws IOException {
        int taken = input.read(acknowledgments);
        if (taken < 0) {
            throw new EOFException("the target has ended");
        }
        return taken;
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
