// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.librpma;

import io.rpma.RpmaConn;
import io.rpma.RpmaDevice;
import io.rpma.RpmaEp;
import io.rpma.RpmaPeer;

/** Answers messages until the client's last message. */
public final class Example08MessagesPingPongServer {
    private Example08MessagesPingPongServer() {}

    /**
     * Runs the example.
     *
     * @param args the address and the port to listen on
     * @throws Exception if it fails
     */
    public static void main(String[] args) throws Exception {
        Common.start(args, 2, "08-messages-ping-pong server <server_address> <port>");
        try (RpmaPeer peer = RpmaPeer.create(RpmaDevice.local(args[0]));
                RpmaEp ep = RpmaEp.listen(peer, args[0], Common.port(args[1]));
                Messages messages = new Messages(peer, PingPong.SIZE);
                RpmaConn conn = Common.accept(ep, null, new byte[0], messages::recv)) {
            Events events = Events.of(conn);
            new PingPong("Value", conn, events, messages).serve(() -> messages.recv(conn));
            events.disconnect();
        }
    }
}
