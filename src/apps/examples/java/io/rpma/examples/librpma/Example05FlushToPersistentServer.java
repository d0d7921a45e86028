// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.librpma;

import io.rpma.RpmaConn;
import io.rpma.RpmaDevice;
import io.rpma.RpmaEp;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrUsage;
import io.rpma.RpmaPeer;
import io.rpma.RpmaPeerCfg;

/**
 * Offers memory, into which the client writes a greeting. The memory is persistent if the path names persistent memory.
 */
public final class Example05FlushToPersistentServer {
    private static final String ON = "on";

    private Example05FlushToPersistentServer() {}

    /**
     * Runs the example.
     *
     * @param args the address and the port to listen on, the path of the memory, and "on" if this machine's platform
     *     writes remote writes to persistent memory directly, bypassing the caches of its processors
     * @throws Exception if it fails
     */
    public static void main(String[] args) throws Exception {
        Common.start(
                args,
                2,
                "05-flush-to-persistent server <server_address> <port> [<pmem-path> [on]]\n"
                        + "on: this machine writes remote writes to persistent memory directly (with Intel processors: DDIO is off)");
        try (CommonMemory mem = CommonMemory.open(
                        Common.argument(args, 2, null), "0", Hello.STRING_SIZE, data -> data.put(0, (byte) 0));
                RpmaPeerCfg pcfg = RpmaPeerCfg.create().setDirectWriteToPmem(isDirectWrite(args, mem));
                RpmaPeer peer = RpmaPeer.create(RpmaDevice.local(args[0]));
                RpmaEp ep = RpmaEp.listen(peer, args[0], Common.port(args[1]));
                RpmaMrLocal mr = peer.register(mem.memory(), usages(mem))) {
            Hello.printOld(mem);
            CommonData data = new CommonData(mem.dataOffset(), mr.getDescriptor(), pcfg.getDescriptor());
            try (RpmaConn conn = Common.accept(ep, null, data.toBytes())) {
                Common.awaitClosed(conn);
            }
            Hello.printNew(mem);
        }
    }

    private static boolean isDirectWrite(String[] args, CommonMemory mem) {
        return mem.memory().isPersistent() && Common.argument(args, 3, "off").equals(ON);
    }

    private static RpmaMrUsage[] usages(CommonMemory mem) {
        return mem.memory().isPersistent()
                ? new RpmaMrUsage[] {
                    RpmaMrUsage.WRITE_DST, RpmaMrUsage.FLUSH_TYPE_VISIBILITY, RpmaMrUsage.FLUSH_TYPE_PERSISTENT
                }
                : new RpmaMrUsage[] {RpmaMrUsage.WRITE_DST, RpmaMrUsage.FLUSH_TYPE_VISIBILITY};
    }
}
