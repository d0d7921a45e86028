// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.rdmacm;

import io.rpma.rdmacm.RdmaConnParam;
import io.rpma.rdmacm.RdmaId;

/** {@code rdma_client} of rdmacm-utils: sends one message and receives the answer. */
public final class RdmaClient {
    private RdmaClient() {}

    /**
     * Runs the example.
     *
     * @param args the address and the port of the server
     * @throws InterruptedException never
     */
    public static void main(String[] args) throws InterruptedException {
        Side.start(args, "RdmaClient ADDRESS PORT");
        System.out.println("rdma_client: start");
        Side.withConnection(args, RdmaMessages.attr(), RdmaClient::exchange);
        System.out.println("rdma_client: end 0");
    }

    private static void exchange(RdmaId id) throws InterruptedException {
        try (RdmaMessages messages = new RdmaMessages(id)) {
            Side.connect(id, new RdmaConnParam());
            messages.send();
            messages.receive();
            id.disconnect();
        }
    }
}
