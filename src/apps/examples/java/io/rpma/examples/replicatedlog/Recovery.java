// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.replicatedlog;

import io.rpma.support.RemoteStore;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Makes two replicas equal before a record is appended. The longer log is copied to the replica with the shorter log.
 *
 * <p>A record is acknowledged when both replicas have it. So the longer log has all acknowledged records. It can also
 * have records that are not acknowledged; these survive too. The shorter log must be the beginning of the longer log.
 * Otherwise the replicas have different logs, and the recovery fails, because the copy would destroy one of them.
 *
 * <p>Both logs are read completely. A program for large logs would let the replicas read their logs and report the
 * results.
 */
final class Recovery {
    /** The number of bytes that the recovery uses at the start of the staging memory. */
    static final int STAGING = LogReader.CHUNK;

    private final List<? extends RemoteStore> replicas;
    private final ByteBuffer staging;

    private Recovery(List<? extends RemoteStore> replicas, ByteBuffer staging) {
        this.replicas = replicas;
        this.staging = staging;
    }

    /**
     * The common log of both replicas.
     *
     * @param capacity bytes for records, of the smaller replica
     * @param tail bytes of records
     * @param records the number of records
     */
    record Recovered(long capacity, long tail, long records) {}

    /**
     * The bytes that are copied from one replica to the other.
     *
     * @param from index of the replica with the longer log
     * @param to index of the other replica
     * @param begin position of the first byte
     * @param end position after the last byte; the new tail of the other replica
     */
    record CatchUp(int from, int to, long begin, long end) {
        /** Selects the direction from the tails. */
        static CatchUp of(long firstTail, long secondTail) {
            return firstTail >= secondTail
                    ? new CatchUp(0, 1, secondTail, firstTail)
                    : new CatchUp(1, 0, firstTail, secondTail);
        }
    }

    /** Distinguishes logs by a hash of the checksums of all records up to a position. */
    private static final class Fingerprint {
        private final long until;
        private long end;
        private long hash;

        Fingerprint(long until) {
            this.until = until;
        }

        void add(ByteBuffer record, long recordEnd) {
            if (recordEnd <= until) {
                end = recordEnd;
                hash = 31 * hash + LogLayout.storedChecksum(record);
            }
        }

        boolean isSame(Fingerprint other) {
            return end == other.end && hash == other.hash;
        }
    }

    /**
     * Recovers the logs.
     *
     * @param replicas the two replicas
     * @param staging the staging memory
     * @param visitor gets the records of the longer log before anything is copied; its exceptions end the recovery
     * @throws LogException if a replica has no log or a torn log, or the replicas have different logs
     */
    static Recovered recover(List<? extends RemoteStore> replicas, ByteBuffer staging, LogReader.Visitor visitor)
            throws IOException, InterruptedException {
        return new Recovery(replicas, staging).recover(visitor);
    }

    private Recovered recover(LogReader.Visitor visitor) throws IOException, InterruptedException {
        List<LogLayout.Header> headers = new ArrayList<>();
        for (RemoteStore replica : replicas) {
            headers.add(header(replica));
        }
        CatchUp catchUp = CatchUp.of(headers.get(0).tail(), headers.get(1).tail());
        RemoteStore longer = replicas.get(catchUp.from());
        RemoteStore shorter = replicas.get(catchUp.to());
        Fingerprint shorterLog = new Fingerprint(catchUp.begin());
        read(shorter, catchUp.begin(), (sequence, record, end) -> shorterLog.add(record, end));
        Fingerprint longerLog = new Fingerprint(catchUp.begin());
        long records = read(longer, catchUp.end(), (sequence, record, end) -> {
            longerLog.add(record, end);
            visitor.visit(sequence, record, end);
        });
        if (!longerLog.isSame(shorterLog)) {
            throw new LogException(longer + " and " + shorter
                    + " hold different logs: start the replica whose log is to be given up with --format");
        }
        long capacity = Math.min(headers.get(0).capacity(), headers.get(1).capacity());
        if (catchUp.end() > capacity) {
            throw new LogException("the log of " + longer + " does not fit into " + shorter + ": it has "
                    + catchUp.end() + " bytes, and there is room for " + capacity);
        }
        copy(longer, shorter, catchUp);
        commit(longer, catchUp.end());
        commit(shorter, catchUp.end());
        return new Recovered(capacity, catchUp.end(), records);
    }

    private LogLayout.Header header(RemoteStore replica) throws IOException, InterruptedException {
        if (LogLayout.capacity(replica.size()) < 0) {
            throw new LogException(replica + ": this is no log: it has only " + replica.size() + " bytes");
        }
        replica.read(0, 0, LogLayout.HEADER_LENGTH);
        try {
            return LogLayout.header(staging.slice(0, LogLayout.HEADER_LENGTH), replica.size());
        } catch (LogException e) {
            throw of(replica, e);
        }
    }

    private long read(RemoteStore replica, long tail, LogReader.Visitor visitor)
            throws IOException, InterruptedException {
        LogReader.Source source = (position, length) -> {
            replica.read(LogLayout.RECORDS + position, 0, length);
            return staging.slice(0, length);
        };
        try {
            return LogReader.read(source, tail, visitor);
        } catch (LogException e) {
            throw of(replica, e);
        }
    }

    private static LogException of(RemoteStore replica, LogException problem) {
        return new LogException(replica + ": " + problem.getMessage());
    }

    private static void copy(RemoteStore longer, RemoteStore shorter, CatchUp catchUp)
            throws IOException, InterruptedException {
        int length;
        for (long position = catchUp.begin(); position < catchUp.end(); position += length) {
            length = (int) Math.min(STAGING, catchUp.end() - position);
            longer.read(LogLayout.RECORDS + position, 0, length);
            shorter.await(shorter.store(LogLayout.RECORDS + position, 0, length));
        }
    }

    /**
     * Commits all records of a replica.
     *
     * <p>In the shorter log this adds the copied records. In the longer log it flushes the tail: the last connection
     * may have broken between the atomic write of the tail and its flush, and then a power cut would undo the tail that
     * was read. The records before the tail were flushed before the tail was written.
     */
    private static void commit(RemoteStore replica, long tail) throws IOException, InterruptedException {
        replica.await(replica.commit(LogLayout.TAIL_OFFSET, tail));
    }
}
