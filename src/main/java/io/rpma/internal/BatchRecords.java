// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.internal;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.LongBuffer;
import java.util.Arrays;
import java.util.NoSuchElementException;

/**
 * The operations of a batch: a queue of records, each an array of 64-bit fields. A batch records operations at the end
 * of the queue, and posts the operations at its beginning.
 *
 * <p>Not safe for use by several threads at once. Threads that break this rule can lose and mix records. The indices
 * that this class returns remain inside the queue.
 */
public final class BatchRecords {
    /** The bytes of a cache line. Records that begin on a cache line are copied faster. */
    private static final int LINE = 64;

    private final int fields;

    /**
     * The records are filled here, on the heap, and copied in one call to the same places in native memory. Storing
     * them field by field into native memory is slower.
     */
    private final long[] records;

    private final LongBuffer memory;
    private final long address;

    /** The number of fields in front of the records in native memory: complete cache lines. */
    private final int header;

    // indices of fields in the array

    /** The record that is posted next. */
    private int first;

    /** The end of the last record. */
    private int end;

    /** The end of the last record that is in native memory. */
    private int copied;

    /** The number of operations that the last post has posted. */
    private int posted;

    /**
     * Makes an empty queue.
     *
     * @param capacity the maximum number of records
     * @param fields the number of fields of each record
     * @param header the first fields in front of the records in native memory
     * @throws IllegalArgumentException if {@code capacity} is less than 1, or the records are larger than 2^31 - 1
     *     bytes
     */
    public BatchRecords(int capacity, int fields, long... header) {
        int perLine = LINE / Long.BYTES;
        this.header = (header.length + perLine - 1) / perLine * perLine;
        int most = (Integer.MAX_VALUE - 2 * LINE - this.header * Long.BYTES) / (fields * Long.BYTES);
        if (capacity < 1 || capacity > most) {
            throw new IllegalArgumentException("capacity must be 1 to " + most + ", not " + capacity);
        }
        this.fields = fields;
        records = new long[capacity * fields];
        ByteBuffer bytes = ByteBuffer.allocateDirect((this.header + records.length) * Long.BYTES + 2 * LINE)
                .alignedSlice(LINE);
        memory = bytes.order(ByteOrder.nativeOrder()).asLongBuffer();
        memory.put(0, header);
        Loader.ensureLoaded();
        address = Natives.bufferAddress(bytes);
    }

    /** {@return the maximum number of records} */
    public int capacity() {
        return records.length / fields;
    }

    /** {@return the number of records} */
    public int count() {
        // threads that race, against the contract, can make the difference negative
        return Math.max(0, end - first) / fields;
    }

    /** {@return whether there is no record} */
    public boolean isEmpty() {
        return end <= first;
    }

    /** {@return the number of operations that the last post has posted, also if it failed} */
    public int posted() {
        return posted;
    }

    /** {@return the array that contains the records} */
    public long[] array() {
        return records;
    }

    /** {@return the index of the first field of a new record, or -1 if the queue is full} */
    public int next() {
        int next = end;
        return next < records.length ? next : makeRoom();
    }

    /**
     * Adds the new record, whose fields are complete.
     *
     * @param newEnd the index from {@link #next} plus the number of fields; the caller's number is a constant, which is
     *     faster than the field of this class
     */
    public void add(int newEnd) {
        end = newEnd;
    }

    /** Moves the records to the beginning of the array. Returns their end, or -1 if the queue is full. */
    private int makeRoom() {
        int from = first;
        int left = Math.max(0, end - from);
        if (from > 0) {
            System.arraycopy(records, from, records, 0, left);
            first = 0;
            copied = 0;
            end = left;
        }
        return left < records.length ? left : -1;
    }

    /**
     * {@return the index of the last record}
     *
     * @throws NoSuchElementException if there is none
     */
    public int last() {
        int last = end - fields;
        if (last < first) {
            throw empty();
        }
        return last;
    }

    /**
     * Reports a change of a record.
     *
     * @param record the index of the record
     */
    public void changed(int record) {
        copied = Math.min(copied, record);
    }

    /** Copies the new records to native memory, and returns the end of the last record. */
    public int copy() {
        int from = Math.max(first, copied);
        int to = end;
        if (from < to) {
            memory.put(header + from, records, from, to - from);
            copied = to;
        }
        return to;
    }

    /** {@return the address of the header} */
    public long address() {
        return address;
    }

    /**
     * {@return the address of a field in native memory}
     *
     * @param index the index of the field
     */
    public long address(int index) {
        return address + (long) (header + index) * Long.BYTES;
    }

    /** {@return the fields of the first record} */
    public long[] firstRecord() {
        return Arrays.copyOfRange(records, first, first + fields);
    }

    /** {@return the index of the first record; without a record, the end of the last record} */
    public int first() {
        return first;
    }

    /**
     * Removes the posted operations.
     *
     * @param from the index of the first record of the post
     * @param to the end of the last record of the post
     * @param count the number of operations posted
     */
    public void posted(int from, int to, int count) {
        posted = count;
        drop(from + count * fields, to);
    }

    /**
     * Removes the first record.
     *
     * @throws NoSuchElementException if there is none
     */
    public void removeFirst() {
        checkNotEmpty();
        drop(first + fields, end);
    }

    /** Throws a {@link NoSuchElementException} if there is no record. */
    public void checkNotEmpty() {
        if (isEmpty()) {
            throw empty();
        }
    }

    private static NoSuchElementException empty() {
        return new NoSuchElementException("the batch is empty");
    }

    /** Removes all records. */
    public void clear() {
        first = 0;
        end = 0;
        copied = 0;
    }

    /**
     * Leaves the remaining records in place. A batch that is larger than its queue takes many calls, and each call
     * would otherwise move the remaining records.
     */
    private void drop(int next, int to) {
        if (next < to) {
            first = next;
        } else {
            clear();
        }
    }
}
