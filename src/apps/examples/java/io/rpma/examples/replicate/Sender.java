// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.replicate;

import static java.util.concurrent.TimeUnit.SECONDS;

import io.rpma.RpmaConn;
import io.rpma.RpmaDevice;
import io.rpma.RpmaException;
import io.rpma.RpmaMemory;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrUsage;
import io.rpma.RpmaPeer;
import io.rpma.support.BackOff;
import io.rpma.support.Errors;
import io.rpma.support.Output;
import io.rpma.support.Progress;
import io.rpma.support.RemoteConnection;
import io.rpma.support.RemoteMemory;
import io.rpma.support.Sha256;
import io.rpma.support.Size;
import io.rpma.support.SourceFile;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import org.HdrHistogram.Histogram;

/**
 * Replicates a file into the memory of a {@link Receiver}, reads it back and compares.
 *
 * <p>This class connects and prints the messages; {@link Transfer} has the operations.
 */
final class Sender {
    private static final String EMPTY = "none, the file is empty";

    private final String address;
    private final int port;
    private final int chunk;
    private final int depth;
    private final int timeout;
    private final BackOff backOff;
    private final Output output = Output.toStandardOutput("sender");

    /**
     * Sets up a sender.
     *
     * @param address of the receiver
     * @param port of the receiver
     * @param chunk the number of bytes of one write, a multiple of {@link Layout#ALIGNMENT}
     * @param depth the maximum number of chunks under way
     * @param timeout for the receiver to listen, and for the next completion, in seconds
     */
    Sender(String address, int port, int chunk, int depth, int timeout) {
        this.address = address;
        this.port = port;
        this.chunk = chunk;
        this.depth = depth;
        this.timeout = timeout;
        backOff = new BackOff(timeout);
    }

    /**
     * Replicates a file.
     *
     * @throws IOException if the file can't be replicated, or the bytes read back differ
     */
    void send(Path path) throws IOException, InterruptedException {
        try (SourceFile file = SourceFile.open(path);
                RpmaPeer peer = RpmaPeer.create(untilReached(this::findDevice));
                RpmaMemory memory = RpmaMemory.allocate((long) chunk * depth);
                RpmaMrLocal ring = peer.register(memory, RpmaMrUsage.WRITE_SRC, RpmaMrUsage.READ_DST);
                RemoteConnection connection = untilReached(() -> connect(peer))) {
            RemoteMemory receiver = new RemoteMemory(connection, ring, timeout);
            long capacity = Layout.capacity(receiver.size());
            if (file.size() > capacity) {
                throw file.tooLarge(capacity, "the receiver's memory");
            }
            replicate(file, receiver, new Transfer(receiver, memory, chunk));
            disconnect(connection.conn());
        }
    }

    /** Repeats an attempt while the receiver's host is down or does not listen, until the timeout expires. */
    private <T> T untilReached(BackOff.Attempt<T> attempt) throws IOException, InterruptedException {
        return backOff.retry("no receiver has answered at " + address + " port " + port, output::say, attempt);
    }

    private RpmaDevice findDevice() throws IOException {
        RpmaDevice device = RemoteConnection.findDevice(address, port);
        output.say("connecting", "to " + address + " port " + port + " through " + device.name());
        return device;
    }

    private RemoteConnection connect(RpmaPeer peer) throws IOException, InterruptedException {
        // Each chunk needs a write and a flush.
        return RemoteConnection.open(peer, address, port, Receiver.SERVICE, 2 * depth, backOff.left());
    }

    private void replicate(SourceFile file, RemoteMemory receiver, Transfer transfer)
            throws IOException, InterruptedException {
        long size = file.size();
        output.say("replicating", file + ", " + Size.exact(size));
        byte[] fileDigest = hash(file);

        // Reset the commit word. The receiver has reset it too, but perhaps only in a processor's cache.
        transfer.commit(Layout.NOTHING);
        long start = System.nanoTime();
        Histogram latency = write(file, transfer);
        double seconds = (System.nanoTime() - start) / 1e9;
        file.checkUnchanged();
        transfer.writeDigest(fileDigest);
        transfer.commit(Layout.committed(size));

        byte[] remoteDigest = readBack(size, transfer);
        output.say("size", Size.exact(size));
        output.say(
                "rate",
                size == 0
                        ? EMPTY
                        : Size.format(Math.rint(size / seconds)) + "/s, in chunks of " + Size.format(chunk) + ", up to "
                                + depth + " under way");
        output.say("chunk", format(latency));
        output.say("persistence", receiver.persistence().description());
        output.say("SHA-256", Sha256.format(fileDigest) + " (file)");
        output.say("SHA-256", Sha256.format(remoteDigest) + " (read back)");
        if (!Arrays.equals(fileDigest, remoteDigest)) {
            throw new IOException("the bytes read back differ from the file");
        }
        output.say("the file is replicated");
    }

    /** Hashes the file in a separate pass, so that the hashing does not slow down the writes. */
    private byte[] hash(SourceFile file) throws IOException {
        try (Progress progress = output.progress("hashing", file.size())) {
            return file.sha256(progress::update);
        }
    }

    private Histogram write(SourceFile file, Transfer transfer) throws IOException, InterruptedException {
        try (Progress progress = output.progress("writing", file.size())) {
            return transfer.write(file, progress);
        }
    }

    private byte[] readBack(long size, Transfer transfer) throws IOException, InterruptedException {
        try (Progress progress = output.progress("reading", size)) {
            return transfer.read(size, progress);
        }
    }

    /** Disconnects. The file is already replicated, so a failure is only reported. */
    private void disconnect(RpmaConn conn) throws InterruptedException {
        try {
            conn.disconnect();
            if (conn.nextEvent(timeout, SECONDS).isEmpty()) {
                output.say("the receiver has not answered the disconnect within " + timeout + " s");
            }
        } catch (RpmaException e) {
            output.say("the disconnect has failed: " + Errors.line(e));
        }
    }

    private static String format(Histogram latency) {
        if (latency.getTotalCount() == 0) {
            return EMPTY;
        }
        return String.format(
                Locale.ROOT,
                "p50 %.3f ms, p99 %.3f ms, max %.3f ms (%s)",
                latency.getValueAtPercentile(50) / 1e6,
                latency.getValueAtPercentile(99) / 1e6,
                latency.getMaxValue() / 1e6,
                latency.getTotalCount() == 1 ? "1 chunk" : latency.getTotalCount() + " chunks");
    }
}
