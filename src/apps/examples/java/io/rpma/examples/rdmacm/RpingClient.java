// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.rdmacm;

import io.rpma.rdmacm.RdmaId;

/** {@code rping -c -v -V}: pings a server, and checks the bytes that come back. */
public final class RpingClient {
    private static final int DEFAULT_COUNT = 3;

    private RpingClient() {}

    /**
     * Runs the example.
     *
     * @param args the address and the port of the server, the number of pings (default: 3), and the size of a ping in
     *     bytes (default: 64)
     * @throws InterruptedException never
     */
    public static void main(String[] args) throws InterruptedException {
        Side.start(args, "RpingClient ADDRESS PORT [COUNT [SIZE]]");
        int count = Side.number(args, 2, DEFAULT_COUNT);
        int size = Side.number(args, 3, Rping.DEFAULT_SIZE);
        Side.withConnection(args, Rping.attr(), id -> ping(id, count, size));
    }

    private static void ping(RdmaId id, int count, int size) throws InterruptedException {
        try (Rping rping = new Rping(id, size)) {
            Side.connect(id, Rping.param());
            for (int i = 0; i < count; i++) {
                System.out.println("ping data: " + rping.ping(i));
            }
            id.disconnect();
        }
    }
}
