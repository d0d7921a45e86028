// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.librpma;

import io.rpma.RpmaConn;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.TimeUnit;

/** Both sides of a ping-pong: the client sends a number, and the server answers with the next number. */
final class PingPong {
    static final int SIZE = Long.BYTES;

    /** The client's last message. */
    static final long I_M_DONE = -1;

    private final String who;
    private final RpmaConn conn;
    private final Events events;
    private final Messages messages;

    /**
     * Sets up one side.
     *
     * @param who the start of each printed line
     */
    PingPong(String who, RpmaConn conn, Events events, Messages messages) {
        this.who = who;
        this.conn = conn;
        this.events = events;
        this.messages = messages;
    }

    /** Runs the client's side. Each round continues with the number of the last answer. */
    void play(long first, long rounds, long sleepUs) throws InterruptedException {
        long value = first;
        for (long i = 0; i < rounds; i++) {
            messages.recv(conn);
            send(value);
            value = value(messages.received(events.awaitSentAndReceived()));
            tell("received", value);
            TimeUnit.MICROSECONDS.sleep(sleepUs);
        }
        messages.send(conn, bytes(I_M_DONE));
    }

    /**
     * Runs the server's side, for which a receive is already posted.
     *
     * @param recv posts the next receive
     */
    void serve(Runnable recv) throws InterruptedException {
        long value = value(messages.received(events.awaitReceived()));
        while (value != I_M_DONE) {
            tell("received", value);
            recv.run();
            send(value + 1);
            value = value(messages.received(events.awaitSentAndReceived()));
        }
    }

    private void send(long value) {
        tell("sent", value);
        messages.send(conn, bytes(value));
    }

    private void tell(String what, long value) {
        Common.OUT.println(who + " " + what + ": " + Long.toUnsignedString(value));
    }

    static byte[] bytes(long value) {
        return ByteBuffer.allocate(SIZE)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putLong(value)
                .array();
    }

    static long value(ByteBuffer message) {
        if (message.remaining() != SIZE) {
            throw new IllegalStateException("a message of " + message.remaining() + " bytes instead of " + SIZE);
        }
        return message.order(ByteOrder.LITTLE_ENDIAN).getLong(0);
    }
}
