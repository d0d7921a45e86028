// SPDX-License-Identifier: BSD-3-Clause
package greeting;

import io.rpma.RpmaConn;
import io.rpma.RpmaConnEvent;
import io.rpma.RpmaDevice;
import io.rpma.RpmaEp;
import io.rpma.RpmaMemory;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrUsage;
import io.rpma.RpmaPeer;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** Offers a page of memory to one client. */
public final class Server {
    private Server() {}

    /** Waits until a client has written and disconnected, and returns the text that it has written. */
    public static String receive(String address, int port, Runnable listening) throws Exception {
        try (RpmaPeer peer = RpmaPeer.create(RpmaDevice.local(address));
                RpmaMemory memory = RpmaMemory.allocate(4096);
                RpmaMrLocal offered = peer.register(
                        memory, RpmaMrUsage.WRITE_DST, RpmaMrUsage.READ_SRC, RpmaMrUsage.FLUSH_TYPE_VISIBILITY);
                RpmaEp ep = RpmaEp.listen(peer, address, port)) {
            listening.run();
            try (RpmaConn client = ep.nextConnReq(null).connect(offered.getDescriptor())) {
                RpmaConnEvent event = client.nextEvent();
                while (event == RpmaConnEvent.ESTABLISHED) {
                    event = client.nextEvent();
                }
                ByteBuffer written = memory.buffer();
                return StandardCharsets.UTF_8
                        .decode(written.slice(4, written.getInt(0)))
                        .toString();
            }
        }
    }

    public static void main(String[] arguments) throws Exception {
        String address = System.getenv("RPMA_ADDRESS");
        System.out.println(receive(address, 7204, () -> System.out.println("listening at " + address)));
    }
}
