// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.librpma;

import io.rpma.RpmaConn;
import io.rpma.RpmaDevice;
import io.rpma.RpmaEp;
import io.rpma.RpmaMemory;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrUsage;
import io.rpma.RpmaPeer;
import io.rpma.RpmaWcOpcode;
import java.nio.ByteOrder;

/** Offers memory. Immediate data notifies the server of the client's write. */
public final class Example11WriteWithImmServer {
    private Example11WriteWithImmServer() {}

    /**
     * Runs the example.
     *
     * @param args the address and the port to listen on
     * @throws Exception if it fails
     */
    public static void main(String[] args) throws Exception {
        Common.start(args, 2, "11-write-with-imm server <server_address> <port>");
        try (RpmaMemory memory = RpmaMemory.allocate(Common.KILOBYTE);
                RpmaMemory recvMemory = RpmaMemory.allocate(1);
                RpmaPeer peer = RpmaPeer.create(RpmaDevice.local(args[0]));
                RpmaMrLocal dst = peer.register(memory, RpmaMrUsage.WRITE_DST);
                RpmaMrLocal recv = peer.register(recvMemory, RpmaMrUsage.RECV);
                RpmaEp ep = RpmaEp.listen(peer, args[0], Common.port(args[1]));
                // Immediate data consumes a receive, but writes nothing into its memory.
                RpmaConn conn = Common.accept(
                        ep, null, CommonData.of(dst, 0).toBytes(), req -> Common.posted(req.recv(recv, 0, 1, 0)))) {
            Events events = Events.of(conn);
            String imm = Integer.toUnsignedString(
                    events.awaitReceived(RpmaWcOpcode.RECV_RDMA_WITH_IMM).immData(0));
            String value = Integer.toUnsignedString(
                    memory.buffer().order(ByteOrder.LITTLE_ENDIAN).getInt());
            if (!imm.equals(value)) {
                throw new IllegalStateException("Received unexpected immediate data (" + imm + " != " + value + ")");
            }
            Common.OUT.println("The value '" + value + "' was written together with immediate data '" + imm + "'");
            events.awaitClosed();
        }
    }
}
