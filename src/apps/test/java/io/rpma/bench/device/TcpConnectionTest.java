// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.bench.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Arrays;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Loads over TCP, with a target in this process. */
class TcpConnectionTest {
    private static final int SIZE = 100_000;

    private final ExecutorService executor = Executors.newSingleThreadExecutor();
    private ServerSocket target;

    @BeforeEach
    void listen() throws IOException {
        target = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
    }

    @AfterEach
    void end() throws IOException {
        target.close();
        executor.shutdownNow();
    }

    /** Acknowledges messages, and returns the size that the client has sent. */
    private Future<Long> serve(int messages) {
        return executor.submit(() -> {
            try (Socket client = target.accept()) {
                DataInputStream input = new DataInputStream(client.getInputStream());
                // the benchmarks run only on machines whose least significant byte is the first
                long size = Long.reverseBytes(input.readLong());
                for (int i = 0; i < messages; i++) {
                    input.readFully(new byte[(int) size]);
                    client.getOutputStream().write(0);
                }
                return size;
            }
        });
    }

    private TcpConnection connect() throws IOException {
        return TcpConnection.open(target.getInetAddress().getHostAddress(), target.getLocalPort(), SIZE);
    }

    private static long run(TcpConnection connection, int depth, int count, long[] samples) throws IOException {
        Load load = new Load(Operation.TCP, SIZE, depth, Completions.BLOCK, count);
        return new DirectLoad(load, connection).run(samples);
    }

    @Test
    void sendsItsMessagesAndMeasuresEach() throws Exception {
        Future<Long> size = serve(40);
        long[] samples = new long[40];
        try (TcpConnection connection = connect()) {
            long nanos = run(connection, 16, 40, samples);
            assertThat(Arrays.stream(samples).min().orElseThrow()).isNotNegative();
            assertThat(Arrays.stream(samples).sum()).isBetween(1L, nanos);
        }
        assertThat(size.get()).isEqualTo(SIZE);
    }

    @Test
    void closesTheSocketIfTheFirstWriteFails() throws Exception {
        try (Socket socket = new Socket() {
            @Override
            public OutputStream getOutputStream() {
                return new OutputStream() {
                    @Override
                    public void write(int b) throws IOException {
                        throw new IOException("Broken pipe");
                    }
                };
            }

            @Override
            public InputStream getInputStream() {
                return InputStream.nullInputStream();
            }
        }) {
            assertThatExceptionOfType(IOException.class)
                    .isThrownBy(() -> TcpConnection.open(socket, SIZE))
                    .withMessage("Broken pipe");
            assertThat(socket.isClosed()).isTrue();
        }
    }

    @Test
    void failsWhenTheTargetEnds() throws Exception {
        Future<Long> size = serve(3);
        try (TcpConnection connection = connect()) {
            assertThatExceptionOfType(IOException.class).isThrownBy(() -> run(connection, 1, 4, null));
        }
        assertThat(size.get()).isEqualTo(SIZE);
    }
}
