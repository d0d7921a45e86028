// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.stream;

import io.rpma.RpmaDevice;
import io.rpma.RpmaPeer;
import io.rpma.support.BackOff;
import io.rpma.support.Output;
import io.rpma.support.Progress;
import io.rpma.support.RemoteConnection;
import io.rpma.support.Size;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;

/** Copies a file or the standard input into a stream. */
final class Client {
    private final String address;
    private final int port;
    private final int block;
    private final int timeout;
    private final BackOff backOff;
    private final Output output = Output.toStandardOutput("client");

    /**
     * Sets up a client.
     *
     * @param address of the server
     * @param port of the server
     * @param block the maximum number of bytes of one write
     * @param timeout for the server to listen, and to detect the loss of the server, in seconds
     */
    Client(String address, int port, int block, int timeout) {
        this.address = address;
        this.port = port;
        this.block = block;
        this.timeout = timeout;
        backOff = new BackOff(timeout);
    }

    /**
     * Sends the bytes through RDMA.
     *
     * @param file null for the standard input
     * @throws IOException if the server has not acknowledged all bytes
     */
    void send(Path file) throws IOException, InterruptedException {
        try (FileChannel source = open(file)) {
            RpmaDevice device = untilReached(() -> RemoteConnection.findDevice(address, port));
            try (RpmaPeer peer = RpmaPeer.create(device)) {
                send(file, source, untilReached(() -> StreamWriter.connect(peer, address, port, timeout)));
            }
        }
    }

    /** Sends the bytes through TCP, otherwise as {@link #send(Path)}. */
    void sendThroughTcp(Path file) throws IOException, InterruptedException {
        try (FileChannel source = open(file)) {
            send(file, source, untilReached(() -> TcpWriter.connect(address, port, block)));
        }
    }

    private static FileChannel open(Path file) throws IOException {
        return file == null ? new FileInputStream(FileDescriptor.in).getChannel() : FileChannel.open(file);
    }

    private <T> T untilReached(BackOff.Attempt<T> attempt) throws IOException, InterruptedException {
        return backOff.retry("no server has answered at " + address + " port " + port, output::say, attempt);
    }

    private void send(Path file, FileChannel source, BlockWriter connected) throws IOException {
        output.say("connected", "to " + address + " port " + port);
        long start = System.nanoTime();
        long sent;
        try (BlockWriter writer = connected) {
            try (Progress progress = output.progress("sending", file == null ? Progress.UNKNOWN : Files.size(file))) {
                sent = copy(source, writer, progress);
            } catch (Throwable e) {
                writer.abort(); // A part of the bytes must not look like all bytes.
                throw e;
            }
        }
        output.say("sent", Size.exact(sent));
        output.say("rate", Size.rate(sent, System.nanoTime() - start) + ", in blocks of " + Size.format(block));
    }

    private long copy(FileChannel source, BlockWriter writer, Progress progress) throws IOException {
        long sent = 0;
        while (true) {
            ByteBuffer place = writer.acquire();
            place.limit(Math.min(block, place.limit()));
            int length = source.read(place);
            if (length < 0) {
                return sent;
            }
            writer.commit(length);
            sent += length;
            progress.update(sent);
        }
    }
}
