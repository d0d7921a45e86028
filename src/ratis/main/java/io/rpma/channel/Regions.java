// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.channel;

import io.rpma.RpmaMemory;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrUsage;
import io.rpma.RpmaPeer;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * The registered memory for the large messages of one direction of a connection. Each region is of one connection, so
 * that another side can't read it. Registration is slow, so regions are used again.
 */
final class Regions implements AutoCloseable {
    private static final int LEAST_BITS = 16;

    private final RpmaPeer peer;
    private final RpmaMrUsage usage;
    private final long limit;
    private final Deque<Region> free = new ArrayDeque<>();
    private long bytes;
    private int used;
    private boolean closed;

    /** A registered memory. */
    static final class Region {
        private final RpmaMemory memory;
        private final RpmaMrLocal mr;

        private Region(RpmaPeer peer, long size, RpmaMrUsage usage) {
            memory = RpmaMemory.allocate(size);
            boolean registered = false;
            try {
                mr = peer.register(memory, usage);
                registered = true;
            } finally {
                if (!registered) {
                    memory.close();
                }
            }
        }

        RpmaMrLocal mr() {
            return mr;
        }

        ByteBuffer bytes(int length) {
            return memory.buffer(0, length);
        }

        private void close() {
            mr.close();
            memory.close();
        }
    }

    /**
     * Makes an empty set.
     *
     * @param limit the maximum number of bytes, which only a single larger message exceeds
     */
    Regions(RpmaPeer peer, RpmaMrUsage usage, long limit) {
        this.peer = peer;
        this.usage = usage;
        this.limit = limit;
    }

    /** Returns a region for a message; null if the regions in use are too large. */
    synchronized Region take(int length) {
        if (closed) {
            return null;
        }
        long size = 1L << Math.max(LEAST_BITS, Long.SIZE - Long.numberOfLeadingZeros(length - 1L));
        Region found = null;
        for (Region region : free) {
            if (region.memory.size() == size) {
                found = region;
            }
        }
        if (found != null) {
            free.remove(found);
        } else {
            while (bytes + size > limit && !free.isEmpty()) {
                drop(free.removeFirst());
            }
            if (bytes + size > limit && used > 0) {
                return null;
            }
            found = new Region(peer, size, usage);
            bytes += size;
        }
        used++;
        return found;
    }

    synchronized void giveBack(Region region) {
        used--;
        if (closed || bytes > limit) {
            drop(region);
        } else {
            free.addLast(region);
        }
    }

    private void drop(Region region) {
        bytes -= region.memory.size();
        region.close();
    }

    /** Frees the regions, when the connection is closed. Those in use are freed when they are given back. */
    @Override
    public synchronized void close() {
        closed = true;
        while (!free.isEmpty()) {
            drop(free.removeFirst());
        }
    }
}
