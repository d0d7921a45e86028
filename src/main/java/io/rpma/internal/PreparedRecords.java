// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.internal;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.LongBuffer;
import java.util.Objects;

/**
 * The operations of a prepared batch: records in native memory, which are posted from their places repeatedly. A round posts each
 * operation once.
 *
 * <p>Not safe for use by several threads at once. Threads that break this rule can mix the fields of records. The addresses that
 * this class returns remain inside the records.
 */
public final class PreparedRecords {
    private final int fields;
    private final int count;
    private final LongBuffer memory;
    private final int header;
    private final long address;

    /**
     * Copies records.
     *
     * @param records the array that contains the records
     * @param from the index of the first record
     * @param to the end of the last record
     * @param fields the number of fields of each record
     * @param header the number of fields in front of the records
     * @param front the number of bytes in front of the header for each record
     * @throws IllegalStateException if all of this is larger than 2^31 - 1 bytes
     */
    PreparedRecords(long[] records, int from, int to, int fields, int header, int front) {
        this.fields = fields;
        this.header = header;
        count = (to - from) / fields;
        int most = BatchRecords.most(fields, header, front);
        if (count > most) {
            throw new IllegalStateException("a prepared batch has at most " + most + " operations, not " + count);
        }
        ByteBuffer bytes = BatchRecords.allocate(count * front, header + to - from);
        memory = bytes.order(ByteOrder.nativeOrder()).asLongBuffer();
        memory.put(header, records, from, to - from);
        address = Natives.bufferAddress(bytes);
    }

    /**
     * Sets a field of the header.
     *
     * @param field the number of the field
     * @param value the value
     */
    public void setHeader(int field, long value) {
        memory.put(Objects.checkIndex(field, header), value);
    }

    /** {@return the number of records} */
    public int count() {
        return count;
    }

    /** {@return the address of the header} */
    public long address() {
        return address;
    }

    /**
     * {@return the range of the records that a round has not posted, as an argument of the native methods. Upper half: the number
     * of the record that is posted next. Lower half: the number of records. One number, so that both are consistent if threads
     * race}
     *
     * @param next the number of the record that is posted next
     */
    public long range(int next) {
        return (long) next << Integer.SIZE | count;
    }

    /**
     * {@return a field}
     *
     * @param record the number of the record
     * @param field the number of the field in the record
     * @throws IndexOutOfBoundsException if there is no such record
     */
    public long get(int record, int field) {
        return memory.get(header + check(record) * fields + field);
    }

    /**
     * Changes a field.
     *
     * @param record the number of the record
     * @param field the number of the field in the record
     * @param value the new value
     * @throws IndexOutOfBoundsException if there is no such record
     */
    public void set(int record, int field, long value) {
        memory.put(header + check(record) * fields + field, value);
    }

    /**
     * Checks the number of a record.
     *
     * @param record the number of the record
     * @return the number
     * @throws IndexOutOfBoundsException if there is no such record
     */
    public int check(int record) {
        if (record < 0 || record >= count) {
            throw new IndexOutOfBoundsException("operation " + record + " of " + count);
        }
        return record;
    }

    /**
     * {@return the fields of a record}
     *
     * @param record the number of the record
     */
    public long[] get(int record) {
        long[] copy = new long[fields];
        memory.get(header + record * fields, copy);
        return copy;
    }
}
