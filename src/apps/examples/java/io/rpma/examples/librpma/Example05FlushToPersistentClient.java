// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.librpma;

import io.rpma.RpmaConn;
import io.rpma.RpmaDevice;
import io.rpma.RpmaFlushType;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrRemote;
import io.rpma.RpmaMrUsage;
import io.rpma.RpmaPeer;
import io.rpma.RpmaPeerCfg;
import java.nio.ByteBuffer;

/** Writes a greeting into the server's memory and flushes it there, to persistence if the server supports that. */
public final class Example05FlushToPersistentClient {
    private static final long FLUSH_ID = 0xF01D;

    private Example05FlushToPersistentClient() {}

    /**
     * Runs the example.
     *
     * @param args the server's address and port, the path of the greeting's memory, and the offset in this memory
     * @throws Exception if it fails
     */
    public static void main(String[] args) throws Exception {
        Common.start(args, 2, "05-flush-to-persistent client <server_address> <port> [<pmem-path> [<pmem-offset>]]");
        try (CommonMemory mem = CommonMemory.open(
                        Common.argument(args, 2, null), Common.argument(args, 3, "0"), Hello.SIZE, Hello::init);
                RpmaPeer peer = RpmaPeer.create(RpmaDevice.remote(args[0]));
                RpmaConn conn = Common.connect(peer, args[0], Common.port(args[1]), null, new byte[0]);
                RpmaMrLocal src = peer.register(mem.memory(), RpmaMrUsage.WRITE_SRC)) {
            ByteBuffer hello = mem.data(Hello.SIZE);
            Common.OUT.println("Next value: " + Hello.greeting(hello));
            CommonData data = CommonData.fromBytes(conn.getPrivateData());
            try (RpmaMrRemote dst = data.region(Hello.STRING_SIZE)) {
                long from = mem.dataOffset() + Hello.STRING_OFFSET;
                Common.posted(conn.write(
                        dst, data.dataOffset(), src, from, Hello.STRING_SIZE, RpmaConn.F_COMPLETION_ON_ERROR, 0));
                Common.posted(conn.flush(
                        dst,
                        data.dataOffset(),
                        Hello.STRING_SIZE,
                        flushType(conn, data),
                        RpmaConn.F_COMPLETION_ALWAYS,
                        FLUSH_ID));
            }
            Events events = Events.of(conn);
            events.await(FLUSH_ID);
            Hello.translate(hello);
            mem.persist(Hello.SIZE);
            Common.OUT.println("Translation: " + Hello.greeting(hello));
            events.disconnect();
        }
    }

    /**
     * Applies the configuration of the server's platform to the connection, and returns the strongest possible flush.
     */
    private static RpmaFlushType flushType(RpmaConn conn, CommonData data) {
        try (RpmaPeerCfg pcfg = RpmaPeerCfg.fromDescriptor(data.pcfgDesc())) {
            conn.applyRemotePeerCfg(pcfg);
            if (pcfg.getDirectWriteToPmem()) {
                Common.OUT.println("RPMA_FLUSH_TYPE_PERSISTENT is supported");
                return RpmaFlushType.PERSISTENT;
            }
            Common.OUT.println(
                    "RPMA_FLUSH_TYPE_PERSISTENT is NOT supported, RPMA_FLUSH_TYPE_VISIBILITY is used instead");
            return RpmaFlushType.VISIBILITY;
        }
    }
}
