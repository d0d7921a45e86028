// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.librpma;

import io.rpma.RpmaConn;
import io.rpma.RpmaDevice;
import io.rpma.RpmaEp;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrUsage;
import io.rpma.RpmaPeer;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** Offers a log, to which the client appends words. The log is persistent if the path names persistent memory. */
public final class Example07AtomicWriteServer {
    // librpma's struct log: a signature, the number of used bytes from the beginning, and the words
    private static final byte[] SIGNATURE = {'L', 'O', 'G', 0, 0, 0, 0, 0};
    private static final int USED_OFFSET = 8;
    private static final int WORDS_OFFSET = 16;

    /** The size of the log, and the maximum number of its used bytes. */
    static final int LOG_SIZE = WORDS_OFFSET + Common.KILOBYTE;

    private Example07AtomicWriteServer() {}

    /**
     * Runs the example.
     *
     * @param args the address and the port to listen on, and the path of the log's memory
     * @throws Exception if it fails
     */
    public static void main(String[] args) throws Exception {
        Common.start(args, 2, "07-atomic-write server <server_address> <port> [<pmem-path>]");
        try (CommonMemory mem = openLog(Common.argument(args, 2, null));
                RpmaPeer peer = RpmaPeer.create(RpmaDevice.local(args[0]));
                RpmaEp ep = RpmaEp.listen(peer, args[0], Common.port(args[1]));
                RpmaMrLocal mr = peer.register(
                        mem.memory(),
                        mem.dataOffset(),
                        LOG_SIZE,
                        RpmaMrUsage.WRITE_DST,
                        RpmaMrUsage.READ_SRC,
                        mem.flushUsage())) {
            try (RpmaConn conn =
                    Common.accept(ep, null, CommonData.of(mr, USED_OFFSET).toBytes())) {
                Common.awaitClosed(conn);
            }
            Common.OUT.print(words(mem.data(LOG_SIZE)));
        }
    }

    /** Opens the log. Makes an empty log if there is none. */
    static CommonMemory openLog(String path) throws IOException {
        CommonMemory mem = CommonMemory.openUnsigned(path, LOG_SIZE);
        ByteBuffer log = mem.data(LOG_SIZE);
        if (!log.slice(0, SIGNATURE.length).equals(ByteBuffer.wrap(SIGNATURE))) {
            // The signature is written last, because it makes the rest valid.
            log.putLong(USED_OFFSET, WORDS_OFFSET);
            mem.persist(WORDS_OFFSET);
            log.put(0, SIGNATURE);
            mem.persist(WORDS_OFFSET);
        }
        return mem;
    }

    /** Returns the words of the log, one per line. */
    static String words(ByteBuffer log) {
        long used = checkUsed(log.getLong(USED_OFFSET), WORDS_OFFSET, log.capacity());
        return StandardCharsets.UTF_8
                .decode(log.slice(WORDS_OFFSET, (int) used - WORDS_OFFSET))
                .toString()
                .replace('\0', '\n');
    }

    /** Returns the number of used bytes of a log, which the other side has written. */
    static long checkUsed(long used, long min, long max) {
        if (used < min || used > max) {
            throw new IllegalStateException("the log is damaged: it has " + min + " to " + max + " bytes, not " + used);
        }
        return used;
    }
}
