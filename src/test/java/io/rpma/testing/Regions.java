// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.testing;

import io.rpma.RpmaMemory;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrRemote;
import io.rpma.RpmaMrUsage;
import io.rpma.RpmaPeer;
import java.util.Random;

/** A local and a remote region on the peer of a pair, with all usages that every device allows for fresh memory. */
public final class Regions implements AutoCloseable {
    /** All usages that every device allows for fresh memory. */
    public static final RpmaMrUsage[] ALL = {
        RpmaMrUsage.READ_SRC,
        RpmaMrUsage.READ_DST,
        RpmaMrUsage.WRITE_SRC,
        RpmaMrUsage.WRITE_DST,
        RpmaMrUsage.FLUSH_TYPE_VISIBILITY,
        RpmaMrUsage.SEND,
        RpmaMrUsage.RECV
    };

    /** The memory of {@link #local}. */
    public final RpmaMemory localMemory;
    /** The memory of {@link #target}. */
    public final RpmaMemory remoteMemory;
    /** The region that the client posts from. */
    public final RpmaMrLocal local;
    /** The target of the client's writes, as the server has registered it. */
    public final RpmaMrLocal target;
    /** The target of the client's writes, as the client uses it in posts. */
    public final RpmaMrRemote remote;

    /** Registers two regions of the same size. */
    public Regions(RpmaPeer peer, long size) {
        localMemory = RpmaMemory.allocate(size);
        remoteMemory = RpmaMemory.allocate(size);
        local = peer.register(localMemory, ALL);
        target = peer.register(remoteMemory, ALL);
        remote = Pair.remote(target);
    }

    /** Fills the local region with random bytes. */
    public void fillLocal(long seed) {
        Random random = new Random(seed);
        byte[] bytes = new byte[(int) localMemory.size()];
        random.nextBytes(bytes);
        localMemory.buffer().put(bytes);
    }

    @Override
    public void close() {
        remote.close();
        target.close();
        local.close();
        remoteMemory.close();
        localMemory.close();
    }
}
