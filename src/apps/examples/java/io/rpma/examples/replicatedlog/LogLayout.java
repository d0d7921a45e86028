// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.replicatedlog;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;

/**
 * The layout of a replica's memory.
 *
 * <table>
 *   <caption>Header, all numbers little-endian</caption>
 *   <tr><th>offset</th><th>bytes</th><th>content</th></tr>
 *   <tr><td>0</td><td>8</td><td>magic: {@code RPMALOG} and a zero</td></tr>
 *   <tr><td>8</td><td>4</td><td>version: 1</td></tr>
 *   <tr><td>16</td><td>8</td><td>capacity: bytes for records, a multiple of 8</td></tr>
 *   <tr><td>64</td><td>8</td><td>tail: bytes of committed records, a multiple of 8</td></tr>
 *   <tr><td>4096</td><td>capacity</td><td>records, without gaps</td></tr>
 * </table>
 *
 * <table>
 *   <caption>Record</caption>
 *   <tr><th>offset</th><th>bytes</th><th>content</th></tr>
 *   <tr><td>0</td><td>4</td><td>length of the payload</td></tr>
 *   <tr><td>4</td><td>4</td><td>CRC32C over the sequence number, the length and the payload, in this order</td></tr>
 *   <tr><td>8</td><td>8</td><td>sequence number: 1, 2, 3...</td></tr>
 *   <tr><td>16</td><td>length</td><td>payload</td></tr>
 *   <tr><td></td><td>0 to 7</td><td>zeroes, up to a multiple of 8</td></tr>
 * </table>
 *
 * <p>The tail makes records part of the log. It is written by one atomic write, after the record before it is flushed,
 * and only grows. So the records before the tail are complete at any time, also after a power cut. Bytes after the tail
 * are not part of the log. The checksum detects damage by hardware or other programs. The sequence number detects a
 * complete record at a wrong position.
 *
 * <p>A position is an offset from the first record.
 */
final class LogLayout {
    /** "RPMALOG" as a little-endian number. */
    static final long MAGIC = 0x00474f4c_414d5052L;

    static final int VERSION = 1;

    static final int MAGIC_OFFSET = 0;
    static final int VERSION_OFFSET = 8;
    static final int CAPACITY_OFFSET = 16;

    /**
     * Offset of the tail. It has its own cache line, because it changes with each record and the other fields never
     * change.
     */
    static final int TAIL_OFFSET = 64;

    static final int HEADER_LENGTH = TAIL_OFFSET + Long.BYTES;

    /** Offset of the first record, which begins on its own page. */
    static final long RECORDS = 4096;

    static final int RECORD_HEADER_LENGTH = 16;
    static final int MOST_PAYLOAD = 64 << 10;

    /**
     * The offset of an atomic write must be a multiple of this number. A flush needs this number of bytes at its
     * offset.
     */
    private static final int ALIGNMENT = 8;

    private static final int CRC_OFFSET = 4;
    private static final int SEQUENCE_OFFSET = 8;

    private LogLayout() {}

    /**
     * The fields of a header.
     *
     * @param capacity bytes for records
     * @param tail bytes of committed records
     */
    record Header(long capacity, long tail) {}

    /** Returns the number of bytes for records in a memory of this size; negative if the header does not fit. */
    static long capacity(long memorySize) {
        return memorySize / ALIGNMENT * ALIGNMENT - RECORDS;
    }

    /** Returns the length of a record whose payload has this length. */
    static int recordLength(int payloadLength) {
        return (RECORD_HEADER_LENGTH + payloadLength + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }

    /** Returns whether a header belongs to a log of any version. */
    static boolean isLog(ByteBuffer header) {
        return littleEndian(header).getLong(MAGIC_OFFSET) == MAGIC;
    }

    /**
     * Reads a header.
     *
     * @param memorySize the size of the header's memory
     * @throws LogException if it is not the header of a log, or is not valid for this memory or this program
     */
    static Header header(ByteBuffer header, long memorySize) throws LogException {
        if (!isLog(header)) {
            throw new LogException("this is no log: it does not begin with RPMALOG");
        }
        ByteBuffer numbers = littleEndian(header);
        int version = numbers.getInt(VERSION_OFFSET);
        if (version != VERSION) {
            throw new LogException("the log is of version " + version + ", this program of version " + VERSION);
        }
        long capacity = numbers.getLong(CAPACITY_OFFSET);
        if (capacity < 0 || capacity > capacity(memorySize) || capacity % ALIGNMENT != 0) {
            throw new LogException("the header is damaged, or the memory cut off: a capacity of " + capacity
                    + " bytes in a memory with room for " + capacity(memorySize));
        }
        long tail = numbers.getLong(TAIL_OFFSET);
        if (tail < 0 || tail > capacity || tail % ALIGNMENT != 0) {
            throw new LogException(
                    "the header is damaged: the tail is " + tail + " in a log with room for " + capacity + " bytes");
        }
        return new Header(capacity, tail);
    }

    /** Writes a record to the first bytes of a buffer, and returns its length. */
    static int putRecord(ByteBuffer buffer, long sequence, byte[] payload) {
        ByteBuffer record = littleEndian(buffer);
        int length = recordLength(payload.length);
        record.putInt(payload.length).putInt(0).putLong(sequence).put(payload);
        while (record.position() < length) {
            record.put((byte) 0);
        }
        record.putInt(CRC_OFFSET, checksum(record, payload.length));
        return length;
    }

    /** Returns the length of the payload from the record at the start of a buffer. */
    static int payloadLength(ByteBuffer record) {
        return littleEndian(record).getInt(0);
    }

    /** Returns the checksum from the record at the start of a buffer. */
    static int storedChecksum(ByteBuffer record) {
        return littleEndian(record).getInt(CRC_OFFSET);
    }

    /** Returns the payload of a record. */
    static ByteBuffer payload(ByteBuffer record) {
        return record.slice(RECORD_HEADER_LENGTH, payloadLength(record));
    }

    /**
     * Returns a description of the problem of a record, or null if it is valid.
     *
     * @param bytes the record, of the length {@link #recordLength}
     */
    static String problem(ByteBuffer bytes, long sequence) {
        ByteBuffer record = littleEndian(bytes);
        int payloadLength = payloadLength(bytes);
        if (checksum(record, payloadLength) != storedChecksum(bytes)) {
            return "its checksum is wrong";
        }
        if (record.getLong(SEQUENCE_OFFSET) != sequence) {
            return "it has the sequence number " + record.getLong(SEQUENCE_OFFSET);
        }
        for (int i = RECORD_HEADER_LENGTH + payloadLength; i < record.limit(); i++) {
            if (record.get(i) != 0) {
                return "it is not filled up with zeroes";
            }
        }
        return null;
    }

    private static int checksum(ByteBuffer record, int payloadLength) {
        CRC32C crc = new CRC32C();
        crc.update(record.slice(SEQUENCE_OFFSET, Long.BYTES));
        crc.update(record.slice(0, Integer.BYTES));
        crc.update(record.slice(RECORD_HEADER_LENGTH, payloadLength));
        return (int) crc.getValue();
    }

    private static ByteBuffer littleEndian(ByteBuffer bytes) {
        return bytes.slice().order(ByteOrder.LITTLE_ENDIAN);
    }
}
