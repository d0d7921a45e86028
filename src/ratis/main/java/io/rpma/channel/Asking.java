// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.channel;

import static java.util.concurrent.TimeUnit.MILLISECONDS;

import io.rpma.RpmaConn;
import io.rpma.channel.ChannelException.LostException;
import io.rpma.channel.ChannelException.RefusedException;
import io.rpma.channel.ChannelException.TimeoutException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.stream.Stream;

/** The side of a connection that asks. */
final class Asking extends Link {
    /** A request that has no answer in time is noticed this much later at most. */
    private static final long TICK_MS = 10;

    /** The most bytes of a reason: each of its 1000 characters has at most 4. */
    private static final int MOST_REASON = 4000;

    /** A request without an answer. */
    static final class Request<T> {
        private final int length;
        private final long deadline;
        private final Function<ByteBuffer, ? extends T> parser;
        final CompletableFuture<T> future = new CompletableFuture<>();

        Request(int length, long deadline, Function<ByteBuffer, ? extends T> parser) {
            this.length = length;
            this.deadline = deadline;
            this.parser = parser;
        }

        private long left() {
            return deadline - System.nanoTime();
        }

        /**
         * Waits for a change, at most until the deadline.
         *
         * @param missing what there is not yet
         */
        void await(Condition change, Channels channels, String missing) throws ChannelException, InterruptedException {
            long left = left();
            if (left <= 0) {
                throw new TimeoutException(missing);
            }
            if (channels.isOwnThread()) {
                throw new ChannelException(missing + ", and this thread can't wait for it");
            }
            change.awaitNanos(left);
        }

        private void answered(Frame.Kind kind, ByteBuffer message) {
            if (future.isDone()) {
                return;
            }
            try {
                if (kind == Frame.Kind.REFUSAL) {
                    future.completeExceptionally(new RefusedException(
                            StandardCharsets.UTF_8.decode(message).toString()));
                } else {
                    future.complete(parser.apply(message));
                }
            } catch (Throwable e) {
                future.completeExceptionally(e);
            }
        }
    }

    private final Channel channel;

    private final ReentrantLock lock = new ReentrantLock();
    // guarded by the lock
    private final Condition changed = lock.newCondition();
    private final Request<?>[] slots;
    private int requests;
    private long bytes;
    private boolean ticking;

    /** Whether there was no room for a request since the last tick. */
    private boolean starved;

    /** Whether the thread of the channels completes futures of requests that it has removed. */
    private boolean completing;

    Asking(Channels channels, RpmaConn conn, Block buffers, Hello limits, String name, Channel channel) {
        super(channels, conn, buffers, limits, name);
        this.channel = channel;
        slots = new Request<?>[limits.requests()];
    }

    /** Sends a request, as soon as there is a slot for it. */
    void ask(Request<?> request, Message message) throws ChannelException, InterruptedException {
        if (request.length > limits.messageSize()) {
            throw new ChannelException(
                    this + ": a message of " + request.length + " bytes, and its limit is " + limits.messageSize());
        }
        int slot = takeSlot(request);
        boolean sent = false;
        try {
            send(Frame.Kind.REQUEST, slot, message);
            sent = true;
        } catch (RuntimeException | OutOfMemoryError e) {
            // for example, the memory of a large message can't be registered
            throw new ChannelException(this + ": " + e.getMessage(), e);
        } finally {
            if (!sent) {
                leaveSlot(slot, request);
            }
        }
    }

    private int takeSlot(Request<?> request) throws ChannelException, InterruptedException {
        lock.lockInterruptibly();
        try {
            checkOpen();
            while (!fits(request)) {
                starved = true;
                request.await(changed, channels, this + ": no room for another request");
                checkOpen();
            }
            int slot = 0;
            while (slots[slot] != null) {
                slot++;
            }
            slots[slot] = request;
            requests++;
            bytes += request.length;
            tickLater();
            return slot;
        } finally {
            lock.unlock();
        }
    }

    private boolean fits(Request<?> request) {
        return requests == 0 || (requests < slots.length && bytes + request.length <= limits.requestBytes());
    }

    /** Leaves a slot, unless the request has lost it with the connection. */
    private void leaveSlot(int slot, Request<?> request) {
        lock.lock();
        try {
            if (slots[slot] == request) {
                slots[slot] = null;
                requests--;
                bytes -= request.length;
                changed.signalAll();
            }
        } finally {
            lock.unlock();
        }
    }

    @Override
    void arrived(Frame frame) throws ChannelException {
        if (frame.kind() == Frame.Kind.REQUEST || frame.kind() == Frame.Kind.READ) {
            throw new ChannelException("a request of the side that answers");
        }
        if (frame.kind() == Frame.Kind.REFUSAL && frame.length() > MOST_REASON) {
            throw new ChannelException("a reason of " + frame.length() + " bytes");
        }
    }

    @Override
    boolean takesMore() {
        return true;
    }

    @Override
    void received(Frame frame, ByteBuffer message) throws ChannelException {
        if (frame.kind() == Frame.Kind.CLOSE) {
            end("the other side is closed", null);
            return;
        }
        // A slot whose answer was read is free when the other side has confirmed that it knows.
        Request<?> confirmation = frame.offered() ? confirmation() : null;
        Request<?> request;
        lock.lock();
        try {
            request = frame.slot() < slots.length ? slots[frame.slot()] : null;
            if (request == null) {
                throw new ChannelException("an answer to no request");
            }
            release(frame.slot());
            slots[frame.slot()] = confirmation;
            requests -= confirmation == null ? 1 : 0;
            bytes -= request.length;
            completing = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
        channel.answered();
        request.answered(frame.kind(), message);
        completed();
        if (confirmation != null) {
            send(Frame.Kind.READ, frame.slot(), NOTHING);
        }
    }

    private Request<Void> confirmation() {
        Request<Void> request =
                new Request<>(0, System.nanoTime() + channels.options().silenceNanos(), bytes -> null);
        request.future.complete(null); // nobody waits for it
        return request;
    }

    /** Fails all requests. */
    @Override
    void lost(LostException reason) {
        channel.lost(reason);
        List<Request<?>> failed;
        lock.lock();
        try {
            failed = unanswered().toList();
            Arrays.fill(slots, null);
            requests = 0;
            completing = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
        failed.forEach(request -> request.future.completeExceptionally(reason));
        completed();
    }

    private Stream<Request<?>> unanswered() {
        return Stream.<Request<?>>of(slots).filter(request -> request != null && !request.future.isDone());
    }

    private void tickLater() {
        if (!ticking && requests > 0) {
            ticking = true;
            channels.loop().schedule(this::tick, TICK_MS, MILLISECONDS);
        }
    }

    /**
     * Fails the requests whose time is over. Their slots remain in use until they are answered. If a caller waits for
     * room, and only for such requests, the connection is of no use any more.
     */
    private void tick() {
        List<Request<?>> late = new ArrayList<>();
        boolean useless;
        lock.lock();
        try {
            ticking = false;
            unanswered().filter(request -> request.left() <= 0).forEach(late::add);
            useless = requests > 0
                    && (starved || lock.hasWaiters(changed))
                    && Stream.of(slots).allMatch(request -> request == null || request.left() <= 0);
            starved = false;
            completing = true;
            tickLater();
        } finally {
            lock.unlock();
        }
        late.forEach(
                request -> request.future.completeExceptionally(new TimeoutException(this + ": no answer in time")));
        completed();
        if (useless) {
            end("the other side does not answer", null);
        }
    }

    private void completed() {
        lock.lock();
        try {
            completing = false;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Waits until each request has its answer or its time is over. */
    void awaitAnswers() {
        lock.lock();
        try {
            while (completing || unanswered().findAny().isPresent()) {
                changed.awaitUninterruptibly();
            }
        } finally {
            lock.unlock();
        }
    }
}
