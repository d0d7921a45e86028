// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools.perf;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.NANOSECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;

import io.rpma.RpmaEventLoop;
import io.rpma.support.Errors;
import io.rpma.support.Listener;
import java.util.Optional;

/** The server's side of one connection, which is one measurement. */
abstract class PerfServerEnd implements Listener.Session {
    /** The most completions that are taken at once. */
    static final int BATCH = 64;

    /** The time of a wait for messages, after which the connection is checked. */
    static final int WAIT_MS = 100;

    /** The time without a message or an answer after which a client counts as gone. */
    static final int SILENCE_S = 30;

    private final int number;
    private final PerfRequest request;

    /** The answers that wait for room in the send queue. */
    private int owed;

    PerfServerEnd(int number, PerfRequest request) {
        this.number = number;
        this.request = request;
    }

    @Override
    public final void serve() throws InterruptedException {
        Optional<String> failure = awaitEstablished();
        if (failure.isPresent()) {
            Listener.say("%d: not established: %s", number, failure.get());
        } else if (request.operation().isAnswered()) {
            answer(SECONDS.toNanos(SILENCE_S)).ifPresent(reason -> Listener.say("%d: %s", number, reason));
        } else {
            await();
        }
    }

    /** Waits until the connection is established. Returns the reason if it is not. */
    abstract Optional<String> awaitEstablished() throws InterruptedException;

    /** Waits until the client has ended, or its host does not answer. */
    private void await() throws InterruptedException {
        try (RpmaEventLoop loop = RpmaEventLoop.create()) {
            loop.onFailure((source, failure) -> {
                Listener.say("%d: %s", number, Errors.line(failure));
                loop.stop();
            });
            watch(loop, () -> {
                Listener.say("%d: the client's host does not answer", number);
                loop.stop();
            });
            loop.run();
        }
    }

    /**
     * Lets a loop stop at an event and at a completion, which is a failure.
     *
     * @param lost is run if the client's host does not answer
     */
    abstract void watch(RpmaEventLoop loop, Runnable lost);

    /**
     * Answers messages until the client has ended, or is silent.
     *
     * @param silence the time without a message after which a client counts as gone, in nanoseconds
     * @return a line if the client is silent; empty at the usual end
     */
    final Optional<String> answer(long silence) throws InterruptedException {
        long last = System.nanoTime();
        long checked = last;
        while (true) {
            int taken = take();
            if (taken < 0) {
                return Optional.empty(); // also the usual end: the client closes its connection
            }
            while (owed > 0 && send()) {
                owed--;
            }
            long now = System.nanoTime();
            if (taken > 0) {
                last = now;
            } else if (!request.events()) {
                Spin.pause();
            }
            if (now - checked > MILLISECONDS.toNanos(WAIT_MS)) {
                checked = now;
                if (Thread.interrupted()) {
                    throw new InterruptedException();
                }
                if (isEnded()) {
                    return Optional.empty();
                }
                if (now - last > silence) {
                    return Optional.of("the client is silent, and its connection is closed: no message within "
                            + NANOSECONDS.toMillis(silence) + " ms");
                }
            }
        }
    }

    /**
     * Takes completions, and calls {@link #received} for each message.
     *
     * @return the number of completions; negative if the connection can't be used any more
     */
    abstract int take() throws InterruptedException;

    /** Counts a message, which is to be answered. */
    final void received() {
        owed++;
    }

    /** Sends an answer. Returns false if the send queue is full. */
    abstract boolean send();

    /** Returns whether the client has ended the connection. */
    abstract boolean isEnded() throws InterruptedException;
}
