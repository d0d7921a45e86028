// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.stream;

/**
 * The positions of a stream in a ring of bytes, without the bytes.
 *
 * <p>A position is the number of bytes before it in the stream. The byte at a position is at the offset
 * {@code position} modulo the size of the ring. The writer and the reader have rings of the same size, so a byte has
 * the same offset in both.
 *
 * <p>The bytes are filled by messages and freed in their order. The number of messages that are not free is limited
 * too, because each message consumes a receive.
 */
final class Ring {
    private final int size;
    private final long[] ends;
    private long filled;
    private long freed;
    private long filledMessages;
    private long freedMessages;

    /**
     * Makes an empty ring.
     *
     * @param size the number of bytes
     * @param messages the maximum number of messages
     */
    Ring(int size, int messages) {
        this.size = size;
        ends = new long[messages];
    }

    /**
     * Returns the position with this lower half that is after one position and at most another one; -1 if there is
     * none.
     */
    static long between(long after, long most, int lowerHalf) {
        long position = after + (lowerHalf - (int) after);
        return position > after && position <= most ? position : -1;
    }

    /** Returns the number of bytes. */
    int size() {
        return size;
    }

    /** Returns the position after the last filled byte. */
    long filled() {
        return filled;
    }

    /** Returns the position after the last freed byte. */
    long freed() {
        return freed;
    }

    /** Returns the number of messages that have been filled. */
    long filledMessages() {
        return filledMessages;
    }

    /** Returns the number of messages that have been filled and freed. */
    long freedMessages() {
        return freedMessages;
    }

    /** Returns the offset of the byte at a position. */
    int offset(long position) {
        return (int) (position % size);
    }

    /**
     * Returns the maximum length of the next message, which does not continue at the beginning of the ring; 0 if full.
     */
    int room() {
        return filledMessages - freedMessages == ends.length ? 0 : contiguous(filled, size - (filled - freed));
    }

    /** Returns the number of filled bytes from the first one, up to the end of the ring. */
    int available() {
        return contiguous(freed, filled - freed);
    }

    private int contiguous(long position, long length) {
        return (int) Math.min(length, size - offset(position));
    }

    /**
     * Adds a message, if its length is 1 to {@link #room}. Otherwise returns false: the other side can send any length.
     */
    boolean fill(int length) {
        if (length < 1 || length > room()) {
            return false;
        }
        filled += length;
        ends[(int) (filledMessages % ends.length)] = filled;
        filledMessages++;
        return true;
    }

    /**
     * Frees the bytes before a position, and their messages.
     *
     * @param position {@link #freed} to {@link #filled}
     */
    void free(long position) {
        freed = position;
        while (freedMessages < filledMessages && ends[(int) (freedMessages % ends.length)] <= freed) {
            freedMessages++;
        }
    }

    /**
     * Decides when progress is worth a report to the other side: after a quarter of the bytes or of the messages of a
     * ring.
     *
     * <p>Who waits for a report waits with a full ring. So the report always comes, and at most every quarter.
     */
    static final class Quarter {
        private final int leastBytes;
        private final int leastMessages;
        private long bytes;
        private long messages;

        Quarter(Ring ring) {
            leastBytes = ring.size / 4;
            leastMessages = ring.ends.length / 4;
        }

        /** Returns whether a report of this progress is due. The report is then considered made. */
        boolean isPassed(long position, long count) {
            if (position - bytes < leastBytes && count - messages < leastMessages) {
                return false;
            }
            bytes = position;
            messages = count;
            return true;
        }
    }
}
