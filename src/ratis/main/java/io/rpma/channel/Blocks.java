// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.channel;

import io.rpma.RpmaMrUsage;
import io.rpma.RpmaPeer;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * The memory for the large messages of one direction of a connection. Registration is slow, so some blocks are kept and
 * used again. A block is of one connection: another side that keeps its descriptor can't read the messages of others.
 */
final class Blocks implements AutoCloseable {
    private static final int LEAST_BITS = 16;

    /** The most bytes that are kept while no message needs them. */
    private static final long MOST_FREE = 4 << 20;

    private final RpmaPeer peer;
    private final RpmaMrUsage usage;
    private final Deque<Block> free = new ArrayDeque<>();
    private long freeBytes;
    private long usedBytes;
    private boolean closed;

    Blocks(RpmaPeer peer, RpmaMrUsage usage) {
        this.peer = peer;
        this.usage = usage;
    }

    /** Returns the number of bytes of the blocks in use. */
    synchronized long used() {
        return usedBytes;
    }

    /** Returns a block for a message. */
    synchronized Block take(int length) {
        long size = 1L << Math.max(LEAST_BITS, Long.SIZE - Long.numberOfLeadingZeros(length - 1L));
        Block block = free.stream().filter(b -> b.size() == size).findFirst().orElse(null);
        if (block == null) {
            block = new Block(peer, size, usage);
        } else {
            free.remove(block);
            freeBytes -= size;
        }
        usedBytes += size;
        return block;
    }

    synchronized void giveBack(Block block) {
        usedBytes -= block.size();
        free.addLast(block);
        freeBytes += block.size();
        while (freeBytes > (closed ? 0 : MOST_FREE)) {
            Block first = free.removeFirst();
            freeBytes -= first.size();
            first.close();
        }
    }

    /** Closes the free blocks. Those in use are closed when they are given back. */
    @Override
    public synchronized void close() {
        closed = true;
        while (!free.isEmpty()) {
            free.removeFirst().close();
        }
        freeBytes = 0;
    }
}
