package io.rpma.examples.replicate;

import static java.util.concurrent.TimeUnit.SECONDS;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaConn;
import io.rpma.RpmaConnEvent;
import io.rpma.RpmaFlushType;
import io.rpma.RpmaMemory;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrRemote;
import io.rpma.RpmaWcOpcode;
import io.rpma.examples.common.RemoteConnection;
import io.rpma.examples.common.RemoteMemory;
import io.rpma.examples.common.Sha256;
import io.rpma.examples.common.SourceFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Optional;
import org.HdrHistogram.Histogram;

/**
 * The RDMA operations on the receiver's memory, pipelined through a ring of buffers.
 *
 * <p>The ring is one registered mapping, cut into slots of one chunk each. Chunk {@code n} goes through slot {@code n}
 * modulo the number of slots, and {@code n} is the operation context of what is posted for it, which its completion brings
 * back. A connection completes its operations in the order of their posts: when chunk {@code n} is done, so are all before
 * it, and their slots are free.
 *
 * <p>Of a write and the flush behind it only the flush asks for a completion. A failure of either brings one.
 */
final class Transfer {
    private final RpmaConn conn;
    private final RpmaMrRemote remote;
    private final RpmaMrLocal ring;
    private final ByteBuffer[] slots;
    private final int chunk;
    private final int timeout;
    private final RpmaFlushType flushType;
    private final RpmaCompletions completions;
    private final long[] postedAt;

    // Of the phase under way: each begins when all operations of the one before are done.
    private String phase;
    private Histogram latency;
    private long done;

    private RpmaWcOpcode lastOpcode;
    private boolean flushNative;

    /**
     * Sets up the transfer.
     *
     * @param receiver the connection, with room for two operations for each slot
     * @param memory the ring's memory
     * @param ring the region of that memory
     * @param chunk the size of a slot
     * @param timeout for the next completion, in seconds
     */
    Transfer(RemoteConnection receiver, RpmaMemory memory, RpmaMrLocal ring, int chunk, int timeout) {
        conn = receiver.conn();
        remote = receiver.memory();
        flushType = receiver.flushType();
        this.ring = ring;
        this.chunk = chunk;
        this.timeout = timeout;
        slots = new ByteBuffer[(int) (memory.size() / chunk)];
        for (int i = 0; i < slots.length; i++) {
            slots[i] = memory.buffer((long) i * chunk, chunk);
        }
        postedAt = new long[slots.length];
        completions = RpmaCompletions.create(slots.length);
    }

    /** How deep the flushes go: as deep as the receiver's memory allows. */
    RpmaFlushType flushType() {
        return flushType;
    }

    /** Whether the device has carried out the flush of the last commit, or librpma has emulated it. */
    boolean isFlushNative() {
        return flushNative;
    }

    /**
     * Writes and flushes the file.
     *
     * @return how long each chunk took, from the post of its write to the completion of its flush, in nanoseconds
     */
    Histogram write(SourceFile file, Progress progress) throws IOException, InterruptedException {
        begin("writing the file");
        file.seek(0);
        long chunks = chunks(file.size());
        for (long n = 0; n < chunks; n++) {
            awaitDone(n + 1 - slots.length);
            int length = length(n, file.size());
            file.fill(slot(n, length));
            postedAt[slotOf(n)] = System.nanoTime();
            postWrite(Layout.DATA + n * chunk, n, length);
            postFlush(Layout.DATA + n * chunk, n, length);
            take(conn.getCq().poll(completions));
            progress.update(Math.min(done * chunk, file.size()));
        }
        awaitDone(chunks);
        progress.update(file.size());
        return latency;
    }

    /** Writes and flushes the SHA-256 of the file. */
    void writeDigest(byte[] digest) throws IOException, InterruptedException {
        begin("writing the SHA-256");
        slot(0, digest.length).put(digest);
        postWrite(Layout.DIGEST, 0, digest.length);
        postFlush(Layout.DIGEST, 0, digest.length);
        awaitDone(1);
    }

    /** Sets the commit word, in one piece, and flushes it. All that it vouches for must have been flushed before. */
    void commit(long commitWord) throws IOException, InterruptedException {
        begin("committing");
        long value = RemoteMemory.toAtomicWrite(commitWord);
        while (!conn.atomicWrite(remote, Layout.COMMIT, value, RpmaConn.F_COMPLETION_ON_ERROR, 0)) {
            awaitCompletions();
        }
        postFlush(Layout.COMMIT, 0, Long.BYTES);
        awaitDone(1);
        flushNative = lastOpcode == RpmaWcOpcode.FLUSH;
    }

    /**
     * Reads the file back.
     *
     * @param size of the file
     * @return the SHA-256 of what was read
     */
    byte[] read(long size, Progress progress) throws IOException, InterruptedException {
        begin("reading the file back");
        Sha256 digest = new Sha256();
        long chunks = chunks(size);
        long posted = 0;
        for (long n = 0; n < chunks; n++) {
            for (; posted < Math.min(chunks, n + slots.length); posted++) {
                postRead(Layout.DATA + posted * chunk, posted, length(posted, size));
            }
            awaitDone(n + 1);
            int length = length(n, size);
            digest.update(slot(n, length));
            progress.update(n * chunk + length);
        }
        return digest.result();
    }

    private void postWrite(long offset, long n, int length) throws IOException, InterruptedException {
        long source = (long) slotOf(n) * chunk;
        // false says that the send queue is full. Completions make room.
        while (!conn.write(remote, offset, ring, source, length, RpmaConn.F_COMPLETION_ON_ERROR, n)) {
            awaitCompletions();
        }
    }

    private void postFlush(long offset, long n, int length) throws IOException, InterruptedException {
        while (!conn.flush(remote, offset, length, flushType, RpmaConn.F_COMPLETION_ALWAYS, n)) {
            awaitCompletions();
        }
    }

    private void postRead(long offset, long n, int length) throws IOException, InterruptedException {
        long destination = (long) slotOf(n) * chunk;
        postedAt[slotOf(n)] = System.nanoTime();
        while (!conn.read(ring, destination, remote, offset, length, RpmaConn.F_COMPLETION_ALWAYS, n)) {
            awaitCompletions();
        }
    }

    private void begin(String newPhase) {
        phase = newPhase;
        latency = new Histogram(3);
        done = 0;
        postedAt[0] = System.nanoTime();
    }

    /** Waits until the first so many chunks of the phase are done. */
    private void awaitDone(long chunks) throws IOException, InterruptedException {
        while (done < chunks) {
            awaitCompletions();
        }
    }

    /**
     * Waits for completions, and looks at the connection's events meanwhile: when the receiver is gone, a device may try for
     * minutes to reach it until it lets the operations fail.
     */
    private void awaitCompletions() throws IOException, InterruptedException {
        int taken = 0;
        for (int seconds = 0; taken == 0; seconds++) {
            if (seconds == timeout) {
                throw new IOException(phase + " got stuck: nothing has completed for " + timeout + " s (--timeout)");
            }
            taken = conn.getCq().await(completions, 1, SECONDS);
            if (taken == 0) {
                checkConnected();
            }
        }
        take(taken);
    }

    /** Once a connection is established, any event tells of its end. */
    private void checkConnected() throws IOException, InterruptedException {
        Optional<RpmaConnEvent> event = conn.nextEvent(0, SECONDS);
        if (event.isPresent()) {
            throw new IOException(
                    phase + " failed: the receiver is gone (" + event.get().description() + ")");
        }
    }

    private void take(int taken) throws IOException, InterruptedException {
        long now = System.nanoTime();
        for (int i = 0; i < taken; i++) {
            if (!completions.isSuccess(i)) {
                throw failure(i);
            }
            latency.recordValue(now - postedAt[slotOf(completions.wrId(i))]);
            lastOpcode = completions.opcode(i);
            done++;
        }
    }

    /** After the first failure the connection is of no use any more. */
    private IOException failure(int i) throws IOException, InterruptedException {
        checkConnected();
        return new IOException(phase + " failed at byte " + completions.wrId(i) * chunk + ": " + completions.status(i)
                + " (" + completions.status(i).description() + ")");
    }

    private long chunks(long size) {
        return (size + chunk - 1) / chunk;
    }

    private int length(long n, long size) {
        return (int) Math.min(chunk, size - n * chunk);
    }

    private int slotOf(long n) {
        return (int) (n % slots.length);
    }

    private ByteBuffer slot(long n, int length) {
        return slots[slotOf(n)].clear().limit(length);
    }
}
