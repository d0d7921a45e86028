// SPDX-License-Identifier: BSD-3-Clause
package greeting;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaConn;
import io.rpma.RpmaConnReq;
import io.rpma.RpmaDevice;
import io.rpma.RpmaFlushType;
import io.rpma.RpmaMemory;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrRemote;
import io.rpma.RpmaMrUsage;
import io.rpma.RpmaPeer;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;

/** Writes a text into the memory of the server, and reads it back. */
public final class Client {
    /** Offset in the client's memory of the bytes that are read. */
    private static final int READ = 2048;

    private Client() {}

    /** Writes a text, and returns the text that the server's memory has then. */
    public static String send(String address, int port, String text) throws Exception {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        int length = 4 + bytes.length;
        try (RpmaPeer peer = RpmaPeer.create(RpmaDevice.remote(address));
                RpmaMemory memory = RpmaMemory.allocate(4096);
                RpmaMrLocal local = peer.register(memory, RpmaMrUsage.WRITE_SRC, RpmaMrUsage.READ_DST);
                RpmaConn server = RpmaConnReq.create(peer, address, port, null).connect(10, TimeUnit.SECONDS)) {
            memory.buffer().putInt(0, bytes.length).put(4, bytes);
            try (RpmaMrRemote target = RpmaMrRemote.fromDescriptor(server.getPrivateData())) {
                server.write(target, 0, local, 0, length, RpmaConn.F_COMPLETION_ON_ERROR, 1);
                server.flush(target, 0, length, RpmaFlushType.VISIBILITY, RpmaConn.F_COMPLETION_ALWAYS, 2);
                await(server, "flush");
                server.read(local, READ, target, 0, length, RpmaConn.F_COMPLETION_ALWAYS, 3);
                await(server, "read");
            }
            ByteBuffer read = memory.buffer();
            return StandardCharsets.UTF_8
                    .decode(read.slice(READ + 4, read.getInt(READ)))
                    .toString();
        }
    }

    private static void await(RpmaConn server, String operation) throws IOException, InterruptedException {
        RpmaCompletions completions = RpmaCompletions.create(1);
        if (server.getCq().awaitWhileConnected(completions, 10, TimeUnit.SECONDS) == 0 || !completions.isSuccess(0)) {
            throw new IOException(operation + " failed: " + completions);
        }
    }

    public static void main(String[] arguments) throws Exception {
        System.out.println("read: " + send(System.getenv("RPMA_ADDRESS"), 7204, String.join(" ", arguments)));
    }
}
