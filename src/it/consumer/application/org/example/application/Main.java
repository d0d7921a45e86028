// SPDX-License-Identifier: BSD-3-Clause
package org.example.application;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaConn;
import io.rpma.RpmaConnEvent;
import io.rpma.RpmaConnReq;
import io.rpma.RpmaDevice;
import io.rpma.RpmaEp;
import io.rpma.RpmaFlushType;
import io.rpma.RpmaMemory;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrRemote;
import io.rpma.RpmaMrUsage;
import io.rpma.RpmaPeer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/** Writes a greeting into the memory of the other side of a connection. Both sides are in this process. */
public final class Main {
    private static final byte[] GREETING = "Hello, remote memory!".getBytes(StandardCharsets.UTF_8);

    private Main() {}

    /** Arguments: the address of the device, and a port. Prints the bytes that have arrived. */
    public static void main(String[] arguments) throws Exception {
        String address = arguments[0];
        int port = Integer.parseInt(arguments[1]);
        try (RpmaPeer peer = RpmaPeer.create(RpmaDevice.local(address));
                RpmaMemory source = RpmaMemory.allocate(GREETING.length);
                RpmaMemory target = RpmaMemory.allocate(GREETING.length);
                RpmaMrLocal from = peer.register(source, RpmaMrUsage.WRITE_SRC);
                RpmaMrLocal offered = peer.register(
                        target, RpmaMrUsage.WRITE_DST, RpmaMrUsage.READ_SRC, RpmaMrUsage.FLUSH_TYPE_VISIBILITY);
                RpmaEp ep = RpmaEp.listen(peer, address, port);
                RpmaConn client = RpmaConnReq.create(peer, address, port, null).connect();
                RpmaConn server = ep.nextConnReq(null).connect(offered.getDescriptor())) {
            if (client.nextEvent() != RpmaConnEvent.ESTABLISHED || server.nextEvent() != RpmaConnEvent.ESTABLISHED) {
                throw new IOException("not connected");
            }
            source.buffer().put(GREETING);
            write(client, from);
            System.out.println(StandardCharsets.UTF_8.decode(target.buffer()));
        }
    }

    private static void write(RpmaConn client, RpmaMrLocal from) throws Exception {
        try (RpmaMrRemote target = RpmaMrRemote.fromDescriptor(client.getPrivateData())) {
            client.write(target, 0, from, 0, GREETING.length, RpmaConn.F_COMPLETION_ON_ERROR, 1);
            client.flush(target, 0, GREETING.length, RpmaFlushType.VISIBILITY, RpmaConn.F_COMPLETION_ALWAYS, 2);
            RpmaCompletions completions = RpmaCompletions.create(1);
            client.getCq().await(completions);
            if (!completions.isSuccess(0)) {
                throw new IOException("not written: " + completions.status(0));
            }
        }
    }
}
