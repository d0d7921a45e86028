package io.rpma;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32;

/** The other process of {@link TwoProcessesIT}: offers memory to one client, and tells what it has at the end. */
final class TargetProgram {
    static final int SIZE = 1 << 20;
    static final String LISTENING = "listening";
    static final String CONNECTED = "connected";
    static final String CHECKSUM = "checksum ";

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
            // the test that has started this ends it, should nobody come
            try (RpmaConnReq request = ep.nextConnReq(null);
                    RpmaConn conn = request.connect(region.getDescriptor())) {
                serve(conn, memory);
            }
        }
    }

    private static void serve(RpmaConn conn, RpmaMemory memory) throws InterruptedException {
        Pair.assertEvent(RpmaConnEvent.ESTABLISHED, conn);
        System.out.println(CONNECTED);
        Pair.assertEvent(RpmaConnEvent.CLOSED, conn);
        ByteBuffer content = memory.buffer().order(ByteOrder.nativeOrder());
        System.out.println(CHECKSUM + checksum(content.slice(8, SIZE - 8)) + " " + content.getLong(0));
    }

    static long checksum(ByteBuffer bytes) {
        CRC32 crc = new CRC32();
        crc.update(bytes);
        return crc.getValue();
    }
}
