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
 * Messages over TCP, for a comparison. The target acknowledges each message with a byte. {@code native/bench/tcp.c} is the
 * counterpart in C.
 */
final class TcpConnection implements AutoCloseable {
    private static final int ACKNOWLEDGMENTS = 64;

    private final Socket socket;
    private final OutputStream output;
    private final InputStream input;
    private final byte[] acknowledgments = new byte[ACKNOWLEDGMENTS];

    private TcpConnection(Socket socket) throws IOException {
        this.socket = socket;
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
            TcpConnection connection = new TcpConnection(socket);
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

    /**
     * Runs a load.
     *
     * @param samples gets the time from each acknowledgment to the next, or null
     * @return the duration in nanoseconds
     */
    long run(Load load, long[] samples) throws IOException {
        Turns turns = new Turns(load, samples);
        long start = System.nanoTime();
        turns.last = start;
        while (turns.done < load.count()) {
            turns.next();
        }
        return System.nanoTime() - start;
    }

    /** The turns of the loop. A turn is a method call for the reason that {@link Load} gives. */
    private final class Turns {
        private final Load load;
        private final long[] samples;
        private final byte[] message;
        private long posted;
        private long done;
        private long last;

        Turns(Load load, long[] samples) {
            this.load = load;
            this.samples = samples;
            message = new byte[(int) load.size()];
        }

        void next() throws IOException {
            for (; posted < load.count() && posted - done < load.depth(); posted++) {
                output.write(message);
            }
            int taken = input.read(acknowledgments);
            if (taken < 0) {
                throw new EOFException("the target has ended");
            }
            for (int i = 0; i < taken; i++) {
                if (samples != null) {
                    long now = System.nanoTime();
                    samples[(int) done] = now - last;
                    last = now;
                }
                done++;
            }
        }
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
