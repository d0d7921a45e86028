// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.replicatedlog;

import io.rpma.support.RemoteStore;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/**
 * Appends records to both replicas, several under way at once.
 *
 * <p>Each record has four operations on each connection: a write, a flush, an atomic write of the new tail, and a
 * flush. Several records are under way at once, because {@link RemoteStore} keeps the order of the operations. A record
 * is acknowledged when its last flush is done on both replicas.
 *
 * <p>While a replica is lost, no record can be acknowledged. {@link #recover} is called at the start and after each
 * loss. It makes the replicas equal and determines which records under way they have. These records are acknowledged.
 * The others are posted again from the staging memory, with the same positions and sequence numbers.
 *
 * <p>One thread assigns all positions and sequence numbers, so records can't overwrite one another. There must be only
 * one appender of a log at a time. A replica has one connection at a time, so a second appender can't write while the
 * first appender is connected. If the second appender writes while the first appender is not connected,
 * {@link #recover} of the first appender detects these records.
 */
final class LogAppender {
    /** The maximum number of records under way. */
    static final int DEPTH = 32;

    /** The necessary size of the send queue: a store and a commit for each record under way. */
    static final int OPERATIONS = 4 * DEPTH;

    private static final int SLOT = LogLayout.recordLength(LogLayout.MOST_PAYLOAD);

    /** The necessary size of the staging memory. */
    static final int STAGING = Recovery.STAGING + DEPTH * SLOT;

    /** Gets the acknowledged records. */
    interface Listener {
        /** Acknowledges a record, which survives the loss of one replica. */
        void acknowledged(long sequence, Payload payload) throws IOException;
    }

    /** A record that has its position and is not acknowledged. */
    private static final class UnderWay {
        private final Payload payload;
        private final long sequence;
        private final long position;
        private final int length;
        private final long[] tickets = new long[2];

        UnderWay(Payload payload, long sequence, long position, int length) {
            this.payload = payload;
            this.sequence = sequence;
            this.position = position;
            this.length = length;
        }

        int slot() {
            return Recovery.STAGING + (int) (sequence % DEPTH) * SLOT;
        }

        long end() {
            return position + length;
        }
    }

    private final ByteBuffer staging;
    private final Listener listener;
    private final Deque<UnderWay> underWay = new ArrayDeque<>();
    private List<? extends RemoteStore> replicas;
    private boolean begun;
    private long capacity;
    private long tail;
    private long lastSequence;

    /**
     * Sets up an appender.
     *
     * @param staging the staging memory of the replicas, {@link #STAGING} bytes
     * @param listener gets the acknowledged records in their order
     */
    LogAppender(ByteBuffer staging, Listener listener) {
        this.staging = staging;
        this.listener = listener;
    }

    /**
     * Begins, or continues after a loss.
     *
     * @param connected the two replicas
     * @throws LogException if the logs can't be recovered, or differ from the acknowledged records
     */
    void recover(List<? extends RemoteStore> connected) throws IOException, InterruptedException {
        replicas = connected;
        Recovery.Recovered log = Recovery.recover(connected, staging, this::compare);
        capacity = log.capacity();
        if (!begun) {
            begun = true;
            tail = log.tail();
            lastSequence = log.records();
            return;
        }
        if (log.records() < lastAcknowledged()) {
            throw new LogException("records that were acknowledged are gone from both replicas: record "
                    + (log.records() + 1) + " and later");
        }
        if (tail > capacity) {
            throw new LogException("the log of a replica has become smaller: it has room for " + capacity
                    + " bytes, and the records under way end at " + tail);
        }
        while (!underWay.isEmpty() && underWay.element().sequence <= log.records()) {
            acknowledge();
        }
        for (UnderWay record : underWay) {
            post(record);
        }
    }

    /** Checks the end of the last acknowledged record, and that all later records are this program's own. */
    private void compare(long sequence, ByteBuffer record, long end) throws LogException {
        if (!begun || sequence < lastAcknowledged()) {
            return;
        }
        if (sequence == lastAcknowledged()) {
            if (end != acknowledgedEnd()) {
                throw new LogException("record " + sequence + " was acknowledged, and ends at " + end + " instead of "
                        + acknowledgedEnd() + ": the log is another one");
            }
            return;
        }
        for (UnderWay own : underWay) {
            if (own.sequence == sequence && record.equals(staging.slice(own.slot(), own.length))) {
                return;
            }
        }
        throw new LogException("record " + sequence + " is of another appender, and there must be only one at a time");
    }

    private long lastAcknowledged() {
        return lastSequence - underWay.size();
    }

    /** Returns the end of the last acknowledged record. */
    private long acknowledgedEnd() {
        return underWay.isEmpty() ? tail : underWay.element().position;
    }

    /** Returns the number of bytes that remain for records. */
    long room() {
        return capacity - tail;
    }

    /** Returns whether another record can be under way. */
    boolean hasSlot() {
        return underWay.size() < DEPTH;
    }

    /** Returns whether no record is under way. */
    boolean isIdle() {
        return underWay.isEmpty();
    }

    /**
     * Appends a record. If a replica is lost meanwhile, the record remains under way.
     *
     * @throws LogException if the log is full; then nothing is written
     */
    void append(Payload payload) throws IOException, InterruptedException {
        int length = LogLayout.recordLength(payload.bytes().length);
        if (length > room()) {
            throw new LogException("the log is full: a record takes " + length + " bytes, and there is room for "
                    + room() + " of " + capacity);
        }
        UnderWay record = new UnderWay(payload, lastSequence + 1, tail, length);
        LogLayout.putRecord(staging.slice(record.slot(), SLOT), record.sequence, payload.bytes());
        underWay.add(record);
        lastSequence = record.sequence;
        tail = record.end();
        post(record);
    }

    private void post(UnderWay record) throws IOException, InterruptedException {
        for (int i = 0; i < replicas.size(); i++) {
            RemoteStore replica = replicas.get(i);
            replica.store(LogLayout.RECORDS + record.position, record.slot(), record.length);
            record.tickets[i] = replica.commit(LogLayout.TAIL_OFFSET, record.end());
        }
    }

    /** Waits until the oldest record under way is done on both replicas, and acknowledges it. */
    void awaitOldest() throws IOException, InterruptedException {
        UnderWay oldest = underWay.element();
        for (int i = 0; i < replicas.size(); i++) {
            replicas.get(i).await(oldest.tickets[i]);
        }
        acknowledge();
    }

    private void acknowledge() throws IOException {
        UnderWay record = underWay.remove();
        listener.acknowledged(record.sequence, record.payload);
    }
}
