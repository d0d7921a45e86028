// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.librpma;

import io.rpma.RpmaConn;
import io.rpma.RpmaConnCfg;
import io.rpma.RpmaDevice;
import io.rpma.RpmaPeer;
import io.rpma.RpmaWcOpcode;

/**
 * Sends messages, and waits for the answer to each message. Receives and sends have separate completion queues, which
 * share a completion channel.
 */
public final class Example12scchReceiveCompletionQueueClient {
    private static final int RCQ_SIZE = 10;

    private Example12scchReceiveCompletionQueueClient() {}

    /**
     * Runs the example.
     *
     * @param args the server's address and port, the first number, the number of rounds including the last message, and
     *     the time to sleep after each round, in microseconds
     * @throws Exception if it fails
     */
    public static void main(String[] args) throws Exception {
        Common.start(
                args,
                4,
                "12scch-receive-completion-queue client <server_address> <port> <start_value> <rounds> [<sleep>]");
        long start = Common.number(args[2]);
        long rounds = Common.number(args[3]);
        long sleep = Common.number(Common.argument(args, 4, "0"));
        try (RpmaPeer peer = RpmaPeer.create(RpmaDevice.remote(args[0]));
                Messages messages = new Messages(peer, PingPong.SIZE);
                RpmaConnCfg cfg = RpmaConnCfg.create().setRcqSize(RCQ_SIZE).setComplChannel(true);
                RpmaConn conn = Common.connect(peer, args[0], Common.port(args[1]), cfg, new byte[0])) {
            Events events = Events.ofChannel(conn);
            new PingPong("CLIENT: Value", conn, events, messages).play(start, rounds - 1, sleep);
            // A disconnect would drop a message under way.
            events.awaitLast(RpmaWcOpcode.SEND);
            events.disconnect();
        }
    }
}
