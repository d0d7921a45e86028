// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.librpma;

import io.rpma.RpmaConnCfg;

/** As {@link Example09FlushToPersistentGPSPMServer}, with a connection whose queues share a completion channel. */
public final class Example09scchFlushToPersistentGPSPMServer {
    private Example09scchFlushToPersistentGPSPMServer() {}

    /**
     * Runs the example.
     *
     * @param args the address and the port to listen on, and the path of the memory
     * @throws Exception if it fails
     */
    public static void main(String[] args) throws Exception {
        Common.start(args, 2, "09scch-flush-to-persistent-GPSPM server <server_address> <port> [<pmem-path>]");
        try (RpmaConnCfg cfg = RpmaConnCfg.create()
                .setRcqSize(Example09FlushToPersistentGPSPMServer.RCQ_SIZE)
                .setComplChannel(true)) {
            Example09FlushToPersistentGPSPMServer.run(args, cfg, Events::ofChannel);
        }
    }
}
