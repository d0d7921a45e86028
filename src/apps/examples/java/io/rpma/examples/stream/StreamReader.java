// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.stream;

import static java.util.concurrent.TimeUnit.NANOSECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaConn;
import io.rpma.RpmaConnCfg;
import io.rpma.RpmaConnReq;
import io.rpma.RpmaEp;
import io.rpma.RpmaException;
import io.rpma.RpmaMemory;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrUsage;
import io.rpma.RpmaPeer;
import io.rpma.RpmaWcOpcode;
import io.rpma.support.BackOff;
import io.rpma.support.Errors;
import io.rpma.support.LostException;
import io.rpma.support.Offer;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * The end of a stream that reads.
 *
 * <p>The writer's device writes the bytes into the ring. The completion of a receive reports the length of a message.
 * The reader sends the position up to which it has freed the ring, once for each quarter of the ring.
 *
 * <p>The bytes that arrived before a failure can still be read. The failure is reported after them, so it is never
 * taken for the end of the stream.
 *
 * <p>Used by one thread at a time, except {@link #abort}.
 */
final class StreamReader extends InputStream implements BlockReader {
    private static final long REPORT = 0;

    private final RpmaConn conn;
    private final RpmaMemory memory;
    private final RpmaMrLocal region;
    private final ByteBuffer bytes;
    private final Ring ring;
    private final Ring.Quarter reports;
    private final Link link;
    private int reporting;
    private boolean ended;
    private boolean closed;

    private StreamReader(RpmaConn conn, RpmaMemory memory, RpmaMrLocal region, int timeout) {
        this.conn = conn;
        this.memory = memory;
        this.region = region;
        bytes = memory.buffer().asReadOnlyBuffer();
        ring = new Ring((int) memory.size(), Link.MESSAGES);
        reports = new Ring.Quarter(ring);
        link = new Link("the writer", conn, timeout, this::completed);
    }

    /**
     * Waits for a writer and accepts it. A request of another program is rejected.
     *
     * @param size the size of the ring in bytes
     * @param timeout the maximum time to wait for a writer, and until the loss of the writer is detected, in seconds
     * @param notes gets a line for each request that does not become a stream
     * @throws IOException if no writer has connected within the timeout
     */
    static StreamReader accept(RpmaPeer peer, RpmaEp endpoint, int size, int timeout, Consumer<String> notes)
            throws IOException, InterruptedException {
        long deadline = System.nanoTime() + SECONDS.toNanos(timeout);
        BackOff backOff = new BackOff(timeout);
        try (RpmaConnCfg cfg = Link.readerCfg()) {
            while (true) {
                long left = Math.max(0, deadline - System.nanoTime());
                try {
                    Optional<RpmaConnReq> request = endpoint.nextConnReq(cfg, left, NANOSECONDS);
                    if (request.isEmpty()) {
                        throw new IOException("no writer has connected within " + timeout + " s (--timeout)");
                    }
                    if (isWriter(request.get())) {
                        return accept(peer, request.get(), size, timeout);
                    }
                    request.get().close();
                    notes.accept("rejected a request of another program");
                } catch (RpmaException | LostException e) {
                    notes.accept("a writer is lost: " + Errors.line(e));
                    backOff.pause("no writer could be accepted", e);
                }
            }
        }
    }

    private static boolean isWriter(RpmaConnReq request) {
        ByteBuffer data = ByteBuffer.wrap(request.getPrivateData());
        return data.remaining() >= Integer.BYTES && data.getInt() == Link.SERVICE;
    }

    private static StreamReader accept(RpmaPeer peer, RpmaConnReq request, int size, int timeout)
            throws IOException, InterruptedException {
        RpmaMemory memory = null;
        RpmaMrLocal region = null;
        boolean usable = false;
        try {
            memory = RpmaMemory.allocate(size);
            region = peer.register(memory, RpmaMrUsage.WRITE_DST, RpmaMrUsage.RECV);
            for (int i = 0; i <= Link.MESSAGES; i++) { // one more for the end of the stream
                request.recv(region, 0, 0, Link.RECEIVE);
            }
            byte[] offer = Offer.of(peer, region, false).toPrivateData(Link.SERVICE);
            RpmaConn conn = request.connect(offer, timeout, SECONDS);
            usable = true;
            return new StreamReader(conn, memory, region, timeout);
        } finally {
            if (!usable) {
                request.close();
                free(region, memory);
            }
        }
    }

    @Override
    public ByteBuffer peek() throws IOException {
        checkOpen();
        while (ring.available() == 0 && !ended) {
            link.await();
        }
        return ring.available() == 0 ? null : bytes.slice(ring.offset(ring.freed()), ring.available());
    }

    @Override
    public void release(int length) throws IOException {
        checkOpen();
        Objects.checkIndex(length, ring.available() + 1);
        ring.free(ring.freed() + length);
        if (link.isConnected() && reports.isPassed(ring.freed(), ring.freedMessages())) {
            report(ring.freed());
        }
    }

    private void report(long position) throws IOException {
        link.post(() -> conn.sendWithImm(RpmaConn.F_COMPLETION_ALWAYS, (int) position, REPORT));
        reporting++;
    }

    private void completed(RpmaCompletions completions, int index) throws IOException {
        if (completions.opcode(index) == RpmaWcOpcode.SEND) {
            reporting--;
            return;
        }
        int length = completions.hasImmData(index) ? completions.immData(index) : -1;
        if (ended || (length != Link.END && !ring.fill(length))) {
            throw link.violated("a message that does not fit");
        }
        if (length == Link.END) {
            ended = true;
        } else {
            link.receive(1);
        }
    }

    @Override
    public int read() throws IOException {
        ByteBuffer received = peek();
        if (received == null) {
            return -1;
        }
        int value = Byte.toUnsignedInt(received.get());
        release(1);
        return value;
    }

    @Override
    public int read(byte[] destination, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, destination.length);
        if (length == 0) {
            return 0;
        }
        ByteBuffer received = peek();
        if (received == null) {
            return -1;
        }
        int part = Math.min(length, received.remaining());
        received.get(destination, offset, part);
        release(part);
        return part;
    }

    /** Returns the number of bytes that have been received and lie together. */
    @Override
    public int available() {
        return ring.available();
    }

    private void checkOpen() throws IOException {
        if (closed) {
            throw new IOException("the stream is closed");
        }
    }

    @Override
    public void close() throws IOException {
        if (closed) {
            return;
        }
        closed = true;
        try {
            if (link.isUsable() && ended && ring.available() == 0) {
                acknowledgeEnd();
            }
        } finally {
            link.close();
            free(region, memory);
        }
    }

    private void acknowledgeEnd() throws IOException {
        report(ring.filled() + 1);
        while (reporting > 0) {
            link.await();
        }
        link.disconnect();
    }

    private static void free(RpmaMrLocal region, RpmaMemory memory) {
        if (region != null) {
            region.close();
        }
        if (memory != null) {
            memory.close();
        }
    }

    @Override
    public void abort() {
        link.close();
    }
}
