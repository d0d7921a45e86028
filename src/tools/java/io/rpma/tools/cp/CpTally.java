// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools.cp;

import io.rpma.examples.common.Size;

/** Counts the bytes that one command has sent, on all its connections. */
final class CpTally {
    private final long size;
    private boolean begun;
    private boolean alreadyComplete;

    /** The end of the bytes that were under way on a connection, and of those that are counted. */
    private long posted;

    private long counted;
    private long sent;

    /** Counts the bytes of a file of this size. */
    CpTally(long size) {
        this.size = size;
    }

    /**
     * A connection begins to send at a position. Bytes before it that were under way on the last connection have arrived, also
     * if their answers were lost.
     */
    void begin(long position) {
        arrived(position);
        begun = true;
        posted = position;
        counted = position;
    }

    /** The copy was complete when this connection asked for it. */
    void complete() {
        alreadyComplete = !begun;
        arrived(size);
    }

    private void arrived(long position) {
        long end = Math.min(position, posted);
        if (end > counted) {
            sent += end - counted;
            counted = end;
        }
    }

    /** The bytes before a position are under way. */
    void posted(long position) {
        posted = position;
    }

    /** The receiver has written the bytes before a position. */
    void written(long position) {
        arrived(position);
    }

    /** Returns whether this command has sent nothing, because all bytes were already there. */
    boolean isUnsent() {
        return sent == 0 && (size > 0 || alreadyComplete);
    }

    /** Returns a text about the sent bytes. */
    String text(long nanos) {
        return isUnsent()
                ? Size.exact(size) + " were already there, and are verified"
                : Size.exact(size) + ", of which " + Size.format(sent) + " at " + Size.rate(sent, nanos);
    }
}
