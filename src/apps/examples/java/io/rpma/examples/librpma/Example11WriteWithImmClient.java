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
import java.nio.ByteOrder;

/** Writes a number into the server's memory with immediate data, which notifies the server. */
public final class Example11WriteWithImmClient {
    private Example11WriteWithImmClient() {}

    /**
     * Runs the example.
     *
     * @param args the server's address and port, and the immediate data
     * @throws Exception if it fails
     */
    public static void main(String[] args) throws Exception {
        Common.start(args, 3, "11-write-with-imm client <server_address> <port> <imm>");
        int imm = Common.immediateData(args[2]);
        try (RpmaMemory memory = RpmaMemory.allocate(Common.KILOBYTE);
                RpmaPeer peer = RpmaPeer.create(RpmaDevice.remote(args[0]));
                RpmaMrLocal src = peer.register(memory, RpmaMrUsage.WRITE_SRC);
                RpmaConn conn = Common.connect(peer, args[0], Common.port(args[1]), null, new byte[0])) {
            memory.buffer().order(ByteOrder.LITTLE_ENDIAN).putInt(imm);
            String number = Integer.toUnsignedString(imm);
            Common.OUT.println("Writing value '" + number + "' with immediate data '" + number + "'");
            CommonData data = CommonData.fromBytes(conn.getPrivateData());
            try (RpmaMrRemote dst = data.region(Common.KILOBYTE)) {
                Common.posted(conn.writeWithImm(
                        dst, data.dataOffset(), src, 0, Common.KILOBYTE, RpmaConn.F_COMPLETION_ALWAYS, imm, 0));
            }
            Events events = Events.of(conn);
            events.await(RpmaWcOpcode.RDMA_WRITE);
            events.disconnect();
        }
    }
}
