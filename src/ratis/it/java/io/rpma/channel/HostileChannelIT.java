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
    private static final Hello HELLO = new Hello(32, 1 << 10, 1 << 20, 4, 1 << 20);

    private final String address = TestDevice.address();
    private final int port = TestDevice.port();
    private final RpmaPeer peer = TestDevice.peer();
    private final RpmaMemory memory = RpmaMemory.allocate(1 << 16);
    private final RpmaMrLocal region = peer.register(memory, RpmaMrUsage.SEND, RpmaMrUsage.RECV, RpmaMrUsage.READ_SRC);
    private final Channels server = Channels.create(RpmaDevice.local(address), new ChannelOptions());
    private final Channels channels = Channels.create(RpmaDevice.local(address), new ChannelOptions());
    /** The requests of 3 bytes that the server has taken. */
    private final AtomicInteger handled = new AtomicInteger();

    private Channel other;

    @BeforeEach
    void listen() throws Exception {
        server.listen(address, port, () -> (request, answer) -> {
            if (request.remaining() == 3) {
                handled.incrementAndGet();
            }
            // a request of 9 bytes has no answer
            if (request.remaining() != 9) {
                answer.send(Message.of(request));
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
        peer.close();
    }

    private RpmaConn connect(byte[] privateData) throws InterruptedException {
        try (RpmaConnCfg cfg = RpmaConnCfg.create().setSqSize(64).setRqSize(64).setCqSize(128)) {
            return RpmaConnReq.create(peer, address, port, cfg).connect(privateData, 30, SECONDS);
        }
    }

    private void send(RpmaConn conn, Frame frame, byte... content) {
        ByteBuffer bytes = memory.buffer().clear();
        frame.writeTo(bytes);
        bytes.put(content);
        assertThat(conn.send(region, 0, bytes.position(), RpmaConn.F_COMPLETION_ON_ERROR, 0))
                .isTrue();
    }

    private static Frame request(int length) {
        return new Frame(Frame.Kind.REQUEST, false, 0, 0, length, 1);
    }

    private Frame offer(int length) {
        return new Frame(Frame.Kind.REQUEST, true, 0, 0, length, 1);
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
        CREDITS,
        READS,
        NO_DESCRIPTOR,
        EMPTY_REGION,
        SHORT_REGION,
        CLOSED_REGION,
        MORE_REQUESTS
    }

    private void violate(RpmaConn conn, Violation violation) {
        byte[] descriptor = region.getDescriptor();
        switch (violation) {
            case NO_HEADER -> conn.send(region, 0, Frame.SIZE - 1, RpmaConn.F_COMPLETION_ON_ERROR, 0);
            case UNKNOWN_KIND -> {
                memory.buffer().put(0, (byte) 77);
                conn.send(region, 0, Frame.SIZE, RpmaConn.F_COMPLETION_ON_ERROR, 0);
            }
            case AN_ANSWER -> send(conn, new Frame(Frame.Kind.ANSWER, false, 0, 0, 0, 1));
            case A_LARGE_ANSWER -> send(conn, new Frame(Frame.Kind.ANSWER, true, 0, 0, 1 << 16, 1), descriptor);
            case A_CLOSE -> send(conn, new Frame(Frame.Kind.CLOSE, false, 0, 0, 0, 0));
            case NEGATIVE_LENGTH -> send(conn, request(-1));
            case ANOTHER_LENGTH -> send(conn, request(4), new byte[3]);
            case TOO_LONG -> send(conn, request(HELLO.messageSize() + 1));
            case CREDITS -> send(conn, new Frame(Frame.Kind.RETURN, false, 1, 0, 0, 0));
            case READS -> send(conn, new Frame(Frame.Kind.RETURN, false, 0, 1, 0, 0));
            case NO_DESCRIPTOR -> send(conn, offer(100), new byte[5]);
            case EMPTY_REGION -> send(conn, offer(0), descriptor);
            case SHORT_REGION -> send(conn, offer((1 << 16) + 1), descriptor);
            case CLOSED_REGION -> {
                RpmaMrLocal closed = peer.register(memory, RpmaMrUsage.READ_SRC);
                byte[] old = closed.getDescriptor();
                closed.close();
                send(conn, offer(1_000), old);
            }
            case MORE_REQUESTS -> {
                for (int i = 0; i < HELLO.requests() + 1; i++) {
                    send(conn, request(9), new byte[9]);
                }
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

    /** The answers that the server keeps for a client that takes none are limited. */
    @Test
    void aClientThatTakesNoAnswersGetsNoMoreOfThem() throws Exception {
        int credits = Hello.LEAST_RECEIVES;
        int limit = 4;
        Hello hello = new Hello(credits, 1 << 10, 1 << 20, limit, 1 << 20);
        try (RpmaConn conn = connect(hello.toPrivateData())) {
            for (int i = 0; i < 20; i++) {
                assertThat(conn.recv(region, 1 << 15, 1 << 10, i)).isTrue();
            }
            for (int i = 0; i < 30; i++) {
                send(conn, request(3), new byte[3]);
            }
            awaitHandled(credits + limit);
            checkOther();
            assertThat(handled).hasValue(credits + limit);
            send(conn, new Frame(Frame.Kind.RETURN, false, credits, 0, 0, 0));
            awaitHandled(2 * credits + limit);
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
                new Hello(0, 1 << 10, 1, 1, 1).toPrivateData(),
                new Hello(4, 1 << 30, 1, 1, 1).toPrivateData(),
                new Hello(4, 1 << 10, -1, 1, 1).toPrivateData())) {
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
                    if (bytes.length > 12) {
                        // a kind and a length that exist, mostly
                        bytes[0] = (byte) random.nextInt(4);
                        bytes[1] = (byte) random.nextInt(2);
                        ByteBuffer.wrap(bytes).putShort(6, (short) 0).putInt(8, random.nextInt(200));
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
