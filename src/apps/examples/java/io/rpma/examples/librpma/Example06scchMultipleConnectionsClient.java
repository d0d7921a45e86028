// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.librpma;

/** Offers memory with a name, which the server reads: the same client as {@link Example06MultipleConnectionsClient}. */
public final class Example06scchMultipleConnectionsClient {
    private Example06scchMultipleConnectionsClient() {}

    /**
     * Runs the example.
     *
     * @param args the server's address and port, and a number that picks the name
     * @throws Exception if it fails
     */
    public static void main(String[] args) throws Exception {
        Example06MultipleConnectionsClient.run(args, "06scch-multiple-connections");
    }
}
