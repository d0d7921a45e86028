// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.channel;

import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrUsage;
import io.rpma.RpmaPeer;
import java.nio.ByteBuffer;

/** The buffers for the small messages of a connection, in one registered memory that no other side can access. */
final class Buffers implements AutoCloseable {
    private final int size;
    private final Block block;
    private final ByteBuffer[] buffers;

    Buffers(RpmaPeer peer, int count, int size) {
        this.size = size;
        buffers = new ByteBuffer[count];
        block = new Block(peer, (long) count * size, RpmaMrUsage.SEND, RpmaMrUsage.RECV);
        for (int i = 0; i < count; i++) {
            buffers[i] = block.bytes(offset(i), size);
        }
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
    ByteBuffer get(int index) {
        return buffers[index].clear();
    }

    @Override
    public void close() {
        block.close();
    }
}
