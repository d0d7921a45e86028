// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.librpma;

import io.rpma.RpmaConn;
import io.rpma.RpmaConnCfg;
import io.rpma.RpmaDevice;
import io.rpma.RpmaEp;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrUsage;
import io.rpma.RpmaPeer;
import io.rpma.RpmaWcOpcode;
import io.rpma.examples.librpma.Gpspm.GPSPM_flush_request;
import io.rpma.examples.librpma.Gpspm.GPSPM_flush_response;
import java.util.Locale;
import java.util.function.Function;

/**
 * Offers memory, into which the client writes a greeting, and makes the greeting persistent at the client's request.
 * This is the general purpose server persistency method, for platforms on which a remote flush does not make bytes
 * persistent.
 */
public final class Example09FlushToPersistentGPSPMServer {
    /** The maximum size of a message. */
    static final int MESSAGE_SIZE = 512;

    /** There is at most one receive at a time. */
    static final int RCQ_SIZE = 1;

    private Example09FlushToPersistentGPSPMServer() {}

    /**
     * Runs the example.
     *
     * @param args the address and the port to listen on, and the path of the memory
     * @throws Exception if it fails
     */
    public static void main(String[] args) throws Exception {
        Common.start(args, 2, "09-flush-to-persistent-GPSPM server <server_address> <port> [<pmem-path>]");
        try (RpmaConnCfg cfg = RpmaConnCfg.create().setRcqSize(RCQ_SIZE)) {
            run(args, cfg, Events::of);
        }
    }

    /** Runs this example or 09scch. */
    static void run(String[] args, RpmaConnCfg cfg, Function<RpmaConn, Events> eventsOf) throws Exception {
        try (CommonMemory mem = CommonMemory.open(
                        Common.argument(args, 2, null), "0", Hello.STRING_SIZE, data -> data.put(0, (byte) 0));
                RpmaPeer peer = RpmaPeer.create(RpmaDevice.local(args[0]));
                RpmaEp ep = RpmaEp.listen(peer, args[0], Common.port(args[1]));
                RpmaMrLocal mr = peer.register(mem.memory(), RpmaMrUsage.WRITE_DST, mem.flushUsage());
                Messages messages = new Messages(peer, MESSAGE_SIZE)) {
            Hello.printOld(mem);
            byte[] data = CommonData.of(mr, mem.dataOffset()).toBytes();
            try (RpmaConn conn = Common.accept(ep, cfg, data, messages::recv)) {
                Events events = eventsOf.apply(conn);
                GPSPM_flush_request request = GPSPM_flush_request.parseFrom(messages.received(events.awaitReceived()));
                Common.OUT.println(describe(request));
                mem.memory().persist(request.getOffset(), request.getLength());
                messages.send(conn, response(request).toByteArray());
                events.await(RpmaWcOpcode.SEND);
                events.awaitClosed();
            }
            Hello.printNew(mem);
        }
    }

    private static String describe(GPSPM_flush_request request) {
        return String.format(
                Locale.ROOT,
                "Flush request received: {offset: 0x%X, length: 0x%X, op_context: 0x%X}",
                request.getOffset(),
                request.getLength(),
                request.getOpContext());
    }

    static GPSPM_flush_response response(GPSPM_flush_request request) {
        return GPSPM_flush_response.newBuilder()
                .setOpContext(request.getOpContext())
                .build();
    }
}
