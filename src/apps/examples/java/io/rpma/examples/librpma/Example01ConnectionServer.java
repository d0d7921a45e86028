// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.librpma;

import io.rpma.RpmaConn;
import io.rpma.RpmaDevice;
import io.rpma.RpmaEp;
import io.rpma.RpmaPeer;
import java.nio.ByteBuffer;

/** Accepts one connection and disconnects. Each side sends a message in the private data. */
public final class Example01ConnectionServer {
    private Example01ConnectionServer() {}

    /**
     * Runs the example.
     *
     * @param args the address and the port to listen on
     * @throws Exception if it fails
     */
    public static void main(String[] args) throws Exception {
        Common.start(args, 2, "01-connection server <server_address> <port>");
        try (RpmaPeer peer = RpmaPeer.create(RpmaDevice.local(args[0]));
                RpmaEp ep = RpmaEp.listen(peer, args[0], Common.port(args[1]));
                RpmaConn conn = Common.accept(ep, null, Common.bytes("Hello client!"))) {
            Common.OUT.println("Received a message: " + Common.text(ByteBuffer.wrap(conn.getPrivateData())));
            Common.disconnect(conn);
        }
    }
}
