// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.programs;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.rpma.RpmaConn;
import io.rpma.RpmaConnEvent;
import io.rpma.RpmaConnReq;
import io.rpma.RpmaDevice;
import io.rpma.RpmaEp;
import io.rpma.RpmaMemory;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrUsage;
import io.rpma.RpmaPeer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32;

/**
 * The other side in {@code TwoProcessesIT} and {@code HostDeathIT}: offers memory to a client, and prints its checksum.
 */
public final class TargetProgram {
    public static final int SIZE = 1 << 20;
    public static final String LISTENING = "listening";
    public static final String CONNECTED = "connected";
    public static final String CHECKSUM = "checksum ";

    private TargetProgram() {}

    /**
     * @param arguments the address and the port
     */
    public static void main(String[] arguments) throws InterruptedException {
        String address = arguments[0];
        int port = Integer.parseInt(arguments[1]);
        try (RpmaPeer peer = RpmaPeer.create(RpmaDevice.local(address));
                RpmaMemory memory = RpmaMemory.allocate(SIZE);
                RpmaMrLocal region = peer.register(
                        memory, RpmaMrUsage.WRITE_DST, RpmaMrUsage.READ_SRC, RpmaMrUsage.FLUSH_TYPE_VISIBILITY);
                RpmaEp ep = RpmaEp.listen(peer, address, port)) {
            System.out.println(LISTENING);
            // without timeouts: the test that started this process ends it
            try (RpmaConnReq request = ep.nextConnReq(null);
                    RpmaConn conn = request.connect(region.getDescriptor())) {
                serve(conn, memory);
            }
        }
    }

    private static void serve(RpmaConn conn, RpmaMemory memory) throws InterruptedException {
        assertEquals(RpmaConnEvent.ESTABLISHED, conn.nextEvent());
        System.out.println(CONNECTED);
        assertEquals(RpmaConnEvent.CLOSED, conn.nextEvent());
        ByteBuffer content = memory.buffer().order(ByteOrder.nativeOrder());
        System.out.println(CHECKSUM + checksum(content.slice(8, SIZE - 8)) + " " + content.getLong(0));
    }

    public static long checksum(ByteBuffer bytes) {
        CRC32 crc = new CRC32();
        crc.update(bytes);
        return crc.getValue();
    }
}
