// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.librpma;

import io.rpma.RpmaConn;
import io.rpma.RpmaConnCfg;
import io.rpma.RpmaDevice;
import io.rpma.RpmaEp;
import io.rpma.RpmaPeer;

/** Answers messages. Receives and sends have separate completion queues. */
public final class Example12ReceiveCompletionQueueServer {
    private static final int RCQ_SIZE = 10;

    private Example12ReceiveCompletionQueueServer() {}

    /**
     * Runs the example.
     *
     * @param args the address and the port to listen on
     * @throws Exception if it fails
     */
    public static void main(String[] args) throws Exception {
        Common.start(args, 2, "12-receive-completion-queue server <server_address> <port>");
        try (RpmaPeer peer = RpmaPeer.create(RpmaDevice.local(args[0]));
                RpmaEp ep = RpmaEp.listen(peer, args[0], Common.port(args[1]));
                Messages messages = new Messages(peer, PingPong.SIZE);
                RpmaConnCfg cfg = RpmaConnCfg.create().setRcqSize(RCQ_SIZE);
                RpmaConn conn = Common.accept(ep, cfg, new byte[0], messages::recv)) {
            Events events = Events.of(conn);
            new PingPong("SERVER: Value", conn, events, messages).serve(() -> messages.recv(conn));
            events.disconnect();
        }
    }
}
