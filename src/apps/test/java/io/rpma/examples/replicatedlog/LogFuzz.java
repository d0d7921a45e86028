// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.replicatedlog;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/** Reads the header and the records of a log from any bytes, which a writer can write there. */
public final class LogFuzz {
    private static final int ROOM = 512;

    private LogFuzz() {}

    /** Called by the fuzzer. The first bytes are the header, and the others the records. */
    public static void fuzzerTestOneInput(byte[] bytes) throws InterruptedException {
        ByteBuffer header = ByteBuffer.wrap(Arrays.copyOf(bytes, LogLayout.HEADER_LENGTH));
        header.order(ByteOrder.LITTLE_ENDIAN);
        byte[] records = new byte[ROOM];
        int length = Math.min(ROOM, Math.max(0, bytes.length - LogLayout.HEADER_LENGTH));
        System.arraycopy(bytes, Math.min(bytes.length, LogLayout.HEADER_LENGTH), records, 0, length);
        try {
            LogLayout.Header parsed = LogLayout.header(header, LogLayout.RECORDS + ROOM);
            LogReader.read(
                    (position, wanted) -> ByteBuffer.wrap(records, Math.toIntExact(position), wanted)
                            .slice(),
                    parsed.tail(),
                    (sequence, record, end) -> visit(record, end));
        } catch (LogException e) {
            // no log, or a torn record
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static void visit(ByteBuffer record, long end) {
        if (end > ROOM || LogLayout.payload(record).remaining() > LogLayout.MOST_PAYLOAD) {
            throw new AssertionError(end + " " + record);
        }
    }
}
