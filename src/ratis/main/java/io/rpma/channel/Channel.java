// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.channel;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.NANOSECONDS;

import io.rpma.RpmaConn;
import io.rpma.RpmaConnCfg;
import io.rpma.RpmaConnReq;
import io.rpma.channel.ChannelException.LostException;
import io.rpma.channel.ChannelException.RefusedException;
import io.rpma.channel.ChannelException.TimeoutException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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
    /** A request that has no answer in time is noticed this much later at most. */
    private static final long TICK_MS = 10;

    private static final String CLOSED = "this side is closed";

    /** A request without an answer. */
    private static final class Request<T> {
        private final int length;
        private final long deadline;
        private final Function<ByteBuffer, ? extends T> parser;
        private final CompletableFuture<T> future = new CompletableFuture<>();

        /** A copy of the bytes, if they are not sent at once. */
        private Message message;

        Request(int length, long deadline, Function<ByteBuffer, ? extends T> parser) {
            this.length = length;
            this.deadline = deadline;
            this.parser = parser;
        }

        boolean isLate(long now) {
            return now - deadline >= 0 && !future.isDone();
        }

        void answered(Frame.Kind kind, ByteBuffer message) {
            if (future.isDone()) {
                return;
            }
            if (kind == Frame.Kind.REFUSAL) {
                future.completeExceptionally(new RefusedException(
                        StandardCharsets.UTF_8.decode(message).toString()));
                return;
            }
            try {
                future.complete(parser.apply(message));
            } catch (Throwable e) {
                future.completeExceptionally(e);
            }
        }
    }

    private final Channels channels;
    private final String address;
    private final int port;
    private final ReentrantLock lock = new ReentrantLock();
    // guarded by the lock
    private final Condition room = lock.newCondition();
    private final Map<Long, Request<?>> sent = new LinkedHashMap<>();
    private final Deque<Request<?>> unsent = new ArrayDeque<>();
    private long lastId;
    private long sentBytes;
    private long unsentBytes;
    private boolean ticking;

    /** Whether the thread of the channels completes futures of requests that it has removed. */
    private boolean completing;

    private boolean connecting;
    private boolean closed;
    private Link link;

    /** The buffers of attempts to connect that have failed. The thread that connects uses it without the lock. */
    private Link.Setup spare;

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
     * <p>Blocks while there are as many unanswered requests or bytes as permitted: see
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
     * @throws InterruptedException if the thread is interrupted while it waits for room
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
        Request<T> request = new Request<>(length, System.nanoTime() + unit.toNanos(timeout), parser);
        ChannelException failed;
        lock.lockInterruptibly();
        try {
            failed = awaitRoom(request);
            if (failed == null) {
                failed = accept(request, message);
                tickLater();
            }
        } finally {
            lock.unlock();
        }
        if (failed != null) {
            request.future.completeExceptionally(failed);
        }
        return request.future;
    }

    /** Returns null if there is room. */
    private ChannelException awaitRoom(Request<?> request) throws InterruptedException {
        while (true) {
            if (closed) {
                throw new IllegalStateException(this + " is closed");
            }
            int count = sent.size() + unsent.size();
            if (fits(channels.options().hello(), count, sentBytes + unsentBytes, request)) {
                return null;
            }
            long left = request.deadline - System.nanoTime();
            if (left <= 0) {
                return new TimeoutException(this + ": no room for another request");
            }
            if (channels.isOwnThread()) {
                return new ChannelException(this + ": no room for another request, and this thread can't wait for it");
            }
            room.awaitNanos(left);
        }
    }

    private static boolean fits(Hello limits, int count, long bytes, Request<?> request) {
        return count == 0 || (count < limits.requests() && bytes + request.length <= limits.requestBytes());
    }

    private boolean fitsThere(Request<?> request) {
        return link != null && fits(link.limits(), sent.size(), sentBytes, request);
    }

    /** Sends the request, or leaves it for later; returns the reason if this is not possible. */
    private ChannelException accept(Request<?> request, Message message) {
        if (unsent.isEmpty() && fitsThere(request)) {
            return send(request, message);
        }
        if (link == null && !connecting) {
            long pause = notBefore - System.nanoTime();
            if (failures > 0 && pause > 0) {
                return new LostException(
                        failure.getMessage() + " (the next attempt is in " + NANOSECONDS.toMillis(pause) + " ms)",
                        failure);
            }
            channels.execute(this::connect);
            connecting = true;
        }
        byte[] copy = new byte[request.length];
        message.writeTo(ByteBuffer.wrap(copy));
        request.message = Message.of(copy);
        unsent.add(request);
        unsentBytes += request.length;
        return null;
    }

    private ChannelException send(Request<?> request, Message message) {
        int most = link.limits().messageSize();
        if (request.length > most) {
            return new ChannelException(this + ": a message of " + request.length + " bytes, and its limit is " + most);
        }
        try {
            link.send(Frame.Kind.REQUEST, ++lastId, message);
            sent.put(lastId, request);
            sentBytes += request.length;
            return null;
        } catch (LostException e) {
            return e;
        } catch (RuntimeException | OutOfMemoryError e) {
            // for example, the memory of a large message can't be registered
            return new ChannelException(this + ": " + e.getMessage(), e);
        }
    }

    /** Sends what waits; returns what could not be sent, with the reasons. */
    private Map<Request<?>, ChannelException> sendUnsent() {
        Map<Request<?>, ChannelException> failed = new LinkedHashMap<>();
        while (!unsent.isEmpty() && fitsThere(unsent.element())) {
            Request<?> request = unsent.remove();
            unsentBytes -= request.length;
            ChannelException reason = send(request, request.message);
            request.message = null;
            if (reason != null) {
                failed.put(request, reason);
            }
        }
        return failed;
    }

    private void connect() {
        try {
            connected(attempt());
        } catch (Exception | OutOfMemoryError e) {
            String reason = this + ": " + e.getMessage();
            channels.loop().execute(() -> {
                attempted();
                lost(null, new LostException(reason, e));
            });
        }
    }

    private void attempted() {
        lock.lock();
        try {
            connecting = false;
        } finally {
            lock.unlock();
        }
        dropSpare();
    }

    /** Frees the buffers for the next connection, if there will be none. */
    private void dropSpare() {
        Link.Setup unused = null;
        lock.lock();
        try {
            if (closed && !connecting) {
                unused = spare;
                spare = null;
            }
        } finally {
            lock.unlock();
        }
        if (unused != null) {
            channels.close(unused);
        }
    }

    private Link attempt() throws ChannelException, InterruptedException {
        RpmaConn conn = null;
        Link made = null;
        if (spare == null) {
            spare = new Link.Setup(channels);
        }
        try (RpmaConnCfg cfg = Link.Setup.cfg(channels.options());
                RpmaConnReq request = RpmaConnReq.create(channels.peer(), address, port, cfg)) {
            spare.post(request);
            byte[] hello = channels.options().hello().toPrivateData();
            conn = request.connect(hello, channels.options().connectNanos(), NANOSECONDS);
            Hello other = Hello.fromPrivateData(conn.getPrivateData());
            Answers answers = new Answers();
            made = spare.link(conn, other, answers, toString());
            spare = null;
            answers.link = made;
            return made;
        } finally {
            if (conn != null && made == null) {
                channels.close(conn);
            }
        }
    }

    private void connected(Link made) {
        Map<Request<?>, ChannelException> failed;
        boolean unwanted;
        lock.lock();
        try {
            connecting = false;
            link = made;
            made.start();
            failed = sendUnsent();
            unwanted = closed;
        } finally {
            lock.unlock();
        }
        channels.loop().execute(() -> fail(failed));
        if (unwanted) {
            made.end(CLOSED, null);
            dropSpare();
        }
    }

    private static void fail(Map<Request<?>, ChannelException> failed) {
        failed.forEach((request, reason) -> request.future.completeExceptionally(reason));
    }

    /** Takes the answers of a connection. */
    private final class Answers implements Link.End {
        private Link link;

        @Override
        public void received(Frame frame, ByteBuffer message) throws ChannelException {
            if (frame.kind() == Frame.Kind.CLOSE) {
                link.end("the other side is closed", null);
                return;
            }
            Request<?> request;
            Map<Request<?>, ChannelException> failed;
            lock.lock();
            try {
                request = frame.kind() == Frame.Kind.REQUEST ? null : sent.remove(frame.id());
                if (request == null) {
                    throw new ChannelException("an answer to no request");
                }
                sentBytes -= request.length;
                failures = 0;
                failed = sendUnsent();
                completing = true;
                room.signalAll();
            } finally {
                lock.unlock();
            }
            request.answered(frame.kind(), message);
            fail(failed);
            completed();
        }

        @Override
        public boolean takes(int waitingMessages, long waitingBytes) {
            return true; // The requests that wait are limited.
        }

        @Override
        public void lost(LostException reason) {
            Channel.this.lost(link, reason);
        }
    }

    /**
     * Fails all requests, in the thread of the channels.
     *
     * @param from the connection; null if there is none
     */
    private void lost(Link from, LostException reason) {
        List<Request<?>> failed;
        lock.lock();
        try {
            if (from != link) {
                return;
            }
            failed = new ArrayList<>(sent.values());
            failed.addAll(unsent);
            sent.clear();
            unsent.clear();
            sentBytes = 0;
            unsentBytes = 0;
            link = null;
            failure = reason;
            failures++;
            notBefore = System.nanoTime() + channels.options().pauseNanos(failures);
            completing = true;
        } finally {
            lock.unlock();
        }
        failed.forEach(request -> request.future.completeExceptionally(reason));
        completed();
    }

    private void tickLater() {
        if (!ticking && sent.size() + unsent.size() > 0) {
            ticking = true;
            channels.loop().schedule(this::tick, TICK_MS, MILLISECONDS);
        }
    }

    /**
     * Fails the requests whose time is over. The other side still counts those that are sent, so they remain. If it
     * answers none of as many as it takes, the connection is of no use any more.
     */
    private void tick() {
        List<Request<?>> late = new ArrayList<>();
        Link useless = null;
        lock.lock();
        try {
            ticking = false;
            long now = System.nanoTime();
            sent.values().stream().filter(request -> request.isLate(now)).forEach(late::add);
            for (Iterator<Request<?>> all = unsent.iterator(); all.hasNext(); ) {
                Request<?> request = all.next();
                if (request.isLate(now)) {
                    all.remove();
                    unsentBytes -= request.length;
                    late.add(request);
                }
            }
            if (link != null
                    && sent.size() >= link.limits().requests()
                    && sent.values().stream().allMatch(request -> request.future.isDone())) {
                useless = link;
            }
            completing = true;
            tickLater();
        } finally {
            lock.unlock();
        }
        late.forEach(
                request -> request.future.completeExceptionally(new TimeoutException(this + ": no answer in time")));
        completed();
        if (useless != null) {
            useless.end("the other side does not answer", null);
        }
    }

    private void completed() {
        lock.lock();
        try {
            completing = false;
            room.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** {@return whether there is a connection} */
    public boolean isConnected() {
        lock.lock();
        try {
            return link != null;
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
        lock.lock();
        try {
            closed = true;
            room.signalAll();
            while (!channels.isOwnThread() && isAnyAwaited()) {
                room.awaitUninterruptibly();
            }
        } finally {
            lock.unlock();
        }
        abort();
    }

    /** Closes the channel without waiting. Unanswered requests fail. */
    public void abort() {
        Link last;
        lock.lock();
        try {
            closed = true;
            last = link;
            room.signalAll();
        } finally {
            lock.unlock();
        }
        dropSpare();
        boolean isFirst = channels.remove(this);
        if (last != null) {
            last.end(CLOSED, null);
        } else if (isFirst) {
            channels.loop().execute(() -> lost(null, new LostException(this + ": " + CLOSED, null)));
        }
    }

    private boolean isAnyAwaited() {
        return completing || !unsent.isEmpty() || sent.values().stream().anyMatch(request -> !request.future.isDone());
    }

    @Override
    public String toString() {
        return address + " port " + port;
    }
}
