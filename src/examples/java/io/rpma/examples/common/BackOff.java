package io.rpma.examples.common;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.NANOSECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;

import java.io.IOException;
import java.util.OptionalLong;
import java.util.function.Consumer;

/**
 * The pauses between attempts: each twice as long as the one before, up to a bound, until the time is up.
 *
 * <p>The time begins with the first failure after something has worked, and not with each connection: where connecting
 * succeeds and all else fails, this ends too.
 */
public final class BackOff {
    /** The first pause. */
    static final long FIRST = MILLISECONDS.toNanos(100);

    /** The longest pause: the other side is back for so long, at most, before it is noticed. */
    static final long LONGEST = SECONDS.toNanos(3);

    private static final long SHORTEST_ATTEMPT = SECONDS.toNanos(1);

    private final long timeout;
    private boolean failing;
    private long deadline;
    private long pause;

    /** With the time after which to give up, in seconds. */
    public BackOff(int timeout) {
        this.timeout = SECONDS.toNanos(timeout);
    }

    /** Something that fails while the other side is lost. */
    public interface Attempt<T> {
        /** Tries once. */
        T make() throws IOException, InterruptedException;
    }

    /**
     * Tries until it works.
     *
     * @param what to say if it has not, as in "no connection to A"
     * @param notes is told why the first attempt has failed
     * @throws IOException if the time is up, or another failure than that the other side is lost
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

    /** Something has worked. */
    public void succeeded() {
        failing = false;
    }

    /** How long an attempt may take, in nanoseconds. */
    public long left() {
        return failing ? Math.max(SHORTEST_ATTEMPT, deadline - System.nanoTime()) : timeout;
    }

    /**
     * Waits until the next attempt.
     *
     * @param what has failed, as in "no connection to A"
     * @throws IOException if the time is up
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

    /** The pause after a failure; empty if the time is up. The last attempt is made when it is. */
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
