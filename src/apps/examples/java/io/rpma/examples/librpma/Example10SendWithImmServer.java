// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.librpma;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaConn;
import io.rpma.RpmaDevice;
import io.rpma.RpmaEp;
import io.rpma.RpmaMemory;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrUsage;
import io.rpma.RpmaPeer;
import io.rpma.RpmaWcOpcode;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Receives a message with the immediate data that the private data announces. */
public final class Example10SendWithImmServer {
    private Example10SendWithImmServer() {}

    /**
     * Runs the example.
     *
     * @param args the address and the port to listen on
     * @throws Exception if it fails
     */
    public static void main(String[] args) throws Exception {
        Common.start(args, 2, "10-send-with-imm server <server_address> <port>");
        try (RpmaMemory memory = RpmaMemory.allocate(Common.KILOBYTE);
                RpmaPeer peer = RpmaPeer.create(RpmaDevice.local(args[0]));
                RpmaMrLocal mr = peer.register(memory, RpmaMrUsage.RECV);
                RpmaEp ep = RpmaEp.listen(peer, args[0], Common.port(args[1]));
                RpmaConn conn = Common.accept(
                        ep, null, new byte[0], req -> Common.posted(req.recv(mr, 0, Common.KILOBYTE, 0)))) {
            int expected = announced(conn.getPrivateData());
            Events events = Events.of(conn);
            RpmaCompletions wc = events.awaitReceived(RpmaWcOpcode.RECV);
            int imm = wc.immData(0);
            if (imm != expected) {
                throw new IllegalStateException("Received unexpected immediate data (" + Integer.toUnsignedString(imm)
                        + " != " + Integer.toUnsignedString(expected) + ")");
            }
            String value = Common.text(memory.buffer(0, (int) wc.byteLen(0)));
            Common.OUT.println(
                    "Received value '" + value + "' with immediate data '" + Integer.toUnsignedString(imm) + "'");
            events.awaitClosed();
        }
    }

    /** Returns the immediate data in the client's private data. */
    static int announced(byte[] privateData) {
        if (privateData.length < Integer.BYTES) {
            throw new IllegalStateException("Received connection's private data is too small (" + privateData.length
                    + " < " + Integer.BYTES + ")");
        }
        return ByteBuffer.wrap(privateData).order(ByteOrder.LITTLE_ENDIAN).getInt();
    }
}
