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
     * Upper half: the number of the record that is posted next. Lower half: the number of records. One field, so that both are
     * consistent if threads race.
     */
    private long range;

    /**
     * Copies records.
     *
     * @param records the array that contains the records
     * @param from the index of the first record
     * @param to the end of the last record
     * @param fields the number of fields of each record
     * @param header the number of fields in front of the records
     */
    PreparedRecords(long[] records, int from, int to, int fields, int header) {
        this.fields = fields;
        this.header = header;
        count = (to - from) / fields;
        ByteBuffer bytes = BatchRecords.allocate(header + to - from);
        memory = bytes.order(ByteOrder.nativeOrder()).asLongBuffer();
        memory.put(header, records, from, to - from);
        address = Natives.bufferAddress(bytes);
        move(0);
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

    /** {@return the number of records that the current round has posted} */
    public int next() {
        return (int) (range >>> Integer.SIZE);
    }

    /** {@return the address of the header} */
    public long address() {
        return address;
    }

    /** {@return the range of the records that the current round has not posted, as an argument of the native methods} */
    public long range() {
        return range;
    }

    /**
     * Counts posted operations. A complete round starts the next one.
     *
     * @param result the result of the native method
     * @return whether the round is complete; {@code false} also for a failure
     */
    public boolean posted(long result) {
        // the usual case: the whole sequence at once
        return result == count || advance((int) result);
    }

    private boolean advance(int posted) {
        int now = next() + posted;
        boolean complete = now >= count;
        move(complete ? 0 : now);
        return complete;
    }

    private void move(int next) {
        range = (long) next << Integer.SIZE | count;
    }

    /** Starts a new round. */
    public void rewind() {
        move(0);
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

    /** {@return the fields of the record that is posted next} */
    public long[] nextRecord() {
        long[] record = new long[fields];
        memory.get(header + next() * fields, record);
        return record;
    }
}
