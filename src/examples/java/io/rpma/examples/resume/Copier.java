package io.rpma.examples.resume;

import io.rpma.examples.common.RemoteStore;
import io.rpma.examples.common.SourceFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.function.LongConsumer;

/**
 * Copies a file into the server's memory, from where the last copying has ended.
 *
 * <p>Of each block: write, flush, atomic write of the position behind it, flush. Nothing waits in between: the order on the
 * connection carries the commit. When the server is lost, what is in its memory tells how far it came, and not what this
 * program has been told of: blocks under way may be there or not.
 */
final class Copier {
    private static final int BLOCK = 64 << 10;

    /** How many blocks are under way at most. */
    private static final int DEPTH = 8;

    /** How many operations have to fit into the send queue: a store and a commit of each block under way. */
    static final int OPERATIONS = 4 * DEPTH;

    /** How much staging memory this takes. */
    static final int STAGING = DEPTH * BLOCK;

    private final SourceFile file;
    private final byte[] digest;
    private final ByteBuffer staging;
    private final LongConsumer progress;
    private long position;

    /** A block that may not be there yet. */
    private record UnderWay(long end, long ticket) {}

    /**
     * Sets up the copying.
     *
     * @param digest the file's SHA-256
     * @param staging the staging memory of the server
     * @param progress is told how many bytes are committed
     */
    Copier(SourceFile file, byte[] digest, ByteBuffer staging, LongConsumer progress) {
        this.file = file;
        this.digest = digest;
        this.staging = staging;
        this.progress = progress;
    }

    /** How many bytes are known to be committed. */
    long position() {
        return position;
    }

    /**
     * Finds out how much of the file is there, or starts over.
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
        position = Math.min(position, there); // what was found counts when it is flushed
        if (found.isEmpty()) {
            server.await(server.commit(CopyLayout.COMMIT_OFFSET, CopyLayout.NOTHING));
            CopyLayout.describe(staging, file.size(), digest);
            server.store(0, 0, CopyLayout.DESCRIPTION_LENGTH);
        }
        // Also what was found: the connection may have broken between its atomic write and the flush.
        server.commit(CopyLayout.COMMIT_OFFSET, CopyLayout.committed(there));
        announce(server);
        position = there;
    }

    private void announce(RemoteStore server) throws IOException, InterruptedException {
        server.await(server.commit(CopyLayout.ANNOUNCEMENT_OFFSET, CopyLayout.announcement(file.size())));
    }

    /**
     * Copies the rest.
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
            file.checkUnchanged(); // the next commit says that the copy is complete
        }
        return new UnderWay(end, server.commit(CopyLayout.COMMIT_OFFSET, CopyLayout.committed(end)));
    }
}
