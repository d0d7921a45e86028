// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.channel;

import io.rpma.RpmaMemory;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrUsage;
import io.rpma.RpmaPeer;
import java.nio.ByteBuffer;

/** Buffers of equal size in one registered memory. */
final class Buffers implements AutoCloseable {
    private final int size;
    private final RpmaMemory memory;
    private final RpmaMrLocal region;
    private final ByteBuffer[] buffers;

    Buffers(RpmaPeer peer, RpmaMrUsage usage, int count, int size) {
        this.size = size;
        buffers = new ByteBuffer[count];
        memory = RpmaMemory.allocate((long) count * size);
        boolean registered = false;
        try {
            for (int i = 0; i < count; i++) {
                buffers[i] = memory.buffer((long) i * size, size);
            }
            region = peer.register(memory, usage);
            registered = true;
        } finally {
            if (!registered) {
                memory.close();
            }
        }
    }

    int count() {
        return buffers.length;
    }

    int size() {
        return size;
    }

    RpmaMrLocal region() {
        return region;
    }

    long offset(int index) {
        return (long) index * size;
    }

    /** Returns all bytes of a buffer. */
    ByteBuffer buffer(int index) {
        return buffers[index].clear();
    }

    @Override
    public void close() {
        region.close();
        memory.close();
    }
}
