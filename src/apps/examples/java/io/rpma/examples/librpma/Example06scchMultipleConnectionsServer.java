// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.librpma;

import io.rpma.RpmaConnCfg;

/** As {@link Example06MultipleConnectionsServer}, with connections whose queues share a completion channel. */
public final class Example06scchMultipleConnectionsServer {
    private Example06scchMultipleConnectionsServer() {}

    /**
     * Runs the example.
     *
     * @param args the address and the port to listen on, and the time without a client after which the server ends, in
     *     seconds (default: 15)
     * @throws Exception if it fails
     */
    public static void main(String[] args) throws Exception {
        Common.start(args, 2, "06scch-multiple-connections server <server_address> <port> [<timeout>]");
        try (RpmaConnCfg cfg = RpmaConnCfg.create().setComplChannel(true)) {
            MultipleConnections.serve(args, cfg, Events::ofChannel);
        }
    }
}
