// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.replicatedlog;

import java.io.IOException;
import java.nio.ByteBuffer;

/** Reads and checks the committed records of a local or remote log. */
final class LogReader {
    /** The maximum number of bytes of one read. Each record fits into it. */
    static final int CHUNK = 256 << 10;

    /** The source of the bytes of the records. */
    interface Source {
        /** Returns the bytes at a position, at most {@link #CHUNK}. They are valid until the next call. */
        ByteBuffer read(long position, int length) throws IOException, InterruptedException;
    }

    /** Gets the records, one after the other. */
    interface Visitor {
        /**
         * Visits a record.
         *
         * @param record the bytes of the record, valid during this call
         * @param end the position after the record
         */
        void visit(long sequence, ByteBuffer record, long end) throws IOException;
    }

    private final Source source;
    private final long tail;
    private ByteBuffer chunk = ByteBuffer.allocate(0);
    private long chunkPosition;

    private LogReader(Source source, long tail) {
        this.source = source;
        this.tail = tail;
    }

    /**
     * Reads all records.
     *
     * @param tail the end of the records
     * @return the number of records, which is the sequence number of the last record
     * @throws LogException if a record is torn; the records before it have been visited
     */
    static long read(Source source, long tail, Visitor visitor) throws IOException, InterruptedException {
        return new LogReader(source, tail).read(visitor);
    }

    private long read(Visitor visitor) throws IOException, InterruptedException {
        long sequence = 0;
        for (long position = 0; position < tail; ) {
            sequence++;
            ByteBuffer record = record(position, sequence);
            String problem = LogLayout.problem(record, sequence);
            if (problem != null) {
                throw torn(position, sequence, problem);
            }
            position += record.remaining();
            visitor.visit(sequence, record, position);
        }
        return sequence;
    }

    private ByteBuffer record(long position, long sequence) throws IOException, InterruptedException {
        if (tail - position < LogLayout.RECORD_HEADER_LENGTH) {
            throw torn(position, sequence, "the tail is in the middle of it");
        }
        int payload = LogLayout.payloadLength(bytes(position, LogLayout.RECORD_HEADER_LENGTH));
        if (payload < 0 || payload > LogLayout.MOST_PAYLOAD) {
            throw torn(position, sequence, "its length is " + payload);
        }
        if (tail - position < LogLayout.recordLength(payload)) {
            throw torn(position, sequence, "it ends behind the tail, with a length of " + payload);
        }
        return bytes(position, LogLayout.recordLength(payload));
    }

    private ByteBuffer bytes(long position, int length) throws IOException, InterruptedException {
        if (position + length > chunkPosition + chunk.remaining()) {
            chunk = source.read(position, (int) Math.min(CHUNK, tail - position));
            chunkPosition = position;
        }
        return chunk.slice((int) (position - chunkPosition), length);
    }

    private static LogException torn(long position, long sequence, String problem) {
        return new LogException("record " + sequence + " at position " + position + " is torn: " + problem);
    }
}
