// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.librpma;

import io.rpma.RpmaConn;
import io.rpma.RpmaDevice;
import io.rpma.RpmaMemory;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrRemote;
import io.rpma.RpmaMrUsage;
import io.rpma.RpmaPeer;
import io.rpma.RpmaWcOpcode;
import java.nio.ByteBuffer;

/** Writes a greeting into the server's memory, and flushes it by a read of a few bytes, without a flush operation. */
public final class Example04WriteToPersistentClient {
    private static final int RAW_SIZE = 8;

    private Example04WriteToPersistentClient() {}

    /**
     * Runs the example.
     *
     * @param args the server's address and port, the path of the greeting's memory, and the offset in this memory
     * @throws Exception if it fails
     */
    public static void main(String[] args) throws Exception {
        Common.start(args, 2, "04-write-to-persistent client <server_address> <port> [<pmem-path> [<pmem-offset>]]");
        try (CommonMemory mem = CommonMemory.open(
                        Common.argument(args, 2, null), Common.argument(args, 3, "0"), Hello.SIZE, Hello::init);
                RpmaMemory rawMemory = RpmaMemory.allocate(RAW_SIZE);
                RpmaPeer peer = RpmaPeer.create(RpmaDevice.remote(args[0]));
                RpmaConn conn = Common.connect(peer, args[0], Common.port(args[1]), null, new byte[0]);
                RpmaMrLocal src = peer.register(mem.memory(), RpmaMrUsage.WRITE_SRC);
                RpmaMrLocal raw = peer.register(rawMemory, RpmaMrUsage.READ_DST)) {
            ByteBuffer hello = mem.data(Hello.SIZE);
            Common.OUT.println("Next value: " + Hello.greeting(hello));
            CommonData data = CommonData.fromBytes(conn.getPrivateData());
            try (RpmaMrRemote dst = data.region(Hello.STRING_SIZE)) {
                long from = mem.dataOffset() + Hello.STRING_OFFSET;
                Common.posted(conn.write(
                        dst, data.dataOffset(), src, from, Hello.STRING_SIZE, RpmaConn.F_COMPLETION_ON_ERROR, 0));
                // The server's device carries out the read after the write is visible.
                Common.posted(conn.read(raw, 0, dst, 0, RAW_SIZE, RpmaConn.F_COMPLETION_ALWAYS, 0));
            }
            Events events = Events.of(conn);
            events.await(RpmaWcOpcode.RDMA_READ);
            Hello.translate(hello);
            mem.persist(Hello.SIZE);
            Common.OUT.println("Translation: " + Hello.greeting(hello));
            events.disconnect();
        }
    }
}
