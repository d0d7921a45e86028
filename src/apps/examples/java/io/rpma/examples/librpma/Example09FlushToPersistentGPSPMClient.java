// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.librpma;

import io.rpma.RpmaConn;
import io.rpma.RpmaConnCfg;
import io.rpma.RpmaDevice;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrRemote;
import io.rpma.RpmaMrUsage;
import io.rpma.RpmaPeer;
import io.rpma.examples.librpma.Gpspm.GPSPM_flush_request;
import io.rpma.examples.librpma.Gpspm.GPSPM_flush_response;
import java.nio.ByteBuffer;
import java.util.function.Function;

/** Writes a greeting into the server's memory, and sends the server a request to make it persistent. */
public final class Example09FlushToPersistentGPSPMClient {
    private static final long FLUSH_ID = 0xF01D;

    private Example09FlushToPersistentGPSPMClient() {}

    /**
     * Runs the example.
     *
     * @param args the server's address and port, the path of the greeting's memory, and the offset in this memory
     * @throws Exception if it fails
     */
    public static void main(String[] args) throws Exception {
        Common.start(
                args, 2, "09-flush-to-persistent-GPSPM client <server_address> <port> [<pmem-path> [<pmem-offset>]]");
        try (RpmaConnCfg cfg = RpmaConnCfg.create().setRcqSize(Example09FlushToPersistentGPSPMServer.RCQ_SIZE)) {
            run(args, cfg, Events::of);
        }
    }

    /** Runs this example or 09scch. */
    static void run(String[] args, RpmaConnCfg cfg, Function<RpmaConn, Events> eventsOf) throws Exception {
        try (CommonMemory mem = CommonMemory.open(
                        Common.argument(args, 2, null), Common.argument(args, 3, "0"), Hello.SIZE, Hello::init);
                RpmaPeer peer = RpmaPeer.create(RpmaDevice.remote(args[0]));
                RpmaConn conn = Common.connect(peer, args[0], Common.port(args[1]), cfg, new byte[0]);
                RpmaMrLocal src = peer.register(mem.memory(), RpmaMrUsage.WRITE_SRC);
                Messages messages = new Messages(peer, Example09FlushToPersistentGPSPMServer.MESSAGE_SIZE)) {
            ByteBuffer hello = mem.data(Hello.SIZE);
            Common.OUT.println("Next value: " + Hello.greeting(hello));
            CommonData data = CommonData.fromBytes(conn.getPrivateData());
            try (RpmaMrRemote dst = data.region(Hello.STRING_SIZE)) {
                long from = mem.dataOffset() + Hello.STRING_OFFSET;
                Common.posted(conn.write(
                        dst, data.dataOffset(), src, from, Hello.STRING_SIZE, RpmaConn.F_COMPLETION_ON_ERROR, 0));
            }
            messages.recv(conn);
            messages.send(conn, request(data.dataOffset(), Hello.STRING_SIZE).toByteArray());
            Events events = eventsOf.apply(conn);
            check(GPSPM_flush_response.parseFrom(messages.received(events.awaitSentAndReceived())));
            Hello.translate(hello);
            mem.persist(Hello.SIZE);
            Common.OUT.println("Translation: " + Hello.greeting(hello));
            events.disconnect();
        }
    }

    static GPSPM_flush_request request(long offset, long length) {
        return GPSPM_flush_request.newBuilder()
                .setOffset(offset)
                .setLength(length)
                .setOpContext(FLUSH_ID)
                .build();
    }

    private static void check(GPSPM_flush_response response) {
        if (response.getOpContext() != FLUSH_ID) {
            throw new IllegalStateException("a response to operation " + response.getOpContext());
        }
    }
}
