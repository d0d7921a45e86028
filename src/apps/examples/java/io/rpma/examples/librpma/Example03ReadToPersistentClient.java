// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.librpma;

import io.rpma.RpmaConn;
import io.rpma.RpmaDevice;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrUsage;
import io.rpma.RpmaPeer;
import java.nio.ByteBuffer;

/** Offers memory with a greeting, which the server reads. */
public final class Example03ReadToPersistentClient {
    private Example03ReadToPersistentClient() {}

    /**
     * Runs the example.
     *
     * @param args the server's address and port, the path of the greeting's memory, and the offset in this memory
     * @throws Exception if it fails
     */
    public static void main(String[] args) throws Exception {
        Common.start(args, 2, "03-read-to-persistent client <server_address> <port> [<pmem-path> [<pmem-offset>]]");
        try (CommonMemory mem = CommonMemory.open(
                        Common.argument(args, 2, null), Common.argument(args, 3, "0"), Hello.SIZE, Hello::init);
                RpmaPeer peer = RpmaPeer.create(RpmaDevice.remote(args[0]));
                RpmaMrLocal src = peer.register(mem.memory(), RpmaMrUsage.READ_SRC)) {
            ByteBuffer hello = mem.data(Hello.SIZE);
            Common.OUT.println("Next value: " + Hello.greeting(hello));
            byte[] data =
                    CommonData.of(src, mem.dataOffset() + Hello.STRING_OFFSET).toBytes();
            try (RpmaConn conn = Common.connect(peer, args[0], Common.port(args[1]), null, data)) {
                Common.awaitClosed(conn);
            }
            Hello.translate(hello);
            mem.persist(Hello.SIZE);
            Common.OUT.println("Translation: " + Hello.greeting(hello));
        }
    }
}
