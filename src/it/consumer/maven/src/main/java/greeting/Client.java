package greeting;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaConn;
import io.rpma.RpmaConnEvent;
import io.rpma.RpmaConnReq;
import io.rpma.RpmaDevice;
import io.rpma.RpmaFlushType;
import io.rpma.RpmaMemory;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrRemote;
import io.rpma.RpmaMrUsage;
import io.rpma.RpmaPeer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/** Writes a text into the memory of the server. */
public final class Client {
    private Client() {}

    /** Writes a text, and returns when the server's processors see it. */
    public static void send(String address, int port, String text) throws Exception {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        try (RpmaPeer peer = RpmaPeer.create(RpmaDevice.local(address));
                RpmaMemory memory = RpmaMemory.allocate(4096);
                RpmaMrLocal source = peer.register(memory, RpmaMrUsage.WRITE_SRC);
                RpmaConn server = RpmaConnReq.create(peer, address, port, null).connect()) {
            RpmaConnEvent event = server.nextEvent();
            if (event != RpmaConnEvent.ESTABLISHED) {
                throw new IOException("not connected: " + event);
            }
            memory.buffer().putInt(0, bytes.length).put(4, bytes);
            try (RpmaMrRemote target = RpmaMrRemote.fromDescriptor(server.getPrivateData())) {
                server.write(target, 0, source, 0, 4 + bytes.length, RpmaConn.F_COMPLETION_ON_ERROR, 1);
                server.flush(target, 0, 4 + bytes.length, RpmaFlushType.VISIBILITY, RpmaConn.F_COMPLETION_ALWAYS, 2);
                RpmaCompletions completions = RpmaCompletions.create(1);
                server.getCq().await(completions);
                if (!completions.isSuccess(0)) {
                    throw new IOException("not written: " + completions.status(0));
                }
            }
        }
    }

    public static void main(String[] arguments) throws Exception {
        send(System.getenv("RPMA_ADDRESS"), 7204, String.join(" ", arguments));
    }
}
