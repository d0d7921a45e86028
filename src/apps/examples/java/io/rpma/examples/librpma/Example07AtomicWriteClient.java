// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.librpma;

import io.rpma.RpmaConn;
import io.rpma.RpmaDevice;
import io.rpma.RpmaFlushType;
import io.rpma.RpmaMemory;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrRemote;
import io.rpma.RpmaMrUsage;
import io.rpma.RpmaPeer;
import io.rpma.RpmaPeerCfg;
import io.rpma.RpmaWcOpcode;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.Set;

/**
 * Appends words to the server's log. Each word is written and flushed before the atomic write that makes it a part of
 * the log, so the log never contains half a word.
 */
public final class Example07AtomicWriteClient {
    private static final long FLUSH_ID = 0xF01D;

    /** The number of bytes that an emulated flush reads. */
    private static final int LEAST_FLUSH = 8;

    private Example07AtomicWriteClient() {}

    /**
     * Runs the example.
     *
     * @param args the server's address and port, and the words
     * @throws Exception if it fails
     */
    public static void main(String[] args) throws Exception {
        Common.start(args, 3, "07-atomic-write client <server_address> <port> <word1> [<word2>] [..]");
        try (RpmaMemory memory = RpmaMemory.allocate(Common.KILOBYTE);
                RpmaPeer peer = RpmaPeer.create(RpmaDevice.remote(args[0]));
                RpmaConn conn = Common.connect(peer, args[0], Common.port(args[1]), null, new byte[0]);
                RpmaMrLocal local = peer.register(memory, RpmaMrUsage.WRITE_SRC, RpmaMrUsage.READ_DST)) {
            CommonData data = CommonData.fromBytes(conn.getPrivateData());
            Events events = Events.of(conn);
            try (RpmaMrRemote remote = data.region(Long.BYTES)) {
                RpmaFlushType type = flushType(conn, remote);
                long usedOffset = data.dataOffset();
                Common.posted(conn.read(local, 0, remote, usedOffset, Long.BYTES, RpmaConn.F_COMPLETION_ALWAYS, 0));
                events.await(RpmaWcOpcode.RDMA_READ);
                long used = Example07AtomicWriteServer.checkUsed(
                        memory.buffer().order(ByteOrder.LITTLE_ENDIAN).getLong(0),
                        usedOffset + Long.BYTES,
                        remote.getSize());
                Common.OUT.println("used value: " + used);
                for (String word : List.of(args).subList(2, args.length)) {
                    byte[] entry = entry(word);
                    if (remote.getSize() - used < Math.max(entry.length, LEAST_FLUSH)) {
                        throw new IllegalStateException("Log size exhausted.");
                    }
                    memory.buffer().put(entry);
                    append(conn, events, remote, type, used, usedOffset, local, entry.length);
                    used += entry.length;
                }
            }
            events.disconnect();
        }
    }

    /** librpma refuses flushes to persistence, also native ones, until the client applies this configuration. */
    private static void allowPersistentFlush(RpmaConn conn) {
        try (RpmaPeerCfg pcfg = RpmaPeerCfg.create().setDirectWriteToPmem(true)) {
            conn.applyRemotePeerCfg(pcfg);
        }
    }

    /** Returns a word with a NUL character at its end, truncated to the size of the memory. */
    private static byte[] entry(String word) {
        byte[] bytes = Common.bytes(word);
        byte[] entry = Arrays.copyOf(bytes, Math.min(bytes.length, Common.KILOBYTE));
        entry[entry.length - 1] = 0;
        return entry;
    }

    private static RpmaFlushType flushType(RpmaConn conn, RpmaMrRemote remote) {
        RpmaFlushType type = strongest(conn.isFlushNative(), remote.getFlushType());
        if (type == RpmaFlushType.PERSISTENT) {
            allowPersistentFlush(conn);
        }
        return type;
    }

    /**
     * Emulated flushes make the words only visible, because no operator has stated that the server's platform does
     * more.
     */
    static RpmaFlushType strongest(boolean isNative, Set<RpmaFlushType> offered) {
        return isNative && offered.contains(RpmaFlushType.PERSISTENT)
                ? RpmaFlushType.PERSISTENT
                : RpmaFlushType.VISIBILITY;
    }

    private static void append(
            RpmaConn conn,
            Events events,
            RpmaMrRemote remote,
            RpmaFlushType type,
            long used,
            long usedOffset,
            RpmaMrLocal local,
            int length)
            throws InterruptedException {
        Common.posted(conn.write(remote, used, local, 0, length, RpmaConn.F_COMPLETION_ON_ERROR, 0));
        Common.posted(conn.flush(remote, used, length, type, RpmaConn.F_COMPLETION_ALWAYS, FLUSH_ID));
        // a native atomic write could overtake an emulated flush
        events.await(FLUSH_ID);
        Common.posted(conn.atomicWrite(remote, usedOffset, used + length, RpmaConn.F_COMPLETION_ON_ERROR, 0));
        Common.posted(conn.flush(remote, usedOffset, Long.BYTES, type, RpmaConn.F_COMPLETION_ALWAYS, FLUSH_ID));
        events.await(FLUSH_ID);
    }
}
