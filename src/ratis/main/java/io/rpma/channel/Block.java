// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.channel;

import io.rpma.RpmaMemory;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrUsage;
import io.rpma.RpmaPeer;
import java.nio.ByteBuffer;

/** A registered memory. */
final class Block implements AutoCloseable {
    private final RpmaMemory memory;
    private final RpmaMrLocal region;

    Block(RpmaPeer peer, long size, RpmaMrUsage... usages) {
        memory = RpmaMemory.allocate(size);
        boolean registered = false;
        try {
            region = peer.register(memory, usages);
            registered = true;
        } finally {
            if (!registered) {
                memory.close();
            }
        }
    }

    RpmaMrLocal region() {
        return region;
    }

    long size() {
        return memory.size();
    }

    ByteBuffer bytes(long offset, int length) {
        return memory.buffer(offset, length);
    }

    @Override
    public void close() {
        try {
            region.close();
        } finally {
            memory.close();
        }
    }
}
