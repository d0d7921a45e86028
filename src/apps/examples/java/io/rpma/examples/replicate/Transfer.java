// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.replicate;

import io.rpma.RpmaMemory;
import io.rpma.support.Progress;
import io.rpma.support.RemoteMemory;
import io.rpma.support.Sha256;
import io.rpma.support.SourceFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.HdrHistogram.Histogram;

/**
 * The operations on the receiver's memory, pipelined through a ring of buffers.
 *
 * <p>The ring is the staging memory, divided into slots of one chunk each. Chunk {@code n} uses slot {@code n} modulo
 * the number of slots. Operations are done in the order of their posts: when chunk {@code n} is done, all earlier
 * chunks are done, and their slots are free.
 */
final class Transfer {
    private final RemoteMemory receiver;
    private final ByteBuffer[] slots;
    private final int chunk;
    private final long[] tickets;
    private final long[] postedAt;

    // The state of the current phase. A phase begins when all operations of the previous phase are done.
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
     * @return the time of each chunk in nanoseconds, from the post of its write until it is flushed or its request is
     *     answered
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

    /** Sets the commit word atomically. The header and the file must be stored before. */
    void commit(long commitWord) throws IOException, InterruptedException {
        receiver.await(receiver.commit(Layout.COMMIT, commitWord));
    }

    /**
     * Reads the file back.
     *
     * @param size of the file
     * @return the SHA-256 of the bytes read
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

    /** Records that the next chunk of the phase is under way. */
    private void posted(long ticket) {
        tickets[slotOf(posted)] = ticket;
        posted++;
    }

    /** Waits until this number of chunks of the phase is done. */
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
