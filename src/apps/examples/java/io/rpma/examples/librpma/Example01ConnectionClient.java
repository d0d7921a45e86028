// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.librpma;

import io.rpma.RpmaConn;
import io.rpma.RpmaDevice;
import io.rpma.RpmaPeer;
import java.nio.ByteBuffer;

/** Connects, and waits for the server to disconnect. Each side sends a message in the private data. */
public final class Example01ConnectionClient {
    private Example01ConnectionClient() {}

    /**
     * Runs the example.
     *
     * @param args the server's address and port
     * @throws Exception if it fails
     */
    public static void main(String[] args) throws Exception {
        Common.start(args, 2, "01-connection client <server_address> <port>");
        try (RpmaPeer peer = RpmaPeer.create(RpmaDevice.remote(args[0]));
                RpmaConn conn =
                        Common.connect(peer, args[0], Common.port(args[1]), null, Common.bytes("Hello server!"))) {
            Common.OUT.println("Received a message: " + Common.text(ByteBuffer.wrap(conn.getPrivateData())));
            Common.awaitClosed(conn);
        }
    }
}
