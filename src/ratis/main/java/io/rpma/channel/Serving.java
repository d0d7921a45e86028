// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.channel;

import io.rpma.RpmaConn;
import io.rpma.channel.ChannelException.LostException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.BitSet;
import java.util.Set;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** The side of a connection that answers. */
final class Serving extends Link {
    private static final int MOST_REASON = 1000;

    private final RequestHandler handler;
    private final Set<Serving> open;

    private final ReentrantLock lock = new ReentrantLock();
    // guarded by the lock
    private final Condition changed = lock.newCondition();

    /** The slots that have a request without an answer, or an answer that is not read. */
    private final BitSet slots = new BitSet();

    private int requests;
    private long bytes;
    private boolean lost;

    /**
     * Makes the side.
     *
     * @param open loses this side at the end of the connection
     */
    Serving(
            Channels channels,
            RpmaConn conn,
            Buffers buffers,
            Hello limits,
            String name,
            RequestHandler handler,
            Set<Serving> open) {
        super(channels, conn, buffers, limits, name);
        this.handler = handler;
        this.open = open;
    }

    @Override
    void received(Frame frame, ByteBuffer message) throws ChannelException {
        switch (frame.kind()) {
            case REQUEST -> handle(begin(frame), message);
            case READ -> {
                if (frame.slot() >= limits().requests() || !release(frame.slot())) {
                    throw new ChannelException("a read of no answer");
                }
                lock.lock();
                try {
                    slots.clear(frame.slot());
                } finally {
                    lock.unlock();
                }
                send(Frame.Kind.ANSWER, frame.slot(), NOTHING);
            }
            default -> throw new ChannelException("an answer to no request");
        }
    }

    private Reply begin(Frame frame) throws ChannelException {
        lock.lock();
        try {
            if (frame.slot() >= limits().requests()
                    || slots.get(frame.slot())
                    || (requests > 0 && bytes + frame.length() > limits().requestBytes())) {
                throw new ChannelException("more unanswered requests than the limit");
            }
            slots.set(frame.slot());
            requests++;
            bytes += frame.length();
        } finally {
            lock.unlock();
        }
        return new Reply(frame.slot(), frame.length());
    }

    private void handle(Reply reply, ByteBuffer message) {
        try {
            handler.handle(message, reply);
        } catch (Exception e) {
            if (!reply.answer(Frame.Kind.REFUSAL, reason(String.valueOf(e.getMessage())))) {
                channels().log(this + ": the handler has failed after its answer: " + e);
            }
        }
    }

    @Override
    void lost(LostException reason) {
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
                    send(Frame.Kind.CLOSE, limits().requests(), NOTHING);
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
            end("this side is closed", null);
        }
    }

    private static Message reason(String text) {
        String start = text.length() > MOST_REASON ? text.substring(0, MOST_REASON) : text;
        return Message.of(start.getBytes(StandardCharsets.UTF_8));
    }

    private final class Reply implements RequestHandler.Answer {
        private final int slot;
        private final int length;
        private boolean done;

        Reply(int slot, int length) {
            this.slot = slot;
            this.length = length;
        }

        @Override
        public void send(Message message) {
            int most = limits().messageSize();
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
                slots.set(slot, sendIfOpen(kind, message));
                done = true;
                requests--;
                bytes -= length;
                changed.signalAll();
                return true;
            } finally {
                lock.unlock();
            }
        }

        private boolean sendIfOpen(Frame.Kind kind, Message message) {
            try {
                return Serving.this.send(kind, slot, message);
            } catch (LostException e) {
                return false; // The other side is gone, and asks again if it needs the answer.
            }
        }
    }
}
