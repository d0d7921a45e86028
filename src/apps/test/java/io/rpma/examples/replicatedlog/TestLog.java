// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.replicatedlog;

import io.rpma.support.FakeMemory;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Logs in plain byte arrays. */
final class TestLog {
    private TestLog() {}

    /** Returns a memory with a log of these records. */
    static byte[] of(int size, String... payloads) {
        byte[] memory = new byte[size];
        int position = (int) LogLayout.RECORDS;
        for (int i = 0; i < payloads.length; i++) {
            position += LogLayout.putRecord(
                    ByteBuffer.wrap(memory, position, size - position),
                    i + 1,
                    payloads[i].getBytes(StandardCharsets.UTF_8));
        }
        ByteBuffer.wrap(memory)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putLong(LogLayout.MAGIC_OFFSET, LogLayout.MAGIC)
                .putInt(LogLayout.VERSION_OFFSET, LogLayout.VERSION)
                .putLong(LogLayout.CAPACITY_OFFSET, LogLayout.capacity(size))
                .putLong(LogLayout.TAIL_OFFSET, position - LogLayout.RECORDS);
        return memory;
    }

    /** Returns the payloads of a log. */
    static List<String> read(byte[] memory) throws IOException, InterruptedException {
        return read(ByteBuffer.wrap(memory));
    }

    static List<String> read(FakeMemory memory) throws IOException, InterruptedException {
        return read(memory.content());
    }

    private static List<String> read(ByteBuffer memory) throws IOException, InterruptedException {
        List<String> payloads = new ArrayList<>();
        LogReader.read(
                (position, length) -> memory.slice((int) (LogLayout.RECORDS + position), length),
                LogLayout.header(memory, memory.capacity()).tail(),
                (sequence, record, end) -> payloads.add(
                        StandardCharsets.UTF_8.decode(LogLayout.payload(record)).toString()));
        return payloads;
    }

    /** Returns payloads of the prefix and a number, as in a0, a1... */
    static String[] payloads(String prefix, int count) {
        String[] payloads = new String[count];
        Arrays.setAll(payloads, i -> prefix + i);
        return payloads;
    }
}
