// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.channel;

import io.rpma.RpmaConn;
import io.rpma.channel.ChannelException.LostException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
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

    /** By slot: a request without an answer, or with one that the other side still reads. */
    private final Reply[] slots;

    private int unanswered;
    private long bytes;
    private boolean finishing;
    private boolean lost;

    /**
     * Makes the side.
     *
     * @param open loses this side when the connection is closed
     */
    Serving(
            Channels channels,
            RpmaConn conn,
            Block buffers,
            Hello limits,
            String name,
            RequestHandler handler,
            Set<Serving> open) {
        super(channels, conn, buffers, limits, name);
        this.handler = handler;
        this.open = open;
        slots = new Reply[limits.requests()];
    }

    @Override
    void arrived(Frame frame) throws ChannelException {
        int slot = frame.slot();
        if (slot >= slots.length) {
            throw new ChannelException("a request without a slot");
        }
        switch (frame.kind()) {
            case REQUEST -> begin(slot, frame.length());
            case READ -> {
                if (!release(slot)) {
                    throw new ChannelException("a read of no answer");
                }
                lock.lock();
                try {
                    slots[slot] = null;
                } finally {
                    lock.unlock();
                }
                send(Frame.Kind.ANSWER, slot, NOTHING);
            }
            default -> throw new ChannelException("an answer to no request");
        }
    }

    private void begin(int slot, int length) throws ChannelException {
        lock.lock();
        try {
            if (slots[slot] != null || (bytes > 0 && bytes + length > limits.requestBytes())) {
                throw new ChannelException("more unanswered requests than the limit");
            }
            slots[slot] = new Reply(slot, length);
            unanswered++;
            bytes += length;
        } finally {
            lock.unlock();
        }
    }

    @Override
    void received(Frame frame, ByteBuffer message) {
        Reply reply;
        lock.lock();
        try {
            reply = slots[frame.slot()];
        } finally {
            lock.unlock();
        }
        try {
            handler.handle(message, reply);
        } catch (Exception e) {
            if (!reply.answer(Frame.Kind.REFUSAL, reason(String.valueOf(e.getMessage())))) {
                channels.log(this + ": the handler has failed after its answer: " + e);
            }
        }
    }

    /** A side that does not read its answers gets no more of them, although it may ask. */
    @Override
    boolean takesMore() {
        return offeredBytes() <= limits.requestBytes();
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
        handler.lost(reason);
    }

    @Override
    void freed() {
        open.remove(this);
    }

    /**
     * Begins the end: when all requests are answered, the other side gets the end of the answers, and ends the
     * connection.
     */
    void finish() {
        lock.lock();
        try {
            finishing = true;
            finishIfAnswered();
        } finally {
            lock.unlock();
        }
    }

    private void finishIfAnswered() {
        if (finishing && unanswered == 0) {
            finishing = false; // There is one receive for the end of the answers.
            try {
                send(Frame.Kind.CLOSE, slots.length, NOTHING);
            } catch (LostException e) {
                // The other side is gone.
            }
        }
    }

    /** Waits until the other side has ended the connection, or ends it at the deadline. */
    void awaitFinish(long deadline) {
        lock.lock();
        try {
            long left = deadline - System.nanoTime();
            while (!lost && left > 0) {
                left = changed.awaitNanos(left);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            lock.unlock();
        }
        end("this side is closed", null);
    }

    /** A reason is a small message, because the thread of the channels does not register memory. */
    private int mostReason() {
        return Math.min(limits.messageSize(), limits.bufferSize() - Frame.SIZE);
    }

    private Message reason(String text) {
        byte[] bytes = text.substring(0, Math.min(text.length(), MOST_REASON)).getBytes(StandardCharsets.UTF_8);
        return Message.of(ByteBuffer.wrap(bytes, 0, Math.min(bytes.length, mostReason())));
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
            int most = limits.messageSize();
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
            if (!begin(message)) {
                return false;
            }
            boolean sent = false;
            try {
                Serving.this.send(kind, slot, message);
                sent = true;
            } catch (LostException e) {
                sent = true; // The other side is gone, and asks again if it needs the answer.
            } finally {
                end(sent);
            }
            return true;
        }

        /** Makes room before the answer is sent, because the other side may then ask again at once. */
        private boolean begin(Message message) {
            lock.lock();
            try {
                if (done) {
                    return false;
                }
                done = true;
                bytes -= length;
                slots[slot] = isLarge(message) ? this : null;
                return true;
            } finally {
                lock.unlock();
            }
        }

        private void end(boolean sent) {
            lock.lock();
            try {
                if (sent) {
                    unanswered--;
                    finishIfAnswered();
                } else {
                    done = false;
                    bytes += length;
                    slots[slot] = this;
                }
            } finally {
                lock.unlock();
            }
        }
    }
}
