// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.librpma;

import io.rpma.RpmaConn;
import io.rpma.RpmaDevice;
import io.rpma.RpmaPeer;

/** Sends messages, and waits for the answer to each message. Other clients make no difference here. */
public final class Example13MessagesPingPongWithSrqClient {
    private Example13MessagesPingPongWithSrqClient() {}

    /**
     * Runs the example.
     *
     * @param args the server's address and port, the first number, the number of rounds, and the time to sleep after
     *     each round, in microseconds
     * @throws Exception if it fails
     */
    public static void main(String[] args) throws Exception {
        Common.start(
                args, 4, "13-messages-ping-pong-with-srq client <server_address> <port> <seed> <rounds> [<sleep>]");
        long seed = Common.number(args[2]);
        long rounds = Common.number(args[3]);
        long sleep = Common.number(Common.argument(args, 4, "0"));
        try (RpmaPeer peer = RpmaPeer.create(RpmaDevice.remote(args[0]));
                Messages messages = new Messages(peer, PingPong.SIZE);
                RpmaConn conn = Common.connect(peer, args[0], Common.port(args[1]), null, new byte[0])) {
            String who = "[client #" + ProcessHandle.current().pid() + "] value";
            Events events = Events.of(conn);
            new PingPong(who, conn, events, messages).play(seed, rounds, sleep);
            events.awaitClosed();
        }
    }
}
