// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.librpma;

import io.rpma.RpmaConn;
import io.rpma.RpmaDevice;
import io.rpma.RpmaEp;
import io.rpma.RpmaMemory;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrUsage;
import io.rpma.RpmaPeer;

/** Offers memory with a message, which the client reads. */
public final class Example02ReadToVolatileServer {
    private static final byte[] MESSAGE = Common.bytes("Hello client!");

    private Example02ReadToVolatileServer() {}

    /**
     * Runs the example.
     *
     * @param args the address and the port to listen on
     * @throws Exception if it fails
     */
    public static void main(String[] args) throws Exception {
        Common.start(args, 2, "02-read-to-volatile server <server_address> <port>");
        try (RpmaMemory memory = RpmaMemory.allocate(MESSAGE.length);
                RpmaPeer peer = RpmaPeer.create(RpmaDevice.local(args[0]));
                RpmaEp ep = RpmaEp.listen(peer, args[0], Common.port(args[1]));
                RpmaMrLocal mr = peer.register(memory, RpmaMrUsage.READ_SRC)) {
            memory.buffer().put(MESSAGE);
            try (RpmaConn conn = Common.accept(ep, null, CommonData.of(mr, 0).toBytes())) {
                Common.awaitClosed(conn);
            }
        }
    }
}
