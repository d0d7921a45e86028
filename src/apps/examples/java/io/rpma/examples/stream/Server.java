// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.stream;

import io.rpma.RpmaDevice;
import io.rpma.RpmaEp;
import io.rpma.RpmaPeer;
import io.rpma.support.Output;
import io.rpma.support.Progress;
import io.rpma.support.Size;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Copies one stream into a file or to the standard output. */
final class Server {
    private final String address;
    private final int port;
    private final int block;
    private final int timeout;
    private final Path file;
    private final Output output;

    /**
     * Sets up a server.
     *
     * @param address to listen on
     * @param port to listen on
     * @param block the maximum number of bytes that are written to the file at once
     * @param timeout for a client to connect, and to detect the loss of the client, in seconds
     * @param file null for the standard output; the messages then go to the standard error output
     */
    Server(String address, int port, int block, int timeout, Path file) {
        this.address = address;
        this.port = port;
        this.block = block;
        this.timeout = timeout;
        this.file = file;
        output = file == null ? Output.toStandardError("server") : Output.toStandardOutput("server");
    }

    /**
     * Receives the bytes through RDMA.
     *
     * @param ring the size of the ring
     * @throws IOException if not all bytes of a client have arrived and have been written
     */
    void receive(int ring) throws IOException, InterruptedException {
        try (RpmaPeer peer = RpmaPeer.create(RpmaDevice.local(address));
                RpmaEp endpoint = RpmaEp.listen(peer, address, port)) {
            sayListening();
            receive(StreamReader.accept(peer, endpoint, ring, timeout, output::say));
        }
    }

    /** Receives the bytes through TCP, otherwise as {@link #receive(int)}. */
    void receiveThroughTcp() throws IOException {
        try (ServerSocketChannel server = TcpReader.listen(address, port)) {
            sayListening();
            receive(TcpReader.accept(server, timeout, block));
        }
    }

    private void sayListening() {
        output.say("listening", address + " port " + port + ", for " + timeout + " s");
    }

    private void receive(BlockReader accepted) throws IOException {
        output.say("a client has connected");
        long start = System.nanoTime();
        long received;
        try (BlockReader reader = accepted) {
            try (FileChannel target = open();
                    Progress progress = output.progress("receiving", Progress.UNKNOWN)) {
                received = copy(reader, target, progress);
            } catch (Throwable e) {
                reader.abort(); // Bytes that are not written must not be acknowledged.
                throw e;
            }
        }
        output.say("received", Size.exact(received));
        output.say("rate", Size.rate(received, System.nanoTime() - start));
    }

    private FileChannel open() throws IOException {
        return file == null
                ? new FileOutputStream(FileDescriptor.out).getChannel()
                : FileChannel.open(
                        file,
                        StandardOpenOption.WRITE,
                        StandardOpenOption.CREATE,
                        StandardOpenOption.TRUNCATE_EXISTING);
    }

    private long copy(BlockReader reader, FileChannel target, Progress progress) throws IOException {
        long received = 0;
        for (ByteBuffer bytes = reader.peek(); bytes != null; bytes = reader.peek()) {
            int length = target.write(bytes.limit(Math.min(block, bytes.limit())));
            reader.release(length);
            received += length;
            progress.update(received);
        }
        return received;
    }
}
