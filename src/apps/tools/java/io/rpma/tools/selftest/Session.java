// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools.selftest;

/** What the listening sides have in common: the places of their messages, and the end of a silent client. */
final class Session {
    /** The receives of a side. */
    static final int SLOTS = 2;

    /** The place of the answer, which the client takes before it sends the next message. */
    static final long ANSWER_OFFSET = Answer.DATA + (long) SLOTS * Answer.SLOT;

    /** The size of the memory. */
    static final long MEMORY = ANSWER_OFFSET + Answer.SLOT;

    /** The time without a message after which the client of a connection counts as gone, in seconds. */
    static final int SILENCE_S = 30;

    /** The same time for datagrams: no event reports that their client is gone. */
    static final int DATAGRAM_SILENCE_S = 5;

    private Session() {}

    /** Returns the place of a receive. */
    static long offset(int slot) {
        return Answer.DATA + (long) slot * Answer.SLOT;
    }
}
