// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.channel;

import io.rpma.RpmaMrUsage;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The memory for the large messages of one direction of a connection. Registration is slow, so some blocks are kept and
 * used again. A block is of one connection: another side that keeps its descriptor can't read the messages of others.
 */
final class Blocks implements AutoCloseable {
    private static final int LEAST_BITS = 16;

    /** The most bytes that are kept while no message needs them. */
    private static final int MOST_FREE = 4 << 20;

    private final Channels channels;
    private final RpmaMrUsage usage;
    private final AtomicLong used = new AtomicLong();
    // guarded by this object
    private final Deque<Block> free = new ArrayDeque<>();
    private int freeBytes;
    private boolean closed;

    Blocks(Channels channels, RpmaMrUsage usage) {
        this.channels = channels;
        this.usage = usage;
    }

    /** Returns the number of bytes of the blocks in use. */
    long used() {
        return used.get();
    }

    private static int size(int length) {
        return 1 << Math.max(LEAST_BITS, Integer.SIZE - Integer.numberOfLeadingZeros(length - 1));
    }

    /** Returns a block for a message that is left from another one, or null. */
    synchronized Block poll(int length) {
        int size = size(length);
        Block block = free.stream().filter(b -> b.size() == size).findFirst().orElse(null);
        if (block != null) {
            free.remove(block);
            freeBytes -= size;
            used.addAndGet(size);
        }
        return block;
    }

    /** Returns a block for a message. It may have to register it, which takes time. */
    Block take(int length) {
        Block block = poll(length);
        if (block == null) {
            block = channels.register(size(length), usage);
            used.addAndGet(block.size());
        }
        return block;
    }

    void giveBack(Block block) {
        used.addAndGet(-block.size());
        synchronized (this) {
            if (!closed && freeBytes + block.size() <= MOST_FREE) {
                free.addFirst(block);
                freeBytes += block.size();
                return;
            }
        }
        channels.execute(() -> channels.free(block));
    }

    /** Closes the free blocks. Those in use are closed when they are given back. */
    @Override
    public synchronized void close() {
        closed = true;
        free.forEach(channels::free);
        free.clear();
    }
}
