// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.channel;

import io.rpma.channel.ChannelException.LostException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

/** The side of a connection that answers. */
final class Serving implements Link.End {
    private static final int MOST_REASON = 1000;

    private final Channels channels;
    private final RequestHandler handler;
    private final Consumer<Serving> ended;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition answered = lock.newCondition();
    private Link link;
    private int requests;
    private long bytes;
    private boolean lost;

    /**
     * Makes the side, which needs a connection.
     *
     * @param ended is called when the connection has ended
     */
    Serving(Channels channels, RequestHandler handler, Consumer<Serving> ended) {
        this.channels = channels;
        this.handler = handler;
        this.ended = ended;
    }

    void start(Link made) {
        link = made;
        made.start();
    }

    @Override
    public void received(Frame frame, ByteBuffer message) throws ChannelException {
        if (frame.kind() != Frame.Kind.REQUEST) {
            throw new ChannelException("an answer to no request");
        }
        Reply reply = new Reply(frame.id(), frame.length());
        begin(frame.length());
        try {
            handler.handle(message, reply);
        } catch (Exception e) {
            if (reply.isDone()) {
                channels.log(link + ": the handler has failed after its answer: " + e);
            } else {
                reply.refuse(String.valueOf(e.getMessage()));
            }
        }
    }

    private void begin(int length) throws ChannelException {
        lock.lock();
        try {
            requests++;
            bytes += length;
            Hello limits = link.limits();
            if (requests > limits.requests() || (requests > 1 && bytes > limits.requestBytes())) {
                throw new ChannelException("more unanswered requests than the limit");
            }
        } finally {
            lock.unlock();
        }
    }

    private void done(int length) {
        lock.lock();
        try {
            requests--;
            bytes -= length;
            answered.signalAll();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void lost(LostException reason) {
        lock.lock();
        try {
            lost = true;
            answered.signalAll();
        } finally {
            lock.unlock();
        }
        ended.accept(this);
    }

    /** Waits until all requests are answered and the answers have arrived, at most for a time, and ends. */
    void finish(long nanos) throws InterruptedException {
        try {
            link.awaitSent(awaitAnswers(nanos));
        } finally {
            link.end("this side is closed", null);
        }
    }

    /** Returns the time that is left. */
    private long awaitAnswers(long nanos) throws InterruptedException {
        long left = nanos;
        lock.lockInterruptibly();
        try {
            while (requests > 0 && !lost && left > 0) {
                left = answered.awaitNanos(left);
            }
            return left;
        } finally {
            lock.unlock();
        }
    }

    private final class Reply implements RequestHandler.Answer {
        private final long id;
        private final int length;
        private final AtomicBoolean done = new AtomicBoolean();

        Reply(long id, int length) {
            this.id = id;
            this.length = length;
        }

        boolean isDone() {
            return done.get();
        }

        @Override
        public void send(Message message) {
            int most = link.limits().messageSize();
            if (message.length() > most) {
                refuse("the answer has " + message.length() + " bytes, and the limit is " + most);
                return;
            }
            take();
            try {
                answer(Frame.Kind.ANSWER, message);
            } catch (RuntimeException e) {
                answer(Frame.Kind.REFUSAL, reason(String.valueOf(e.getMessage())));
                throw e;
            }
        }

        @Override
        public void refuse(String reason) {
            take();
            answer(Frame.Kind.REFUSAL, reason(reason));
        }

        private static Message reason(String text) {
            String start = text.length() > MOST_REASON ? text.substring(0, MOST_REASON) : text;
            return Message.of(start.getBytes(StandardCharsets.UTF_8));
        }

        /** Before the answer is sent: the other side may send another request as soon as it has the answer. */
        private void take() {
            if (!done.compareAndSet(false, true)) {
                throw new IllegalStateException("the request is already answered");
            }
            done(length);
        }

        private void answer(Frame.Kind kind, Message message) {
            try {
                link.send(kind, id, message);
            } catch (LostException e) {
                // The other side is gone, and asks again if it needs the answer.
            }
        }
    }
}
