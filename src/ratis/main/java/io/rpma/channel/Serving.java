// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.channel;

import io.rpma.channel.ChannelException.LostException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** The side of a connection that answers. */
final class Serving implements Link.End {
    private static final int MOST_REASON = 1000;
    private static final Message NOTHING = Message.of(new byte[0]);

    private final Channels channels;
    private final RequestHandler handler;
    private final Set<Serving> open;
    private Link link;

    private final ReentrantLock lock = new ReentrantLock();
    // guarded by the lock
    private final Condition changed = lock.newCondition();
    private int requests;
    private long bytes;
    private boolean lost;

    /**
     * Makes the side, which needs a connection.
     *
     * @param open has this side from {@link #start} to the end of the connection
     */
    Serving(Channels channels, RequestHandler handler, Set<Serving> open) {
        this.channels = channels;
        this.handler = handler;
        this.open = open;
    }

    void start(Link made) {
        link = made;
        open.add(this);
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
            if (!reply.answer(Frame.Kind.REFUSAL, reason(String.valueOf(e.getMessage())))) {
                channels.log(link + ": the handler has failed after its answer: " + e);
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

    /** Answers wait if the other side does not take them. Then it gets no more of them, although it may ask. */
    @Override
    public boolean takes(int waitingMessages, long waitingBytes) {
        return waitingMessages < link.limits().requests()
                && waitingBytes <= link.limits().requestBytes();
    }

    @Override
    public void lost(LostException reason) {
        lock.lock();
        try {
            lost = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
        open.remove(this);
    }

    /**
     * Waits until all requests are answered, and the other side, which then gets the end of the answers, has ended the
     * connection; at most for a time.
     */
    void finish(long nanos) {
        long left = nanos;
        boolean told = false;
        lock.lock();
        try {
            while (!lost && left > 0) {
                if (requests == 0 && !told) {
                    link.send(Frame.Kind.CLOSE, 0, NOTHING);
                    told = true;
                }
                left = changed.awaitNanos(left);
            }
        } catch (LostException e) {
            // The other side is gone.
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            lock.unlock();
            link.end("this side is closed", null);
        }
    }

    private static Message reason(String text) {
        String start = text.length() > MOST_REASON ? text.substring(0, MOST_REASON) : text;
        return Message.of(start.getBytes(StandardCharsets.UTF_8));
    }

    private final class Reply implements RequestHandler.Answer {
        private final long id;
        private final int length;
        private boolean done;

        Reply(long id, int length) {
            this.id = id;
            this.length = length;
        }

        @Override
        public void send(Message message) {
            int most = link.limits().messageSize();
            if (message.length() > most) {
                refuse("the answer has " + message.length() + " bytes, and the limit is " + most);
            } else {
                check(answer(Frame.Kind.ANSWER, message));
            }
        }

        @Override
        public void refuse(String reason) {
            check(answer(Frame.Kind.REFUSAL, reason(reason)));
        }

        private static void check(boolean answered) {
            if (!answered) {
                throw new IllegalStateException("the request is already answered");
            }
        }

        /**
         * Answers the request, and returns false if it is already answered. If the message can't be copied, the request
         * is not answered.
         */
        boolean answer(Frame.Kind kind, Message message) {
            // With the lock, because the other side may ask again as soon as it has the answer.
            lock.lock();
            try {
                if (done) {
                    return false;
                }
                sendIfOpen(kind, message);
                done = true;
                requests--;
                bytes -= length;
                changed.signalAll();
                return true;
            } finally {
                lock.unlock();
            }
        }

        private void sendIfOpen(Frame.Kind kind, Message message) {
            try {
                link.send(kind, id, message);
            } catch (LostException e) {
                // The other side is gone, and asks again if it needs the answer.
            }
        }
    }
}
