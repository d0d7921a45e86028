// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.rdmacm;

import io.rpma.rdmacm.RdmaConnParam;
import io.rpma.rdmacm.RdmaId;

/** {@code rdma_server} of rdmacm-utils: receives one message and answers it. */
public final class RdmaServer {
    private RdmaServer() {}

    /**
     * Runs the example.
     *
     * @param args the address and the port
     * @throws InterruptedException never
     */
    public static void main(String[] args) throws InterruptedException {
        Side.start(args, "RdmaServer ADDRESS PORT");
        System.out.println("rdma_server: start");
        try (RdmaId listener = Side.listen(args, RdmaMessages.attr());
                RdmaId id = listener.getRequest();
                RdmaMessages messages = new RdmaMessages(id)) {
            Side.accept(id, new RdmaConnParam());
            messages.receive();
            messages.send();
            id.disconnect();
        }
        System.out.println("rdma_server: end 0");
    }
}
