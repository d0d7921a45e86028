// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.channel;

import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrUsage;
import io.rpma.RpmaPeer;
import java.nio.ByteBuffer;

/** Buffers of equal size in one registered memory. */
final class Buffers implements AutoCloseable {
    private final int size;
    private final Block block;
    private final ByteBuffer[] buffers;

    Buffers(RpmaPeer peer, RpmaMrUsage usage, int count, int size) {
        this.size = size;
        buffers = new ByteBuffer[count];
        block = new Block(peer, (long) count * size, usage);
        for (int i = 0; i < count; i++) {
            buffers[i] = block.bytes(offset(i), size);
        }
    }

    int count() {
        return buffers.length;
    }

    int size() {
        return size;
    }

    RpmaMrLocal region() {
        return block.region();
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
        block.close();
    }
}
