// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.librpma;

import io.rpma.RpmaConn;
import io.rpma.RpmaDevice;
import io.rpma.RpmaEp;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrUsage;
import io.rpma.RpmaPeer;

/**
 * Offers memory, into which the client writes a greeting. The memory is persistent if the path names persistent memory.
 */
public final class Example04WriteToPersistentServer {
    private Example04WriteToPersistentServer() {}

    /**
     * Runs the example.
     *
     * @param args the address and the port to listen on, and the path of the memory
     * @throws Exception if it fails
     */
    public static void main(String[] args) throws Exception {
        Common.start(args, 2, "04-write-to-persistent server <server_address> <port> [<pmem-path>]");
        try (CommonMemory mem = CommonMemory.open(
                        Common.argument(args, 2, null), "0", Hello.STRING_SIZE, data -> data.put(0, (byte) 0));
                RpmaPeer peer = RpmaPeer.create(RpmaDevice.local(args[0]));
                RpmaEp ep = RpmaEp.listen(peer, args[0], Common.port(args[1]));
                RpmaMrLocal mr = peer.register(mem.memory(), RpmaMrUsage.WRITE_DST, RpmaMrUsage.READ_SRC)) {
            Hello.printOld(mem);
            byte[] data = CommonData.of(mr, mem.dataOffset()).toBytes();
            try (RpmaConn conn = Common.accept(ep, null, data)) {
                Common.awaitClosed(conn);
            }
            Hello.printNew(mem);
        }
    }
}
