package io.rpma.examples.replicate;

import io.rpma.RpmaMemory;
import io.rpma.examples.common.RemoteMemory;
import io.rpma.examples.common.Sha256;
import io.rpma.examples.common.SourceFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.HdrHistogram.Histogram;

/**
 * The operations on the receiver's memory, pipelined through a ring of buffers.
 *
 * <p>The ring is the staging memory, cut into slots of one chunk each. Chunk {@code n} goes through slot {@code n} modulo the
 * number of slots. Operations are done in the order of their posts: when chunk {@code n} is done, so are all before it, and
 * their slots are free.
 */
final class Transfer {
    private final RemoteMemory receiver;
    private final ByteBuffer[] slots;
    private final int chunk;
    private final long[] tickets;
    private final long[] postedAt;

    // Of the phase under way: each begins when all operations of the one before are done.
    private Histogram latency;
    private long posted;
    private long done;

    /**
     * Sets up the transfer.
     *
     * @param receiver the receiver's memory, with room for two operations for each slot
     * @param ring the staging memory
     * @param chunk the size of a slot
     */
    Transfer(RemoteMemory receiver, RpmaMemory ring, int chunk) {
        this.receiver = receiver;
        this.chunk = chunk;
        slots = new ByteBuffer[(int) (ring.size() / chunk)];
        for (int i = 0; i < slots.length; i++) {
            slots[i] = ring.buffer((long) i * chunk, chunk);
        }
        tickets = new long[slots.length];
        postedAt = new long[slots.length];
    }

    /**
     * Stores the file.
     *
     * @return how long each chunk took, from the post of its write until it is as safe as it gets, in nanoseconds
     */
    Histogram write(SourceFile file, Progress progress) throws IOException, InterruptedException {
        begin();
        file.seek(0);
        long chunks = chunks(file.size());
        for (long n = 0; n < chunks; n++) {
            awaitDone(n + 1 - slots.length);
            int length = length(n, file.size());
            file.fill(slot(n, length));
            postedAt[slotOf(n)] = System.nanoTime();
            posted(receiver.store(Layout.DATA + n * chunk, slotOf(n) * chunk, length));
            receiver.poll();
            countDone();
            progress.update(Math.min(done * chunk, file.size()));
        }
        awaitDone(chunks);
        progress.update(file.size());
        return latency;
    }

    /** Stores the SHA-256 of the file. */
    void writeDigest(byte[] digest) throws IOException, InterruptedException {
        slot(0, digest.length).put(digest);
        receiver.await(receiver.store(Layout.DIGEST, 0, digest.length));
    }

    /** Sets the commit word, in one piece. Everything that it vouches for must have been stored before. */
    void commit(long commitWord) throws IOException, InterruptedException {
        receiver.await(receiver.commit(Layout.COMMIT, commitWord));
    }

    /**
     * Reads the file back.
     *
     * @param size of the file
     * @return the SHA-256 of the bytes that were read
     */
    byte[] read(long size, Progress progress) throws IOException, InterruptedException {
        begin();
        Sha256 digest = new Sha256();
        long chunks = chunks(size);
        for (long n = 0; n < chunks; n++) {
            while (posted < Math.min(chunks, n + slots.length)) {
                postedAt[slotOf(posted)] = System.nanoTime();
                posted(receiver.fetch(Layout.DATA + posted * chunk, slotOf(posted) * chunk, length(posted, size)));
            }
            awaitDone(n + 1);
            int length = length(n, size);
            digest.update(slot(n, length));
            progress.update(n * chunk + length);
        }
        return digest.result();
    }

    private void begin() {
        latency = new Histogram(3);
        posted = 0;
        done = 0;
    }

    /** The next chunk of the phase is under way. */
    private void posted(long ticket) {
        tickets[slotOf(posted)] = ticket;
        posted++;
    }

    /** Waits until the first so many chunks of the phase are done. */
    private void awaitDone(long chunks) throws IOException, InterruptedException {
        while (done < chunks) {
            receiver.await(tickets[slotOf(done)]);
            countDone();
        }
    }

    private void countDone() {
        long now = System.nanoTime();
        while (done < posted && tickets[slotOf(done)] <= receiver.done()) {
            latency.recordValue(now - postedAt[slotOf(done)]);
            done++;
        }
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
