// SPDX-License-Identifier: BSD-3-Clause
import io.rpma.RpmaConn;
import io.rpma.RpmaConnReq;
import io.rpma.RpmaDevice;
import io.rpma.RpmaEp;
import io.rpma.RpmaException;
import io.rpma.RpmaMemory;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrUsage;
import io.rpma.RpmaPeer;
import io.rpma.RpmaPeerCfg;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.Set;

/** Offers a file or a device DAX to a ReplicatedMap: java MapStore ADDRESS PORT PATH. */
public final class MapStore {
    private MapStore() {}

    public static void main(String[] arguments) throws Exception {
        String address = arguments[0];
        int port = Integer.parseInt(arguments[1]);
        try (RpmaPeer peer = RpmaPeer.create(RpmaDevice.local(address));
                RpmaMemory memory = RpmaMemory.map(Path.of(arguments[2]), ReplicatedMap.SIZE);
                RpmaMrLocal region = peer.register(memory, usages(memory));
                RpmaEp ep = RpmaEp.listen(peer, address, port)) {
            System.out.println("offering " + memory);
            serve(ep, offer(peer, region));
        }
    }

    private static RpmaMrUsage[] usages(RpmaMemory memory) {
        Set<RpmaMrUsage> usages =
                EnumSet.of(RpmaMrUsage.WRITE_DST, RpmaMrUsage.READ_SRC, RpmaMrUsage.FLUSH_TYPE_VISIBILITY);
        if (memory.isPersistent()) {
            usages.add(RpmaMrUsage.FLUSH_TYPE_PERSISTENT);
        }
        return usages.toArray(RpmaMrUsage[]::new);
    }

    /** The answer to a client: a mark, how flushes make bytes persistent here, and the descriptor of the region. */
    private static byte[] offer(RpmaPeer peer, RpmaMrLocal region) {
        try (RpmaPeerCfg cfg =
                RpmaPeerCfg.create().setDirectWriteToPmem(peer.device().isFlushNative())) {
            return ByteBuffer.allocate(Long.BYTES + RpmaPeerCfg.DESCRIPTOR_SIZE + RpmaMrLocal.DESCRIPTOR_SIZE)
                    .putLong(ReplicatedMap.MARK)
                    .put(cfg.getDescriptor())
                    .put(region.getDescriptor())
                    .array();
        }
    }

    /** Accepts one client after the other. */
    private static void serve(RpmaEp ep, byte[] offer) throws InterruptedException {
        RpmaConn client = null;
        while (true) {
            try (RpmaConnReq request = ep.nextConnReq(null)) {
                if (client != null) {
                    client.close();
                }
                client = request.connect(offer);
            } catch (RpmaException e) {
                System.out.println("no client: " + e.getMessage());
                Thread.sleep(100);
            }
        }
    }
}
