// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.stream;

import static java.util.concurrent.TimeUnit.SECONDS;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaConn;
import io.rpma.RpmaConnCfg;
import io.rpma.RpmaConnReq;
import io.rpma.RpmaException;
import io.rpma.RpmaMemory;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrRemote;
import io.rpma.RpmaMrUsage;
import io.rpma.RpmaPeer;
import io.rpma.RpmaWcOpcode;
import io.rpma.support.Errors;
import io.rpma.support.LostException;
import io.rpma.support.Offer;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.WritableByteChannel;
import java.util.Objects;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The end of a stream that writes.
 *
 * <p>The bytes are prepared in a ring of registered memory. One write with immediate data copies a message into the
 * same place of the reader's ring and reports its length. The reader reports the position up to which it has freed its
 * ring. A place is filled again after this report, and after the completion of the write that has used it. Only one
 * write in a quarter of the ring requests a completion.
 *
 * <p>A message without bytes is the end of the stream, and takes one position, so that the reader can acknowledge it.
 *
 * <p>Writes by several threads take turns. Only {@link #abort} does not wait for its turn. After a call has thrown a
 * failure, {@link #close} frees the memory and does not fail again.
 */
final class StreamWriter implements BlockWriter, WritableByteChannel {
    private static final int LEAST_RING = 4;
    private static final int MOST_RING = 1 << 30;

    private final RpmaConn conn;
    private final RpmaMrRemote remote;
    private final RpmaMemory memory;
    private final RpmaMrLocal region;
    private final ByteBuffer bytes;
    private final Ring ring;
    private final Ring.Quarter signals;
    private final Link link;
    private final ReentrantLock turn = new ReentrantLock();
    private int acquired;
    private long posted;
    private long completed;
    private long released;
    private boolean closed;

    private StreamWriter(
            String name, RpmaConn conn, RpmaMrRemote remote, RpmaMemory memory, RpmaMrLocal region, int timeout) {
        this.conn = conn;
        this.remote = remote;
        this.memory = memory;
        this.region = region;
        bytes = memory.buffer();
        ring = new Ring((int) memory.size(), Link.MESSAGES);
        signals = new Ring.Quarter(ring);
        link = new Link(name, conn, timeout, this::completed);
    }

    /**
     * Makes one attempt to connect to a reader.
     *
     * @param timeout the maximum time until the loss of the reader is detected, in seconds
     * @throws LostException if the reader does not answer, or rejects the connection
     * @throws IOException if another program answers, or offers no usable ring
     */
    static StreamWriter connect(RpmaPeer peer, String address, int port, int timeout)
            throws IOException, InterruptedException {
        String name = address + ":" + port;
        RpmaConn conn = establish(peer, name, address, port, timeout);
        RpmaMrRemote remote = null;
        RpmaMemory memory = null;
        RpmaMrLocal region = null;
        boolean usable = false;
        try {
            remote = Offer.fromPrivateData(conn.getPrivateData(), Link.SERVICE).openMemory();
            if (remote.getSize() < LEAST_RING || remote.getSize() > MOST_RING) {
                throw new IOException(name + " offers a ring of " + remote.getSize() + " bytes");
            }
            if (!remote.usages().contains(RpmaMrUsage.WRITE_DST)) {
                throw new IOException(name + " offers a ring that can not be written");
            }
            memory = RpmaMemory.allocate(remote.getSize());
            region = peer.register(memory, RpmaMrUsage.WRITE_SRC);
            StreamWriter writer = new StreamWriter(name, conn, remote, memory, region, timeout);
            writer.link.receive(Link.REPORTS); // in time: a report follows a write
            usable = true;
            return writer;
        } finally {
            if (!usable) {
                Link.close(conn);
                free(remote, region, memory);
            }
        }
    }

    private static RpmaConn establish(RpmaPeer peer, String name, String address, int port, int timeout)
            throws LostException, InterruptedException {
        byte[] service = ByteBuffer.allocate(Integer.BYTES).putInt(Link.SERVICE).array();
        try (RpmaConnCfg cfg = Link.writerCfg()) {
            return RpmaConnReq.create(peer, address, port, cfg).connect(service, timeout, SECONDS);
        } catch (RpmaException e) {
            throw new LostException(name, Errors.line(e));
        }
    }

    @Override
    public ByteBuffer acquire() throws IOException {
        turn.lock();
        try {
            checkOpen();
            link.poll();
            while (ring.room() == 0) {
                link.await();
            }
            // A quarter at most, so that the ring is filled, sent, and emptied at the same time.
            acquired = Math.min(ring.room(), ring.size() / 4);
            return bytes.slice(ring.offset(ring.filled()), acquired);
        } finally {
            turn.unlock();
        }
    }

    @Override
    public void commit(int length) throws IOException {
        turn.lock();
        try {
            checkOpen();
            Objects.checkIndex(length, acquired + 1);
            acquired = 0;
            if (length > 0) {
                send(length);
            }
        } finally {
            turn.unlock();
        }
    }

    private void send(int length) throws IOException {
        int offset = ring.offset(ring.filled());
        long end = ring.filled() + length;
        int flags = signals.isPassed(end, ring.filledMessages() + 1)
                ? RpmaConn.F_COMPLETION_ALWAYS
                : RpmaConn.F_COMPLETION_ON_ERROR;
        link.post(() -> conn.writeWithImm(remote, offset, region, offset, length, flags, length, end));
        ring.fill(length);
        posted = end;
    }

    /**
     * Copies all remaining bytes into the stream. Waits while the ring is full. If an exception is thrown, the buffer's
     * position is after the bytes that were sent.
     */
    @Override
    public int write(ByteBuffer source) throws IOException {
        turn.lock();
        try {
            checkOpen();
            int length = source.remaining();
            while (source.hasRemaining()) {
                ByteBuffer place = acquire();
                int part = Math.min(place.remaining(), source.remaining());
                place.put(source.slice(source.position(), part));
                commit(part);
                source.position(source.position() + part);
            }
            return length;
        } finally {
            turn.unlock();
        }
    }

    /**
     * Handles the completion of a write, whose operation context is the position of its end, or a report of the reader.
     */
    private void completed(RpmaCompletions completions, int index) throws IOException {
        if (completions.opcode(index) != RpmaWcOpcode.RECV) {
            completed = completions.wrId(index);
        } else {
            released = reported(completions, index);
            link.receive(1);
        }
        ring.free(Math.min(ring.filled(), Math.min(completed, released)));
    }

    /** Returns the position in a report, of which the report has the lower half. */
    private long reported(RpmaCompletions completions, int index) throws IOException {
        long position = completions.hasImmData(index) ? Ring.between(released, posted, completions.immData(index)) : -1;
        if (position < 0) {
            throw link.violated("a report of bytes that were not sent");
        }
        return position;
    }

    private void checkOpen() throws ClosedChannelException {
        if (closed) {
            throw new ClosedChannelException();
        }
    }

    @Override
    public boolean isOpen() {
        return link.isUsable();
    }

    @Override
    public void close() throws IOException {
        turn.lock();
        try {
            if (closed) {
                return;
            }
            closed = true;
            try {
                if (link.isUsable()) {
                    end();
                }
            } finally {
                link.close();
                free(remote, region, memory);
            }
        } finally {
            turn.unlock();
        }
    }

    private void end() throws IOException {
        long end = ring.filled() + 1;
        link.post(() -> conn.writeWithImm(RpmaConn.F_COMPLETION_ALWAYS, Link.END, end));
        posted = end;
        while (completed < end || released < end) {
            link.await();
        }
        link.awaitDisconnect(); // The reader still waits for the completion of its acknowledgment.
    }

    private static void free(RpmaMrRemote remote, RpmaMrLocal region, RpmaMemory memory) {
        if (remote != null) {
            remote.close();
        }
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
