// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.rdmacm;

import io.rpma.rdmacm.RdmaId;

/** {@code rping -s -v}: answers the pings of one client. */
public final class RpingServer {
    private RpingServer() {}

    /**
     * Runs the example.
     *
     * @param args the address, the port, and the size of a ping in bytes (default: 64)
     * @throws InterruptedException never
     */
    public static void main(String[] args) throws InterruptedException {
        Side.start(args, "RpingServer ADDRESS PORT [SIZE]");
        try (RdmaId listener = Side.listen(args, Rping.attr());
                RdmaId id = listener.getRequest();
                Rping rping = new Rping(id, Side.number(args, 2, Rping.DEFAULT_SIZE))) {
            Side.accept(id, Rping.param());
            for (String data = rping.answer(); data != null; data = rping.answer()) {
                System.out.println("server ping data: " + data);
            }
            id.disconnect();
        }
    }
}
