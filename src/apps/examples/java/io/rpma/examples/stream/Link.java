// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.stream;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.NANOSECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaConn;
import io.rpma.RpmaConnCfg;
import io.rpma.RpmaConnEvent;
import io.rpma.RpmaException;
import io.rpma.support.Errors;
import io.rpma.support.LostException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.channels.AsynchronousCloseException;
import java.util.function.BooleanSupplier;

/**
 * The connection of one end of a stream: it posts, waits for completions, and detects the loss of the other end.
 *
 * <p>An event reports the death of the other process. No event reports the death of the other host, so a silent host is
 * probed by an empty write, which the device of the other host acknowledges. An other end that is alive and slow is not
 * lost.
 *
 * <p>After a call has thrown the exception of a failure, each call throws this exception again.
 */
final class Link {
    /** The identifier of this protocol in the private data of a request and of its acceptance: "strm". */
    static final int SERVICE = 0x7374_726d;

    /** The maximum number of messages that the writer has sent and the reader has not freed. */
    static final int MESSAGES = 256;

    /** The immediate data of the end of the stream, in place of the length of a message. */
    static final int END = 0;

    /** At most four reports of bytes and four of messages are under way, and the acknowledgment of the end. */
    static final int REPORTS = 9;

    private static final int MOST_COMPLETIONS = 64;

    /** The time without a completion after which the events are checked. */
    private static final long CHECK_MS = 100;

    /** The operation context of a probe. */
    private static final long PROBE = -1;

    /** The operation context of a receive. */
    static final long RECEIVE = -2;

    private final String name;
    private final RpmaConn conn;
    private final Handler handler;
    private final long silence;
    private final RpmaCompletions completions = RpmaCompletions.create(MOST_COMPLETIONS);
    private long heard = System.nanoTime();
    private boolean probed;

    /** The reason of the loss of the other end, after which earlier completions can remain; null before the loss. */
    private String end;

    private volatile IOException failure;
    private volatile boolean closed;

    /** Gets the successful completions. */
    interface Handler {
        /**
         * Handles a completion.
         *
         * @throws IOException if the other side violates the protocol
         */
        void completed(RpmaCompletions completions, int index) throws IOException;
    }

    /**
     * Takes over a connection.
     *
     * @param name names the other side
     * @param timeout the maximum time until the loss of the other side is detected, in seconds
     */
    Link(String name, RpmaConn conn, int timeout, Handler handler) {
        this.name = name;
        this.conn = conn;
        this.handler = handler;
        silence = SECONDS.toNanos(timeout) / 2;
    }

    /** Returns the configuration of the writer's connection. The caller closes it. */
    static RpmaConnCfg writerCfg() {
        return cfg(MESSAGES + 2, REPORTS); // also the end of the stream, and a probe
    }

    /** Returns the configuration of the reader's connection. The caller closes it. */
    static RpmaConnCfg readerCfg() {
        return cfg(REPORTS + 1, MESSAGES + 1);
    }

    private static RpmaConnCfg cfg(int sends, int receives) {
        return RpmaConnCfg.create().setSqSize(sends).setRqSize(receives).setCqSize(sends + receives);
    }

    /** Posts an operation. While the queue has no room, takes completions. */
    void post(BooleanSupplier operation) throws IOException {
        checkUsable();
        try {
            while (!operation.getAsBoolean()) {
                await();
            }
        } catch (RpmaException | IllegalStateException e) {
            throw failed(e);
        }
    }

    /** Handles the completions that are there, without waiting, so that a failure does not wait for a full queue. */
    void poll() throws IOException {
        checkUsable();
        try {
            handle(conn.getCq().poll(completions));
        } catch (RpmaException | IllegalStateException e) {
            throw failed(e);
        }
    }

    /** Waits until completions are handled, or returns after a while so that the caller can wait again. */
    void await() throws IOException {
        checkUsable();
        try {
            int taken = take();
            if (taken > 0) {
                handle(taken);
            } else if (end != null) {
                throw lost(end);
            } else {
                probeIfSilent();
            }
        } catch (RpmaException | IllegalStateException e) {
            throw failed(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while waiting for " + name);
        }
    }

    /** Takes completions. What the other side has executed before its disconnection can complete after that event. */
    private int take() throws InterruptedException {
        if (end == null) {
            try {
                return conn.getCq().awaitWhileConnected(completions, CHECK_MS, MILLISECONDS);
            } catch (RpmaException e) {
                end = Errors.loss(e);
            }
        }
        return conn.getCq().await(completions, CHECK_MS, MILLISECONDS);
    }

    private void handle(int taken) throws IOException {
        if (taken > 0) {
            heard = System.nanoTime();
            probed = false;
        }
        for (int i = 0; i < taken; i++) {
            if (!completions.isSuccess(i)) {
                end = completions.status(i) + " (" + completions.status(i).description() + ")";
                if (i == 0) {
                    throw lost(end);
                }
                return; // The caller first sees the messages that arrived before the failure. The next wait throws.
            }
            if (completions.wrId(i) != PROBE) {
                handler.completed(completions, i);
            }
        }
    }

    private void probeIfSilent() throws IOException {
        long now = System.nanoTime();
        if (now - heard < silence) {
            return;
        }
        if (probed) {
            throw lost("no answer within " + NANOSECONDS.toSeconds(2 * silence) + " s");
        }
        conn.write(RpmaConn.F_COMPLETION_ALWAYS, PROBE); // If the queue is full, its operations are the probe.
        probed = true;
        heard = now;
    }

    /**
     * Posts receives for messages without bytes. The queue has room: each message that was received has left its place.
     */
    void receive(int count) throws IOException {
        checkUsable();
        try {
            for (int i = 0; i < count; i++) {
                if (!conn.recv(RECEIVE)) {
                    throw violated("no room for a receive");
                }
            }
        } catch (RpmaException | IllegalStateException e) {
            throw failed(e);
        }
    }

    /** Ends the connection, after all operations of this side have completed. */
    void disconnect() throws IOException {
        try {
            conn.disconnect();
        } catch (RpmaException | IllegalStateException e) {
            throw failed(e);
        }
    }

    /** Waits until the other side has ended the connection, at most for the timeout. */
    void awaitDisconnect() throws IOException {
        try {
            if (end == null) {
                end = conn.nextEvent(2 * silence, NANOSECONDS)
                        .map(RpmaConnEvent::description)
                        .orElse(null);
            }
        } catch (RpmaException | IllegalStateException e) {
            throw failed(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // The wait is only a courtesy to the other side.
        }
    }

    /** Returns whether no call has thrown a failure, and the connection is not closed. */
    boolean isUsable() {
        return failure == null && !closed;
    }

    /** Returns whether the connection is usable, and the other end is not known to be lost. */
    boolean isConnected() {
        return isUsable() && end == null;
    }

    private void checkUsable() throws IOException {
        if (failure != null) {
            throw failure;
        }
        if (closed) {
            throw new AsynchronousCloseException();
        }
    }

    /** Records a violation of the protocol by the other side. */
    IOException violated(String reason) {
        return failed(new IOException(name + ": " + reason));
    }

    private IOException lost(String reason) {
        return failed(new LostException(name, reason));
    }

    private IOException failed(RuntimeException e) {
        if (closed) {
            return new AsynchronousCloseException();
        }
        if (e instanceof RpmaException) {
            return lost(Errors.line(e));
        }
        throw e;
    }

    private IOException failed(IOException e) {
        failure = e;
        return e;
    }

    /** Closes the connection. Any thread may call this at any time: the waits of other threads end. */
    void close() {
        closed = true;
        close(conn);
    }

    static void close(RpmaConn conn) {
        try {
            conn.close();
        } catch (RpmaException e) {
            // The connection is closed nevertheless, and is not needed any more.
        }
    }
}
