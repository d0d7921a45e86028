// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.librpma;

import io.rpma.RpmaConn;
import io.rpma.RpmaDevice;
import io.rpma.RpmaMemory;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrRemote;
import io.rpma.RpmaMrUsage;
import io.rpma.RpmaPeer;
import io.rpma.RpmaWcOpcode;

/** Reads a message from the server's memory. */
public final class Example02ReadToVolatileClient {
    private Example02ReadToVolatileClient() {}

    /**
     * Runs the example.
     *
     * @param args the server's address and port
     * @throws Exception if it fails
     */
    public static void main(String[] args) throws Exception {
        Common.start(args, 2, "02-read-to-volatile client <server_address> <port>");
        try (RpmaMemory memory = RpmaMemory.allocate(Common.KILOBYTE);
                RpmaPeer peer = RpmaPeer.create(RpmaDevice.remote(args[0]));
                RpmaMrLocal dst = peer.register(memory, RpmaMrUsage.READ_DST);
                RpmaConn conn = Common.connect(peer, args[0], Common.port(args[1]), null, new byte[0])) {
            CommonData data = CommonData.fromBytes(conn.getPrivateData());
            try (RpmaMrRemote src = data.region(0)) {
                // The read throws an exception if the message is larger than the memory.
                Common.posted(conn.read(dst, 0, src, 0, src.getSize(), RpmaConn.F_COMPLETION_ALWAYS, 0));
            }
            Events events = Events.of(conn);
            events.await(RpmaWcOpcode.RDMA_READ);
            Common.OUT.println("Read a message: " + Common.text(memory.buffer()));
            events.disconnect();
        }
    }
}
