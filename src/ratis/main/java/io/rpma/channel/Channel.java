// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.channel;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

import io.rpma.RpmaConn;
import io.rpma.RpmaConnReq;
import io.rpma.channel.ChannelException.LostException;
import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;

/**
 * Sends requests to one other side, over one connection at a time.
 *
 * <p>The first request connects. If the connection ends, its unanswered requests fail, because nobody knows whether the
 * other side has carried them out, and the next request connects again: see {@link ChannelOptions#setPauses}.
 *
 * <p>Safe for use by many threads.
 */
public final class Channel implements AutoCloseable {
    private static final String CLOSED = "this side is closed";

    private final Channels channels;
    private final String address;
    private final int port;
    private final ReentrantLock lock = new ReentrantLock();
    // guarded by the lock
    private final Condition changed = lock.newCondition();
    private Asking link;
    private boolean connecting;
    private boolean closed;
    private int failedAttempts;

    /** The failures since the last answer. */
    private int failures;

    private long notBefore;
    private LostException failure;

    Channel(Channels channels, String address, int port) {
        this.channels = channels;
        this.address = address;
        this.port = port;
    }

    /**
     * Sends a request.
     *
     * <p>Blocks until there is a connection, and while there are as many unanswered requests or bytes as permitted: see
     * {@link ChannelOptions#setUnanswered}. In the thread of the {@link Channels}, in which the futures complete, it
     * fails instead.
     *
     * @param <T> the type of the answer
     * @param message the request, whose bytes are copied before this method returns
     * @param parser makes the result of the bytes of the answer, which are valid until it returns. The thread of the
     *     {@link Channels} calls it, so it must not block
     * @param timeout the maximum time until the answer
     * @param unit the unit of {@code timeout}
     * @return the result; a {@link ChannelException} if there is none, or the exception of the parser. Its actions run
     *     in the thread of the {@link Channels} and must not block
     * @throws IllegalArgumentException if the message is longer than {@link ChannelOptions#setMessageSize}
     * @throws IllegalStateException if this channel is closed
     * @throws InterruptedException if the thread is interrupted while it waits for the connection or for room
     */
    public <T> CompletableFuture<T> request(
            Message message, Function<ByteBuffer, ? extends T> parser, long timeout, TimeUnit unit)
            throws InterruptedException {
        Objects.requireNonNull(parser, "parser");
        int length = message.length();
        int most = channels.options().hello().messageSize();
        if (length > most) {
            throw new IllegalArgumentException("a message of " + length + " bytes, and the limit is " + most);
        }
        Asking.Request<T> request = new Asking.Request<>(length, System.nanoTime() + unit.toNanos(timeout), parser);
        try {
            connected(request).ask(request, message);
        } catch (ChannelException e) {
            request.future.completeExceptionally(e);
        }
        return request.future;
    }

    /** Returns the connection. Makes it if there is none. */
    private Asking connected(Asking.Request<?> request) throws ChannelException, InterruptedException {
        lock.lockInterruptibly();
        try {
            int before = failedAttempts;
            while (true) {
                if (closed) {
                    throw new IllegalStateException(this + " is closed");
                }
                if (link != null && link.isOpen()) {
                    return link;
                }
                if (failedAttempts != before) {
                    throw new LostException(failure.getMessage(), failure);
                }
                connectLater();
                request.await(changed, channels, this + ": no connection yet");
            }
        } finally {
            lock.unlock();
        }
    }

    private void connectLater() throws LostException {
        if (connecting) {
            return;
        }
        long pause = notBefore - System.nanoTime();
        if (failures > 0 && pause > 0) {
            throw new LostException(
                    failure.getMessage() + " (the next attempt is in " + NANOSECONDS.toMillis(pause) + " ms)", failure);
        }
        connecting = true;
        channels.execute(this::connect);
    }

    private void connect() {
        Asking made = null;
        LostException failed = null;
        try {
            made = attempt();
        } catch (Throwable e) {
            failed = new LostException(this + ": " + e.getMessage(), e);
        }
        boolean unwanted;
        lock.lock();
        try {
            connecting = false;
            if (failed == null) {
                link = made;
                made.start();
            } else {
                failedAttempts++;
                failed(failed);
            }
            unwanted = failed == null && closed;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
        if (unwanted) {
            made.end(CLOSED, null);
        }
    }

    private Asking attempt() throws ChannelException, InterruptedException {
        ChannelOptions options = channels.options();
        RpmaConn conn = null;
        Asking made = null;
        Block buffers = channels.takeBuffers();
        try (RpmaConnReq request = RpmaConnReq.create(channels.peer(), address, port, channels.cfg())) {
            Link.post(request, options, buffers);
            conn = request.connect(options.hello().toPrivateData(), options.connectNanos(), NANOSECONDS);
            Hello limits = options.hello().with(conn.getPrivateData());
            made = new Asking(channels, conn, buffers, limits, toString(), this);
            return made;
        } finally {
            if (made == null) {
                channels.close(conn, buffers);
            }
        }
    }

    private void failed(LostException reason) {
        failure = reason;
        failures++;
        notBefore = System.nanoTime() + channels.options().pauseNanos(failures);
    }

    /** Forgets the failures before a connection that has an answer. */
    void answered() {
        lock.lock();
        try {
            failures = 0;
        } finally {
            lock.unlock();
        }
    }

    /** Remembers the end of a connection. */
    void lost(LostException reason) {
        lock.lock();
        try {
            failed(reason);
        } finally {
            lock.unlock();
        }
    }

    /** {@return whether there is a connection, so that the next request does not make one} */
    public boolean isConnected() {
        lock.lock();
        try {
            return link != null && link.isOpen();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Closes the channel. Waits until each request has its answer or its time is over. Has no effect if the channel is
     * already closed. In the thread of the {@link Channels}, it does not wait, and the requests fail.
     */
    @Override
    public void close() {
        Asking last = closeForRequests();
        if (last != null && !channels.isOwnThread()) {
            last.awaitAnswers();
        }
        abort();
    }

    /** Closes the channel without waiting. Unanswered requests fail. */
    public void abort() {
        Asking last = closeForRequests();
        channels.remove(this);
        if (last != null) {
            last.end(CLOSED, null);
        }
    }

    private Asking closeForRequests() {
        lock.lock();
        try {
            closed = true;
            changed.signalAll();
            return link;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public String toString() {
        return address + " port " + port;
    }
}
