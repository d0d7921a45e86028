// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.support;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.NANOSECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;

import java.io.IOException;
import java.util.OptionalLong;
import java.util.function.Consumer;

/**
 * The pauses between attempts. Each pause is twice as long as the previous pause, up to a maximum. The attempts end
 * after a timeout.
 *
 * <p>The timeout begins with the first failure after a success. A connection alone is not a success, so the attempts
 * also end if each connection is made and lost again.
 */
public final class BackOff {
    /** The first pause. */
    static final long FIRST = MILLISECONDS.toNanos(100);

    /** The longest pause, and so the longest time until this side notices that the other side is back. */
    static final long LONGEST = SECONDS.toNanos(3);

    private static final long SHORTEST_ATTEMPT = SECONDS.toNanos(1);

    private final long timeout;
    private boolean failing;
    private long deadline;
    private long pause;

    /** Makes the pauses for a timeout in seconds. */
    public BackOff(int timeout) {
        this.timeout = SECONDS.toNanos(timeout);
    }

    /** An operation that fails while the other side is lost. */
    public interface Attempt<T> {
        /** Makes one attempt. */
        T make() throws IOException, InterruptedException;
    }

    /**
     * Repeats an attempt until it succeeds.
     *
     * @param what describes the failure, as in "no connection to A"
     * @param notes gets the reason of the first of successive failures
     * @throws IOException if the timeout expires, or the attempt throws an exception other than {@link LostException}
     */
    public <T> T retry(String what, Consumer<String> notes, Attempt<T> attempt)
            throws IOException, InterruptedException {
        while (true) {
            try {
                return attempt.make();
            } catch (LostException e) {
                if (!failing) {
                    notes.accept(what + " yet: " + Errors.line(e));
                }
                pause(what, e);
            }
        }
    }

    /** Records a success. */
    public void succeeded() {
        failing = false;
    }

    /** Returns the longest time that the next attempt may take, in nanoseconds. */
    public long left() {
        return failing ? Math.max(SHORTEST_ATTEMPT, deadline - System.nanoTime()) : timeout;
    }

    /**
     * Waits until the next attempt.
     *
     * @param what describes the failure, as in "no connection to A"
     * @throws IOException if the timeout expires
     */
    public void pause(String what, Exception cause) throws IOException, InterruptedException {
        OptionalLong next = next(System.nanoTime());
        if (next.isEmpty()) {
            throw new IOException(
                    what + " within " + NANOSECONDS.toSeconds(timeout) + " s (--timeout): " + Errors.line(cause),
                    cause);
        }
        NANOSECONDS.sleep(next.getAsLong());
    }

    /** Returns the pause after a failure; empty if the timeout has expired. The last pause ends when it expires. */
    OptionalLong next(long now) {
        if (!failing) {
            failing = true;
            deadline = now + timeout;
            pause = FIRST;
        } else {
            pause = Math.min(2 * pause, LONGEST);
        }
        long left = deadline - now;
        return left <= 0 ? OptionalLong.empty() : OptionalLong.of(Math.min(pause, left));
    }
}
