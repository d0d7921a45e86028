// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.librpma;

import io.rpma.RpmaConnCfg;

/** As {@link Example09FlushToPersistentGPSPMClient}, with a connection whose queues share a completion channel. */
public final class Example09scchFlushToPersistentGPSPMClient {
    private Example09scchFlushToPersistentGPSPMClient() {}

    /**
     * Runs the example.
     *
     * @param args the server's address and port, the path of the greeting's memory, and the offset in this memory
     * @throws Exception if it fails
     */
    public static void main(String[] args) throws Exception {
        Common.start(
                args,
                2,
                "09scch-flush-to-persistent-GPSPM client <server_address> <port> [<pmem-path> [<pmem-offset>]]");
        try (RpmaConnCfg cfg = RpmaConnCfg.create()
                .setRcqSize(Example09FlushToPersistentGPSPMServer.RCQ_SIZE)
                .setComplChannel(true)) {
            Example09FlushToPersistentGPSPMClient.run(args, cfg, Events::ofChannel);
        }
    }
}
