package io.rpma;

import java.util.Random;

/** A local and a remote region on the peer of a pair, with every usage that the device allows for fresh memory. */
final class Regions implements AutoCloseable {
    static final RpmaMrUsage[] ALL = {
        RpmaMrUsage.READ_SRC,
        RpmaMrUsage.READ_DST,
        RpmaMrUsage.WRITE_SRC,
        RpmaMrUsage.WRITE_DST,
        RpmaMrUsage.FLUSH_TYPE_VISIBILITY,
        RpmaMrUsage.SEND,
        RpmaMrUsage.RECV
    };

    final RpmaMemory localMemory;
    final RpmaMemory remoteMemory;
    final RpmaMrLocal local;
    final RpmaMrLocal target;
    final RpmaMrRemote remote;

    Regions(RpmaPeer peer, long size) {
        localMemory = RpmaMemory.allocate(size);
        remoteMemory = RpmaMemory.allocate(size);
        local = peer.register(localMemory, ALL);
        target = peer.register(remoteMemory, ALL);
        remote = Pair.remote(target);
    }

    void fillLocal(long seed) {
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
