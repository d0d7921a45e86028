// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools.selftest;

import static java.util.concurrent.TimeUnit.SECONDS;

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

    /** The time between two looks at the events of a connection. */
    static final int TURN_MS = 20;

    private final long silence;
    private long heard = System.nanoTime();

    /**
     * Begins a session.
     *
     * @param silence the time without a message, in seconds, after which the next client gets its turn
     */
    Session(int silence) {
        this.silence = SECONDS.toNanos(silence);
    }

    /** Returns the place of a receive. */
    static long offset(int slot) {
        return Answer.DATA + (long) slot * Answer.SLOT;
    }

    /** Notes completions. */
    void heard(int completions) {
        if (completions > 0) {
            heard = System.nanoTime();
        }
    }

    /** Returns whether the client has sent nothing for so long that the next one gets its turn. */
    boolean isSilent() {
        return System.nanoTime() - heard > silence;
    }
}
