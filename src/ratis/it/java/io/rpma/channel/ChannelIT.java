// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.channel;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.rpma.RpmaDevice;
import io.rpma.channel.ChannelException.LostException;
import io.rpma.channel.ChannelException.RefusedException;
import io.rpma.channel.ChannelException.TimeoutException;
import io.rpma.testing.TestDevice;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests and answers between two {@link Channels} of this JVM. */
@Tag("stand-in")
class ChannelIT {
    private static final int MOST_SMALL = (8 << 10) - Frame.SIZE;

    private final String address = TestDevice.address();
    private final int port = TestDevice.port();
    private final List<Channels> open = new ArrayList<>();
    private final AtomicInteger connections = new AtomicInteger();

    @AfterEach
    void close() {
        // the close fails if an object of the library is still open
        open.forEach(Channels::close);
    }

    private Channels channels(ChannelOptions options) {
        Channels channels = Channels.create(RpmaDevice.local(address), options);
        open.add(channels);
        return channels;
    }

    private void listen(ChannelOptions options, RequestHandler handler) {
        channels(options).listen(address, port, () -> {
            connections.incrementAndGet();
            return handler;
        });
    }

    private Channel client(ChannelOptions options) {
        return channels(options).connect(address, port);
    }

    private static ChannelOptions options() {
        return new ChannelOptions();
    }

    private static void echo(ByteBuffer request, RequestHandler.Answer answer) {
        answer.send(Message.of(request));
    }

    private static byte[] bytes(ByteBuffer message) {
        byte[] bytes = new byte[message.remaining()];
        message.get(bytes);
        return bytes;
    }

    private static byte[] random(SplittableRandom random, int length) {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        return bytes;
    }

    private static CompletableFuture<byte[]> ask(Channel channel, byte[] request) throws InterruptedException {
        return channel.request(Message.of(request), ChannelIT::bytes, 30, SECONDS);
    }

    private static Message text(String text) {
        return Message.of(text.getBytes(StandardCharsets.UTF_8));
    }

    private static <E extends Throwable> E failure(CompletableFuture<?> future, Class<E> type) {
        return type.cast(assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(() -> future.get(60, SECONDS))
                .withCauseInstanceOf(type)
                .actual()
                .getCause());
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, MOST_SMALL, MOST_SMALL + 1, 1 << 16, (1 << 20) + 1, 10 << 20, 64 << 20})
    void anAnswerOfEachSize(int length) throws Exception {
        channels(options()).listen(address, port, () -> ChannelIT::echo);
        Channel client = client(options());
        byte[] request = random(new SplittableRandom(length), length);
        assertThat(ask(client, request).get()).isEqualTo(request);
    }

    @Test
    void requestsArriveInOrderWhateverTheirSizes() throws Exception {
        Queue<Integer> order = new ConcurrentLinkedQueue<>();
        channels(options()).listen(address, port, () -> (request, answer) -> {
            order.add(request.getInt());
            answer.send(Message.of(new byte[0]));
        });
        Channel client = client(options());
        List<CompletableFuture<byte[]>> answers = new ArrayList<>();
        List<Integer> expected = new ArrayList<>();
        for (int i = 0; i < 500; i++) {
            int length = i % 7 == 0 ? 100_000 + i : 4 + i % 100;
            answers.add(ask(client, ByteBuffer.allocate(length).putInt(i).array()));
            expected.add(i);
        }
        for (CompletableFuture<byte[]> answer : answers) {
            assertThat(answer.get()).isEmpty();
        }
        assertThat(order).containsExactlyElementsOf(expected);
    }

    @Test
    void manyThreadsShareAChannel() throws Exception {
        channels(options()).listen(address, port, () -> ChannelIT::echo);
        Channel client = client(options());
        List<CompletableFuture<Void>> threads = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            SplittableRandom random = new SplittableRandom(i);
            threads.add(CompletableFuture.runAsync(() -> {
                for (int n = 0; n < 300; n++) {
                    byte[] request = random(random, random.nextInt(n % 20 == 0 ? 200_000 : 2_000));
                    try {
                        assertThat(ask(client, request).get()).isEqualTo(request);
                    } catch (InterruptedException | ExecutionException e) {
                        throw new AssertionError(e);
                    }
                }
            }));
        }
        for (CompletableFuture<Void> thread : threads) {
            thread.get();
        }
    }

    @Test
    void aRefusalHasItsReasonAndTheConnectionRemains() throws Exception {
        listen(options(), (request, answer) -> {
            if (request.hasRemaining()) {
                throw new Exception("bytes are not welcome");
            }
            answer.refuse("ä".repeat(2_000));
        });
        Channel client = client(options());
        assertThat(failure(ask(client, new byte[1]), RefusedException.class)).hasMessage("bytes are not welcome");
        assertThat(failure(ask(client, new byte[0]), RefusedException.class)).hasMessage("ä".repeat(1_000));
        assertThat(connections).hasValue(1);
    }

    @Test
    void aReasonIsNotLongerThanAMessage() throws Exception {
        listen(options().setMessageSize(16), (request, answer) -> answer.refuse("a long reason for a short message"));
        Channel client = client(options());
        assertThat(failure(ask(client, new byte[1]), RefusedException.class)).hasMessage("a long reason fo");
        assertThat(connections).hasValue(1);
    }

    @Test
    void aSingleRequestMayBeLargerThanAllTogether() throws Exception {
        listen(options(), ChannelIT::echo);
        Channel client = client(options().setUnanswered(4, 1 << 20));
        for (int i = 0; i < 10; i++) {
            assertThat(ask(client, new byte[3 << 20]).get()).hasSize(3 << 20);
        }
        assertThat(connections).hasValue(1);
    }

    @Test
    void requestsWhoseBlocksAreLargerThanTheLimit() throws Exception {
        listen(options(), ChannelIT::echo);
        Channel client = client(options().setUnanswered(8, 1 << 20));
        List<CompletableFuture<byte[]>> answers = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            answers.add(ask(client, new byte[140_000])); // seven of them fit, and have blocks of 256 KiB
        }
        for (CompletableFuture<byte[]> answer : answers) {
            assertThat(answer.get()).hasSize(140_000);
        }
        assertThat(connections).hasValue(1);
    }

    /** The only slot is taken while the other side does not know yet that its answer is read. */
    @Test
    void aSlotThatWaitsForAConfirmationIsInUse() throws Exception {
        listen(options(), ChannelIT::echo);
        Channel client = client(options().setUnanswered(1, 1 << 20));
        for (int i = 0; i < 200; i++) {
            assertThat(ask(client, new byte[20_000]).get()).hasSize(20_000);
        }
        assertThat(connections).hasValue(1);
    }

    @Test
    void theOrderOfBytesIsEachUsersOwn() throws Exception {
        listen(options(), (request, answer) -> {
            request.order(ByteOrder.LITTLE_ENDIAN);
            answer.send(Message.of(request));
        });
        Channel client = client(options().setUnanswered(2, 1 << 20));
        for (int i = 0; i < 20; i++) {
            assertThat(client.request(
                                    new Message() {
                                        @Override
                                        public int length() {
                                            return Integer.BYTES;
                                        }

                                        @Override
                                        public void writeTo(ByteBuffer target) {
                                            target.order(ByteOrder.LITTLE_ENDIAN)
                                                    .putInt(7);
                                        }
                                    },
                                    bytes ->
                                            bytes.order(ByteOrder.LITTLE_ENDIAN).getInt(),
                                    30,
                                    SECONDS)
                            .get())
                    .isEqualTo(7);
        }
        assertThat(connections).hasValue(1);
    }

    /** The bytes of a request without an answer leave no room for another one, until the connection is given up. */
    @Test
    void bytesThatAreNeverAnsweredAreLeft() throws Exception {
        listen(options(), (request, answer) -> {
            if (request.remaining() != 60_000) {
                answer.send(Message.of(request));
            }
        });
        Channel client = client(options().setUnanswered(8, 100_000).setPauses(1, 1, MILLISECONDS));
        assertThat(ask(client, new byte[1]).get()).hasSize(1);
        failure(
                client.request(Message.of(new byte[60_000]), ChannelIT::bytes, 20, MILLISECONDS),
                TimeoutException.class);
        byte[] answer = null;
        while (answer == null) {
            try {
                answer = ask(client, new byte[60_001]).get();
            } catch (ExecutionException e) {
                assertThat(e).hasCauseInstanceOf(LostException.class);
            }
        }
        assertThat(answer).hasSize(60_001);
    }

    @Test
    void theParsersExceptionIsTheResult() throws Exception {
        channels(options()).listen(address, port, () -> ChannelIT::echo);
        Channel client = client(options());
        CompletableFuture<Object> answer = client.request(
                text("a"),
                bytes -> {
                    throw new IllegalStateException("no");
                },
                30,
                SECONDS);
        assertThat(failure(answer, IllegalStateException.class)).hasMessage("no");
        assertThat(ask(client, new byte[2]).get()).hasSize(2);
    }

    @Test
    void anErrorOfTheParserIsTheResultToo() throws Exception {
        channels(options()).listen(address, port, () -> ChannelIT::echo);
        Channel client = client(options());
        CompletableFuture<Object> answer = client.request(
                text("a"),
                bytes -> {
                    throw new NoClassDefFoundError("no");
                },
                30,
                SECONDS);
        assertThat(failure(answer, NoClassDefFoundError.class)).hasMessage("no");
        assertThat(ask(client, new byte[2]).get()).hasSize(2);
    }

    @Test
    void aHandlerThatNeverAnswersIsLeft() throws Exception {
        channels(options()).listen(address, port, () -> (request, answer) -> {
            if (request.hasRemaining()) {
                answer.send(Message.of(request));
            }
        });
        Channel client = client(options().setUnanswered(2, 100).setPauses(1, 1, MILLISECONDS));
        assertThat(ask(client, new byte[1]).get()).hasSize(1);
        for (int i = 0; i < 2; i++) {
            failure(client.request(text(""), ChannelIT::bytes, 20, MILLISECONDS), TimeoutException.class);
        }
        // the two requests take all the room until the connection is given up
        byte[] answer = null;
        while (answer == null) {
            try {
                answer = ask(client, new byte[1]).get();
            } catch (ExecutionException e) {
                assertThat(e).hasCauseInstanceOf(LostException.class);
            }
        }
        assertThat(answer).hasSize(1);
    }

    @Test
    void badAddresses() {
        Channels channels = channels(options());
        assertThatIllegalArgumentException().isThrownBy(() -> channels.connect("", port));
        assertThatIllegalArgumentException().isThrownBy(() -> channels.connect(address, 0));
        assertThatIllegalArgumentException().isThrownBy(() -> channels.connect(address, 65536));
    }

    @Test
    void aRequestWithoutAnAnswerEndsInTime() throws Exception {
        Queue<RequestHandler.Answer> late = new ConcurrentLinkedQueue<>();
        channels(options()).listen(address, port, () -> (request, answer) -> {
            if (request.hasRemaining()) {
                late.add(answer);
            } else {
                answer.send(Message.of(request));
            }
        });
        Channel client = client(options());
        assertThat(ask(client, new byte[0]).get()).isEmpty();
        CompletableFuture<byte[]> answer = client.request(text("a"), ChannelIT::bytes, 50, MILLISECONDS);
        failure(answer, TimeoutException.class);
        RequestHandler.Answer lateAnswer = late.remove();
        lateAnswer.send(text("late"));
        assertThat(ask(client, new byte[0]).get()).isEmpty();
        assertThatIllegalStateException().isThrownBy(() -> lateAnswer.send(text("twice")));
    }

    @Test
    void aRequestWaitsForRoom() throws Exception {
        Queue<RequestHandler.Answer> held = new ConcurrentLinkedQueue<>();
        CountDownLatch arrived = new CountDownLatch(2);
        channels(options().setUnanswered(2, 1 << 20)).listen(address, port, () -> (request, answer) -> {
            held.add(answer);
            arrived.countDown();
        });
        Channel client = client(options().setUnanswered(3, 1 << 20));
        List<CompletableFuture<byte[]>> answers = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            answers.add(ask(client, new byte[1]));
        }
        // The third one is not sent, because the other side takes no more, although this side permits three.
        arrived.await();
        failure(client.request(text("a"), ChannelIT::bytes, 50, MILLISECONDS), TimeoutException.class);
        CompletableFuture<byte[]> third = CompletableFuture.supplyAsync(() -> {
            try {
                return ask(client, new byte[1]).get();
            } catch (InterruptedException | ExecutionException e) {
                throw new AssertionError(e);
            }
        });
        assertThat(held).hasSize(2);
        while (!third.isDone()) {
            RequestHandler.Answer answer = held.poll();
            if (answer != null) {
                answer.send(text("b"));
            } else {
                Thread.onSpinWait();
            }
        }
        answers.add(third);
        for (CompletableFuture<byte[]> answer : answers) {
            assertThat(answer.get()).containsExactly('b');
        }
    }

    @Test
    void anActionMaySendButNotWait() throws Exception {
        CompletableFuture<RequestHandler.Answer> held = new CompletableFuture<>();
        channels(options()).listen(address, port, () -> (request, answer) -> {
            if (request.remaining() == 1) {
                held.complete(answer);
            } else {
                answer.send(Message.of(request));
            }
        });
        Channel client = client(options().setUnanswered(1, 100));
        CompletableFuture<byte[]> second = ask(client, new byte[1]).thenCompose(answer -> {
            try {
                CompletableFuture<byte[]> next = ask(client, new byte[2]);
                assertThat(ask(client, new byte[3])).isCompletedExceptionally();
                return next;
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        });
        held.get().send(text("a"));
        assertThat(second.get()).hasSize(2);
    }

    @Test
    void aMessageThatIsTooLong() throws Exception {
        channels(options().setMessageSize(1_000)).listen(address, port, () -> (request, answer) -> {
            answer.send(Message.of(new byte[request.getInt()]));
        });
        Channel client = client(options().setMessageSize(2_000));
        byte[] request = ByteBuffer.allocate(1_001).putInt(0).array();
        assertThatIllegalArgumentException().isThrownBy(() -> ask(client, new byte[2_001]));
        assertThat(failure(ask(client, request), ChannelException.class))
                .hasMessage(address + " port " + port + ": a message of 1001 bytes, and its limit is 1000");
        assertThat(failure(ask(client, ByteBuffer.allocate(4).putInt(1_001).array()), RefusedException.class))
                .hasMessage("the answer has 1001 bytes, and the limit is 1000");
        assertThat(ask(client, ByteBuffer.allocate(4).putInt(1_000).array()).get())
                .hasSize(1_000);
    }

    @Test
    void nothingListens() throws Exception {
        Channel client = client(options().setPauses(60, 60, SECONDS));
        assertThat(failure(ask(client, new byte[1]), LostException.class))
                .hasMessageContaining("rpma_conn_req_connect");
        CompletableFuture<byte[]> second = ask(client, new byte[1]);
        assertThat(second).isCompletedExceptionally();
        assertThat(failure(second, LostException.class)).hasMessageContaining("the next attempt is in ");
    }

    @Test
    void aChannelConnectsAgain() throws Exception {
        Channels server = channels(options());
        CountDownLatch arrived = new CountDownLatch(1);
        Channels.Listening first = server.listen(address, port, () -> (request, answer) -> {
            if (request.hasRemaining()) {
                answer.send(Message.of(request));
            } else {
                arrived.countDown();
            }
        });
        Channel client = client(options().setPauses(1, 1, MILLISECONDS));
        assertThat(ask(client, new byte[3]).get()).hasSize(3);
        CompletableFuture<byte[]> unanswered = ask(client, new byte[0]);
        arrived.await();
        first.close();
        failure(unanswered, LostException.class);
        server.listen(address, port, () -> ChannelIT::echo);
        byte[] answer = null;
        while (answer == null) {
            try {
                answer = ask(client, new byte[4]).get();
            } catch (ExecutionException e) {
                assertThat(e).hasCauseInstanceOf(LostException.class);
            }
        }
        assertThat(answer).hasSize(4);
    }

    @Test
    void aCloseWaitsForAnswers() throws Exception {
        Queue<RequestHandler.Answer> held = new ConcurrentLinkedQueue<>();
        CountDownLatch arrived = new CountDownLatch(1);
        channels(options()).listen(address, port, () -> (request, answer) -> {
            held.add(answer);
            arrived.countDown();
        });
        Channel client = client(options());
        CompletableFuture<byte[]> answer = ask(client, new byte[1]);
        arrived.await();
        CompletableFuture<Void> closed = CompletableFuture.runAsync(client::close);
        held.element().send(text("last"));
        closed.get();
        assertThat(answer.getNow(null)).containsExactly('l', 'a', 's', 't');
        assertThatIllegalStateException().isThrownBy(() -> ask(client, new byte[1]));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 100_000})
    void aClosedServerAnswersWhatHasArrived(int length) throws Exception {
        Channels server = channels(options());
        CountDownLatch arrived = new CountDownLatch(20);
        Queue<RequestHandler.Answer> held = new ConcurrentLinkedQueue<>();
        Channels.Listening listening = server.listen(address, port, () -> (request, answer) -> {
            held.add(answer);
            arrived.countDown();
        });
        Channel client = client(options());
        List<CompletableFuture<byte[]>> answers = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            answers.add(ask(client, new byte[1]));
        }
        arrived.await();
        CompletableFuture<Void> closed = CompletableFuture.runAsync(listening::close);
        held.forEach(answer -> answer.send(Message.of(new byte[length])));
        closed.get();
        for (CompletableFuture<byte[]> answer : answers) {
            assertThat(answer.get()).hasSize(length);
        }
    }

    @Test
    void anAbortDoesNotWait() throws Exception {
        channels(options()).listen(address, port, () -> (request, answer) -> {});
        Channel client = client(options());
        CompletableFuture<byte[]> answer = ask(client, new byte[1]);
        client.abort();
        failure(answer, LostException.class);
    }

    @Test
    void aHandlerLearnsTheEndOfItsConnectionAfterTheRequests() throws Exception {
        BlockingQueue<String> notes = new LinkedBlockingQueue<>();
        Channels.Listening listening = channels(options()).listen(address, port, () -> new RequestHandler() {
            @Override
            public void handle(ByteBuffer request, Answer answer) {
                notes.add("request");
                answer.send(Message.of(request));
            }

            @Override
            public void lost(ChannelException reason) {
                notes.add(reason.getMessage());
            }
        });
        Channel first = client(options());
        ask(first, new byte[100_000]).get();
        first.close();
        assertThat(notes.poll(60, SECONDS)).isEqualTo("request");
        assertThat(notes.poll(60, SECONDS)).startsWith("a client of " + listening + ": ");
        Channel second = client(options());
        ask(second, new byte[1]).get();
        listening.close();
        assertThat(notes.poll(60, SECONDS)).isEqualTo("request");
        assertThat(notes.poll(60, SECONDS)).startsWith("a client of " + listening + ": ");
        assertThat(notes).isEmpty();
    }

    @Test
    void clientsBeyondTheLimitAreRejected() throws Exception {
        channels(options().setConnections(1)).listen(address, port, () -> ChannelIT::echo);
        Channel first = client(options());
        assertThat(ask(first, new byte[1]).get()).hasSize(1);
        Channel second = client(options());
        failure(ask(second, new byte[1]), LostException.class);
        assertThat(ask(first, new byte[1]).get()).hasSize(1);
    }
}
