// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.librpma;

/** Reads the names of up to ten clients at once from their memory, until there is no client for some time. */
public final class Example06MultipleConnectionsServer {
    private Example06MultipleConnectionsServer() {}

    /**
     * Runs the example.
     *
     * @param args the address and the port to listen on, and the time without a client after which the server ends, in
     *     seconds (default: 15)
     * @throws Exception if it fails
     */
    public static void main(String[] args) throws Exception {
        Common.start(args, 2, "06-multiple-connections server <server_address> <port> [<timeout>]");
        MultipleConnections.serve(args, null, Events::of);
    }
}
