// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.librpma;

import io.rpma.RpmaConn;
import io.rpma.RpmaDevice;
import io.rpma.RpmaMemory;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrUsage;
import io.rpma.RpmaPeer;
import io.rpma.RpmaWcOpcode;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/** Sends a message with immediate data, or immediate data alone. */
public final class Example10SendWithImmClient {
    private Example10SendWithImmClient() {}

    /**
     * Runs the example.
     *
     * @param args the server's address and port, the immediate data, and a word
     * @throws Exception if it fails
     */
    public static void main(String[] args) throws Exception {
        Common.start(args, 3, "10-send-with-imm client <server_address> <port> <imm> [word]");
        int imm = Common.immediateData(args[2]);
        String word = Common.argument(args, 3, null);
        try (RpmaMemory memory = RpmaMemory.allocate(Common.KILOBYTE);
                RpmaPeer peer = RpmaPeer.create(RpmaDevice.remote(args[0]));
                RpmaMrLocal mr = peer.register(memory, RpmaMrUsage.SEND);
                RpmaConn conn = Common.connect(peer, args[0], Common.port(args[1]), null, announcement(imm))) {
            if (word == null) {
                Common.OUT.println("Sending immediate data '" + Integer.toUnsignedString(imm) + "'");
                Common.posted(conn.sendWithImm(RpmaConn.F_COMPLETION_ALWAYS, imm, 0));
            } else {
                Common.OUT.println(
                        "Sending value '" + word + "' with immediate data '" + Integer.toUnsignedString(imm) + "'");
                byte[] bytes = word.getBytes(StandardCharsets.UTF_8);
                memory.buffer().put(bytes, 0, Math.min(bytes.length, Common.KILOBYTE - 1));
                Common.posted(conn.sendWithImm(mr, 0, Common.KILOBYTE, RpmaConn.F_COMPLETION_ALWAYS, imm, 0));
            }
            Events events = Events.of(conn);
            events.await(RpmaWcOpcode.SEND);
            events.disconnect();
        }
    }

    /** Returns the private data, which announces the immediate data to the server. */
    static byte[] announcement(int imm) {
        return ByteBuffer.allocate(Integer.BYTES)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt(imm)
                .array();
    }
}
