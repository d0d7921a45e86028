// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.librpma;

import io.rpma.RpmaConn;
import io.rpma.RpmaDevice;
import io.rpma.RpmaEp;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrRemote;
import io.rpma.RpmaMrUsage;
import io.rpma.RpmaPeer;
import io.rpma.RpmaWcOpcode;

/**
 * Reads a greeting from the client's memory into its own memory, which is persistent if the path names persistent
 * memory.
 */
public final class Example03ReadToPersistentServer {
    private Example03ReadToPersistentServer() {}

    /**
     * Runs the example.
     *
     * @param args the address and the port to listen on, and the path of the memory
     * @throws Exception if it fails
     */
    public static void main(String[] args) throws Exception {
        Common.start(args, 2, "03-read-to-persistent server <server_address> <port> [<pmem-path>]");
        try (CommonMemory mem = CommonMemory.open(
                        Common.argument(args, 2, null), "0", Hello.STRING_SIZE, data -> data.put(0, (byte) 0));
                RpmaPeer peer = RpmaPeer.create(RpmaDevice.local(args[0]));
                RpmaEp ep = RpmaEp.listen(peer, args[0], Common.port(args[1]));
                RpmaMrLocal dst = peer.register(mem.memory(), RpmaMrUsage.READ_DST);
                RpmaConn conn = Common.accept(ep, null, new byte[0])) {
            Hello.printOld(mem);
            CommonData data = CommonData.fromBytes(conn.getPrivateData());
            try (RpmaMrRemote src = data.region(Hello.STRING_SIZE)) {
                Common.posted(conn.read(
                        dst,
                        mem.dataOffset(),
                        src,
                        data.dataOffset(),
                        Hello.STRING_SIZE,
                        RpmaConn.F_COMPLETION_ALWAYS,
                        0));
            }
            Events events = Events.of(conn);
            events.await(RpmaWcOpcode.RDMA_READ);
            mem.persist(Hello.STRING_SIZE);
            Hello.printNew(mem);
            events.disconnect();
        }
    }
}
