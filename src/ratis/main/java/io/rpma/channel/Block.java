// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.channel;

import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrUsage;
import io.rpma.RpmaPeer;
import java.nio.ByteBuffer;

/** A registered memory. The JVM limits it, and collects garbage at the limit: see {@code -XX:MaxDirectMemorySize}. */
final class Block implements AutoCloseable {
    private final ByteBuffer memory;
    private final RpmaMrLocal region;

    Block(RpmaPeer peer, int size, RpmaMrUsage... usages) {
        memory = ByteBuffer.allocateDirect(size);
        region = peer.register(memory, usages);
    }

    RpmaMrLocal region() {
        return region;
    }

    int size() {
        return memory.capacity();
    }

    /** Returns a new buffer: whoever gets it can change its order of bytes. */
    ByteBuffer bytes(int offset, int length) {
        return memory.slice(offset, length);
    }

    @Override
    public void close() {
        region.close();
    }
}
