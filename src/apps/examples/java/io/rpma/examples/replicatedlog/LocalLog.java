// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.replicatedlog;

import io.rpma.RpmaMemory;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** The log in this side's memory. */
final class LocalLog {
    private final RpmaMemory memory;
    private final LogLayout.Header header;

    private LocalLog(RpmaMemory memory, LogLayout.Header header) {
        this.memory = memory;
        this.header = header;
    }

    /**
     * Opens the log of a memory.
     *
     * @throws LogException if the memory has no valid log
     */
    static LocalLog open(RpmaMemory memory) throws LogException {
        if (LogLayout.capacity(memory.size()) < 0) {
            throw new LogException("this is no log: it has only " + memory.size() + " bytes");
        }
        return new LocalLog(memory, LogLayout.header(headerOf(memory), memory.size()));
    }

    /** Returns whether a memory has a log. The memory must have room for a log. */
    static boolean isIn(RpmaMemory memory) {
        return LogLayout.isLog(headerOf(memory));
    }

    /**
     * Makes an empty log in a memory with room for a log. The magic is written last, because it makes the log valid.
     */
    static void format(RpmaMemory memory) {
        ByteBuffer header = headerOf(memory);
        header.putLong(LogLayout.MAGIC_OFFSET, 0);
        persistHeader(memory);
        header.putInt(LogLayout.VERSION_OFFSET, LogLayout.VERSION);
        header.putLong(LogLayout.CAPACITY_OFFSET, LogLayout.capacity(memory.size()));
        header.putLong(LogLayout.TAIL_OFFSET, 0);
        persistHeader(memory);
        header.putLong(LogLayout.MAGIC_OFFSET, LogLayout.MAGIC);
        persistHeader(memory);
    }

    private static ByteBuffer headerOf(RpmaMemory memory) {
        return memory.buffer(0, LogLayout.HEADER_LENGTH).order(ByteOrder.LITTLE_ENDIAN);
    }

    private static void persistHeader(RpmaMemory memory) {
        memory.persist(0, LogLayout.HEADER_LENGTH);
    }

    /** Returns the end of the committed records. */
    long tail() {
        return header.tail();
    }

    /**
     * Reads all records.
     *
     * @return the number of records
     * @throws LogException if a record is torn; the records before it have been visited
     */
    long read(LogReader.Visitor visitor) throws IOException, InterruptedException {
        return LogReader.read(
                (position, length) -> memory.buffer(LogLayout.RECORDS + position, length), tail(), visitor);
    }
}
