// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.channel;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.rpma.RpmaConn;
import io.rpma.RpmaConnCfg;
import io.rpma.RpmaConnEvent;
import io.rpma.RpmaConnReq;
import io.rpma.RpmaDevice;
import io.rpma.RpmaException;
import io.rpma.RpmaMemory;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrUsage;
import io.rpma.RpmaPeer;
import io.rpma.testing.TestDevice;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The other side of a connection violates the protocol: only this connection ends. */
@Tag("stand-in")
class HostileChannelIT {
    private static final Hello HELLO = new Hello(1 << 10, 1 << 20, 4, 1 << 20);

    private final String address = TestDevice.address();
    private final int port = TestDevice.port();
    private final RpmaPeer peer = TestDevice.peer();
    private final RpmaMemory memory = RpmaMemory.allocate(1 << 16);
    private final RpmaMrLocal region = peer.register(memory, RpmaMrUsage.SEND, RpmaMrUsage.RECV, RpmaMrUsage.READ_SRC);
    private final RpmaMemory largeMemory = RpmaMemory.allocate(HELLO.requestBytes());
    private final RpmaMrLocal large = peer.register(largeMemory, RpmaMrUsage.READ_SRC);
    private final Channels server = Channels.create(RpmaDevice.local(address), new ChannelOptions());
    private final Channels channels = Channels.create(RpmaDevice.local(address), new ChannelOptions());
    /** The requests of 3 bytes, which have large answers, that the server has taken. */
    private final AtomicInteger handled = new AtomicInteger();

    private Channel other;
    private int sent;

    @BeforeEach
    void listen() throws Exception {
        server.listen(address, port, () -> (request, answer) -> {
            switch (request.remaining()) {
                case 3 -> {
                    handled.incrementAndGet();
                    answer.send(Message.of(new byte[100_000]));
                }
                case 9 -> {
                    // no answer
                }
                default -> answer.send(Message.of(request));
            }
        });
        other = channels.connect(address, port);
        checkOther();
    }

    /** Another client of the same server still has answers. */
    private void checkOther() throws Exception {
        assertThat(other.request(Message.of(new byte[5]), ByteBuffer::remaining, 30, SECONDS)
                        .get())
                .isEqualTo(5);
    }

    @AfterEach
    void close() {
        channels.close();
        server.close();
        region.close();
        memory.close();
        large.close();
        largeMemory.close();
        peer.close();
    }

    private RpmaConn connect(byte[] privateData) throws InterruptedException {
        try (RpmaConnCfg cfg = RpmaConnCfg.create().setSqSize(64).setRqSize(64).setCqSize(128)) {
            return RpmaConnReq.create(peer, address, port, cfg).connect(privateData, 30, SECONDS);
        }
    }

    /** Sends from another place each time, because the device may not have read the last one. */
    private void send(RpmaConn conn, Frame frame, byte... content) {
        int offset = 64 * (sent++ % 64);
        ByteBuffer bytes = memory.buffer().clear().position(offset);
        frame.writeTo(bytes);
        bytes.put(content);
        assertThat(conn.send(region, offset, bytes.position() - offset, RpmaConn.F_COMPLETION_ON_ERROR, 0))
                .isTrue();
    }

    private static Frame request(int length) {
        return new Frame(Frame.Kind.REQUEST, false, 1, length);
    }

    private static Frame offer(int length) {
        return new Frame(Frame.Kind.REQUEST, true, 1, length);
    }

    /** What a side can do wrong. */
    enum Violation {
        NO_HEADER,
        UNKNOWN_KIND,
        AN_ANSWER,
        A_LARGE_ANSWER,
        A_CLOSE,
        NEGATIVE_LENGTH,
        ANOTHER_LENGTH,
        TOO_LONG,
        READ_OF_NOTHING,
        READ_WITHOUT_SLOT,
        NO_SLOT,
        SLOT_IN_USE,
        NO_DESCRIPTOR,
        EMPTY_REGION,
        SHORT_REGION,
        CLOSED_REGION,
        MORE_BYTES
    }

    private void violate(RpmaConn conn, Violation violation) {
        byte[] descriptor = region.getDescriptor();
        switch (violation) {
            case NO_HEADER -> conn.send(region, 0, Frame.SIZE - 1, RpmaConn.F_COMPLETION_ON_ERROR, 0);
            case UNKNOWN_KIND -> {
                memory.buffer().put(0, (byte) 77);
                conn.send(region, 0, Frame.SIZE, RpmaConn.F_COMPLETION_ON_ERROR, 0);
            }
            case AN_ANSWER -> send(conn, new Frame(Frame.Kind.ANSWER, false, 1, 0));
            case A_LARGE_ANSWER -> send(conn, new Frame(Frame.Kind.ANSWER, true, 1, 1 << 16), descriptor);
            case A_CLOSE -> send(conn, new Frame(Frame.Kind.CLOSE, false, 0, 0));
            case NEGATIVE_LENGTH -> send(conn, request(-1));
            case ANOTHER_LENGTH -> send(conn, request(4), new byte[3]);
            case TOO_LONG -> send(conn, request(HELLO.messageSize() + 1));
            case READ_OF_NOTHING -> send(conn, new Frame(Frame.Kind.READ, false, 1, 0));
            case READ_WITHOUT_SLOT -> send(conn, new Frame(Frame.Kind.READ, false, 65_535, 0));
            case NO_SLOT -> send(conn, new Frame(Frame.Kind.REQUEST, false, HELLO.requests(), 0));
            case SLOT_IN_USE -> {
                send(conn, request(9), new byte[9]);
                send(conn, request(9), new byte[9]);
            }
            case NO_DESCRIPTOR -> send(conn, offer(100), new byte[5]);
            case EMPTY_REGION -> send(conn, offer(0), descriptor);
            case SHORT_REGION -> send(conn, offer((1 << 16) + 1), descriptor);
            case CLOSED_REGION -> {
                RpmaMrLocal closed = peer.register(memory, RpmaMrUsage.READ_SRC);
                byte[] old = closed.getDescriptor();
                closed.close();
                send(conn, offer(1_000), old);
            }
            case MORE_BYTES -> {
                send(conn, request(9), new byte[9]);
                // the server does not look at the limit before it has the whole message
                send(conn, new Frame(Frame.Kind.REQUEST, true, 2, HELLO.requestBytes()), large.getDescriptor());
            }
            default -> throw new AssertionError(violation);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aViolationEndsTheConnection(Violation violation) throws Exception {
        try (RpmaConn conn = connect(HELLO.toPrivateData())) {
            violate(conn, violation);
            // A server that ends before it knows that the client is connected rejects it.
            assertThat(conn.nextEvent(30, SECONDS).orElseThrow()).isIn(RpmaConnEvent.CLOSED, RpmaConnEvent.REJECTED);
        }
        checkOther();
    }

    /** The answers that the server keeps for a client that reads none are limited. */
    @Test
    void aClientThatReadsNoAnswersGetsNoMoreOfThem() throws Exception {
        Hello hello = new Hello(1 << 10, 1 << 20, 4, 1 << 17);
        try (RpmaConn conn = connect(hello.toPrivateData())) {
            for (int i = 0; i < 20; i++) {
                assertThat(conn.recv(region, 1 << 15, 1 << 10, i)).isTrue();
            }
            for (int slot = 0; slot < 4; slot++) {
                send(conn, new Frame(Frame.Kind.REQUEST, false, slot, 3), new byte[3]);
            }
            awaitHandled(2); // the second one exceeds the limit
            checkOther();
            assertThat(handled).hasValue(2);
            send(conn, new Frame(Frame.Kind.READ, false, 0, 0));
            awaitHandled(3);
        }
        checkOther();
    }

    private void awaitHandled(int requests) {
        while (handled.get() < requests) {
            Thread.onSpinWait();
        }
    }

    @Test
    void clientsThatLeaveAtOnce() throws Exception {
        for (int i = 0; i < 50; i++) {
            connect(HELLO.toPrivateData()).close();
        }
        checkOther();
    }

    @Test
    void anotherProgramIsRejected() {
        for (byte[] data : List.of(
                new byte[0],
                new byte[28],
                new Hello(10, 1, 1, 1).toPrivateData(),
                new Hello(1 << 10, 0, 1, 1).toPrivateData(),
                new Hello(1 << 10, 1, -1, 1).toPrivateData(),
                new Hello(1 << 10, 1, 1, Integer.MIN_VALUE).toPrivateData())) {
            assertThatExceptionOfType(RpmaException.class)
                    .isThrownBy(() -> connect(data).close())
                    .withMessageContaining("ECONNREFUSED");
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void randomBytes(long seed) throws Exception {
        SplittableRandom random = new SplittableRandom(seed);
        for (int round = 0; round < 10; round++) {
            try (RpmaConn conn = connect(HELLO.toPrivateData())) {
                boolean open = true;
                for (int i = 0; open && i < 40; i++) {
                    byte[] bytes = new byte[random.nextInt(200)];
                    random.nextBytes(bytes);
                    if (bytes.length > Frame.SIZE) {
                        // a kind, a slot and a length that exist, mostly
                        bytes[0] = (byte) random.nextInt(Frame.Kind.values().length);
                        bytes[1] = (byte) random.nextInt(2);
                        ByteBuffer.wrap(bytes)
                                .putShort(2, (short) random.nextInt(5))
                                .putInt(4, random.nextInt(200));
                    }
                    memory.buffer().put(0, bytes);
                    try {
                        open = conn.send(region, 0, bytes.length, RpmaConn.F_COMPLETION_ON_ERROR, 0);
                    } catch (RpmaException e) {
                        open = false;
                    }
                }
            }
            checkOther();
        }
    }
}
