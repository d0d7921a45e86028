// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.resume;

import io.rpma.support.RemoteStore;
import io.rpma.support.SourceFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.function.LongConsumer;

/**
 * Copies a file into the server's memory. Continues at the position of the last commit.
 *
 * <p>Each block has four operations: a write, a flush, an atomic write of the position after the block, and a flush.
 * Several blocks are under way at once, because {@link RemoteStore} keeps the order of the operations. After a loss of
 * the server, the position is read from the server's memory, because blocks under way may or may not be committed.
 */
final class Copier {
    static final int BLOCK = 64 << 10;

    /** The maximum number of blocks under way. */
    private static final int DEPTH = 8;

    /** The necessary size of the send queue: a store and a commit for each block under way. */
    static final int OPERATIONS = 4 * DEPTH;

    /** The necessary size of the staging memory. */
    static final int STAGING = DEPTH * BLOCK;

    private final SourceFile file;
    private final byte[] digest;
    private final ByteBuffer staging;
    private final LongConsumer progress;
    private long position;

    /** A block that is not committed yet. */
    private record UnderWay(long end, long ticket) {}

    /**
     * Sets up the copying.
     *
     * @param digest the file's SHA-256
     * @param staging the staging memory of the server
     * @param progress gets the number of committed bytes
     */
    Copier(SourceFile file, byte[] digest, ByteBuffer staging, LongConsumer progress) {
        this.file = file;
        this.digest = digest;
        this.staging = staging;
        this.progress = progress;
    }

    /** Returns the number of bytes that are known to be committed. */
    long position() {
        return position;
    }

    /**
     * Determines the committed position, or begins a new copy.
     *
     * @throws IOException if the file does not fit
     */
    void resume(RemoteStore server) throws IOException, InterruptedException {
        long capacity = CopyLayout.capacity(server.size());
        if (file.size() > capacity) {
            announce(server);
            throw file.tooLarge(capacity, "the server's memory");
        }
        server.read(0, 0, CopyLayout.HEADER_LENGTH);
        Optional<CopyLayout.Copy> found =
                CopyLayout.read(staging, server.size()).filter(copy -> copy.isOf(file.size(), digest));
        long there = found.map(CopyLayout.Copy::position).orElse(0L);
        position = Math.min(position, there); // the found position counts only after its flush
        if (found.isEmpty()) {
            server.await(server.commit(CopyLayout.COMMIT_OFFSET, CopyLayout.NOTHING));
            CopyLayout.describe(staging, file.size(), digest);
            server.store(0, 0, CopyLayout.DESCRIPTION_LENGTH);
        }
        // Flush the found position too: the connection may have broken between its atomic write and its flush.
        server.commit(CopyLayout.COMMIT_OFFSET, CopyLayout.committed(there));
        announce(server);
        position = there;
    }

    private void announce(RemoteStore server) throws IOException, InterruptedException {
        server.await(server.commit(CopyLayout.ANNOUNCEMENT_OFFSET, CopyLayout.announcement(file.size())));
    }

    /**
     * Copies the rest of the file.
     *
     * @throws IOException if the file has changed
     */
    void copy(RemoteStore server) throws IOException, InterruptedException {
        Deque<UnderWay> underWay = new ArrayDeque<>();
        file.seek(position);
        long next = position;
        int slot = 0;
        while (position < file.size()) {
            while (next < file.size() && underWay.size() < DEPTH) {
                UnderWay block = post(server, next, slot * BLOCK);
                underWay.add(block);
                next = block.end();
                slot = (slot + 1) % DEPTH;
            }
            UnderWay oldest = underWay.remove();
            server.await(oldest.ticket());
            position = oldest.end();
            progress.accept(position);
        }
    }

    private UnderWay post(RemoteStore server, long begin, int stagingOffset) throws IOException, InterruptedException {
        int length = (int) Math.min(BLOCK, file.size() - begin);
        file.fill(staging.slice(stagingOffset, length));
        server.store(CopyLayout.DATA + begin, stagingOffset, length);
        long end = begin + length;
        if (end == file.size()) {
            file.checkUnchanged(); // the next commit declares the copy complete
        }
        return new UnderWay(end, server.commit(CopyLayout.COMMIT_OFFSET, CopyLayout.committed(end)));
    }
}
