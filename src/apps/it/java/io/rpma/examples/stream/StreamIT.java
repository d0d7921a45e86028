// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.stream;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaConn;
import io.rpma.RpmaConnCfg;
import io.rpma.RpmaConnEvent;
import io.rpma.RpmaConnReq;
import io.rpma.RpmaEp;
import io.rpma.RpmaMemory;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrUsage;
import io.rpma.RpmaPeer;
import io.rpma.support.LostException;
import io.rpma.support.Offer;
import io.rpma.testing.Blocked;
import io.rpma.testing.Limit;
import io.rpma.testing.TestDevice;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedChannelException;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Both ends of a stream in one process. */
@Tag("empty-receives")
@Tag("immediate-data")
class StreamIT {
    private static final int RING = 5000;

    /** A timeout that expires in no test. */
    private static final int LONG_S = 300;

    /** A timeout that expires in a test. Even a slow guest connects and answers a probe within half of it. */
    private static final int SHORT_S = 10;

    private final String address = TestDevice.address();
    private final int port = TestDevice.port();
    private final ExecutorService executor = Executors.newCachedThreadPool();
    private final List<String> notes = new CopyOnWriteArrayList<>();
    private RpmaPeer peer;
    private RpmaEp endpoint;
    private StreamWriter writer;
    private StreamReader reader;

    @BeforeEach
    void listen() {
        peer = TestDevice.peer();
        endpoint = RpmaEp.listen(peer, address, port);
    }

    @AfterEach
    void close() throws Exception {
        executor.shutdownNow();
        assertThat(executor.awaitTermination(Limit.WAIT_S, SECONDS)).isTrue();
        abort(writer);
        abort(reader);
        endpoint.close();
        peer.close();
    }

    private static void abort(StreamWriter writer) throws IOException {
        if (writer != null) {
            writer.abort();
            writer.close();
        }
    }

    private static void abort(StreamReader reader) throws IOException {
        if (reader != null) {
            reader.abort();
            reader.close();
        }
    }

    private Future<StreamReader> accepting(int ring) {
        return executor.submit(() -> StreamReader.accept(peer, endpoint, ring, LONG_S, notes::add));
    }

    private void connect(int ring) throws Exception {
        Future<StreamReader> accepted = accepting(ring);
        writer = StreamWriter.connect(peer, address, port, LONG_S);
        reader = accepted.get(Limit.WAIT_S, SECONDS);
    }

    private static <T> T get(Future<T> future) throws Exception {
        return future.get(Limit.WAIT_S, SECONDS);
    }

    private static byte[] random(Random random, int length) {
        byte[] content = new byte[length];
        random.nextBytes(content);
        return content;
    }

    /** Closes both ends. Each waits for the other one. */
    private void closeBoth() throws Exception {
        Future<?> closing = executor.submit(() -> {
            writer.close();
            return null;
        });
        assertThat(reader.read()).isEqualTo(-1);
        reader.close();
        get(closing);
    }

    @ParameterizedTest
    @ValueSource(ints = {4096, RING, 1 << 20})
    void randomWritesArriveInOrder(int size) throws Exception {
        long seed = new Random().nextLong();
        System.out.println("seed " + seed);
        byte[] content = random(new Random(seed), 3_000_000);
        connect(size);
        Future<?> writing = executor.submit(() -> {
            write(ByteBuffer.wrap(content), new Random(seed));
            writer.close();
            return null;
        });
        ByteBuffer copy = ByteBuffer.allocate(content.length);
        read(copy, new Random(~seed));
        assertThat(copy.flip()).isEqualTo(ByteBuffer.wrap(content));
        reader.close();
        get(writing);
        assertThat(writer.isOpen()).isFalse();
    }

    private void write(ByteBuffer content, Random random) throws IOException {
        while (content.hasRemaining()) {
            int length = Math.min(content.remaining(), random.nextInt(1 << random.nextInt(14)));
            if (random.nextBoolean()) {
                ByteBuffer part = content.slice(content.position(), length);
                assertThat(writer.write(part)).isEqualTo(length);
                assertThat(part.hasRemaining()).isFalse();
            } else {
                ByteBuffer place = writer.acquire();
                length = Math.min(length, place.remaining());
                place.put(content.slice(content.position(), length));
                writer.commit(length);
            }
            content.position(content.position() + length);
        }
    }

    private void read(ByteBuffer copy, Random random) throws IOException {
        byte[] array = new byte[1 << 13];
        while (true) {
            int length = 0;
            switch (random.nextInt(3)) {
                case 0:
                    ByteBuffer received = reader.peek();
                    if (received == null) {
                        return;
                    }
                    length = random.nextInt(received.remaining() + 1);
                    copy.put(received.limit(length));
                    reader.release(length);
                    break;
                case 1:
                    length = reader.read(array, 0, random.nextInt(array.length));
                    if (length < 0) {
                        return;
                    }
                    copy.put(array, 0, length);
                    break;
                default:
                    int value = reader.read();
                    if (value < 0) {
                        return;
                    }
                    copy.put((byte) value);
            }
        }
    }

    /** More messages than the reader has receives, and fewer bytes than its ring has. */
    @Test
    void smallMessagesWaitForTheReader() throws Exception {
        connect(RING);
        int messages = 4 * Link.MESSAGES;
        Blocked writing = new Blocked(() -> {
            for (int i = 0; i < messages; i++) {
                writer.write(ByteBuffer.allocate(1));
            }
            return null;
        });
        assertThat(reader.readNBytes(messages)).hasSize(messages);
        writing.result();
        closeBoth();
    }

    @Test
    void nothingIsWritten() throws Exception {
        connect(RING);
        assertThat(writer.write(ByteBuffer.allocate(0))).isZero();
        writer.acquire();
        writer.commit(0);
        assertThat(reader.read(new byte[0])).isZero();
        closeBoth();
    }

    @Test
    void onlyAcquiredBytesAreCommitted() throws Exception {
        connect(RING);
        int length = writer.acquire().remaining();
        assertThatThrownBy(() -> writer.commit(length + 1)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> writer.commit(-1)).isInstanceOf(IndexOutOfBoundsException.class);
        writer.commit(length);
        assertThatThrownBy(() -> writer.commit(1)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThat(reader.peek().remaining()).isEqualTo(length);
        assertThatThrownBy(() -> reader.release(length + 1)).isInstanceOf(IndexOutOfBoundsException.class);
        reader.release(length);
        closeBoth();
    }

    @Test
    void theWriterClosesAfterTheReader() throws Exception {
        connect(RING);
        writer.write(ByteBuffer.wrap(new byte[] {7}));
        Blocked closing = new Blocked(() -> {
            writer.close();
            return null;
        });
        assertThat(reader.read()).isEqualTo(7);
        assertThat(reader.read()).isEqualTo(-1);
        assertThat(reader.read()).isEqualTo(-1);
        assertThat(closing.isDone()).isFalse();
        reader.close();
        closing.result();
        assertThatThrownBy(() -> writer.write(ByteBuffer.allocate(1))).isInstanceOf(ClosedChannelException.class);
        assertThatThrownBy(() -> reader.read()).isInstanceOf(IOException.class).hasMessage("the stream is closed");
        writer.close();
        reader.close();
    }

    @Test
    void theReaderClosesBeforeTheEnd() throws Exception {
        connect(RING);
        writer.write(ByteBuffer.allocate(2));
        assertThat(reader.read()).isZero();
        reader.close();
        assertThatExceptionOfType(LostException.class)
                .isThrownBy(writer::close)
                .withMessageStartingWith(address + ":" + port + ": ");
        writer.close();
    }

    /** The bytes that arrived can be read, but the stream has no end. */
    @Test
    void theWriterAborts() throws Exception {
        connect(RING);
        writer.write(ByteBuffer.wrap(new byte[] {1, 2}));
        assertThat(reader.read()).isEqualTo(1);
        writer.abort();
        writer.close();
        assertThat(reader.read()).isEqualTo(2);
        assertThatExceptionOfType(LostException.class).isThrownBy(reader::read).withMessageStartingWith("the writer: ");
        assertThatExceptionOfType(LostException.class).isThrownBy(reader::peek);
        reader.close();
    }

    @Test
    void theReaderAbortsWhileTheWriterWaits() throws Exception {
        connect(RING);
        Blocked writing = new Blocked(() -> writer.write(ByteBuffer.allocate(RING + 1)));
        reader.abort();
        assertThat(writing.failure()).isInstanceOf(LostException.class);
        assertThatExceptionOfType(LostException.class).isThrownBy(() -> writer.write(ByteBuffer.allocate(1)));
        assertThat(writer.isOpen()).isFalse();
    }

    @Test
    void anotherThreadAborts() throws Exception {
        connect(RING);
        Blocked writing = new Blocked(() -> writer.write(ByteBuffer.allocate(RING + 1)));
        assertThat(reader.read()).isZero(); // The first message has arrived. The abort can drop later ones.
        writer.abort();
        assertThat(writing.failure()).isInstanceOf(AsynchronousCloseException.class);
        assertThat(reader.read()).isZero();
        reader.abort();
        assertThatExceptionOfType(AsynchronousCloseException.class).isThrownBy(() -> reader.readAllBytes());
    }

    @Test
    void anotherThreadInterrupts() throws Exception {
        connect(RING);
        Blocked reading = new Blocked(reader::read);
        reading.interrupt();
        assertThat(reading.failure()).isInstanceOf(InterruptedIOException.class);
        writer.write(ByteBuffer.wrap(new byte[] {9}));
        assertThat(reader.read()).isEqualTo(9);
        closeBoth();
    }

    /** Both ends wait for longer than the timeout, and the probes are answered. */
    @Test
    void aSlowEndIsNotLost() throws Exception {
        Future<StreamReader> accepted =
                executor.submit(() -> StreamReader.accept(peer, endpoint, RING, SHORT_S, notes::add));
        writer = StreamWriter.connect(peer, address, port, SHORT_S);
        reader = get(accepted);
        Blocked reading = new Blocked(reader::read);
        assertThatThrownBy(() -> executor.submit(reading::result).get(SHORT_S + 1, SECONDS))
                .isInstanceOf(TimeoutException.class);
        writer.write(ByteBuffer.allocate(1));
        assertThat(reading.result()).isEqualTo(0);
        Blocked writing = new Blocked(() -> writer.write(ByteBuffer.allocate(RING + 1)));
        assertThatThrownBy(() -> executor.submit(writing::result).get(SHORT_S + 1, SECONDS))
                .isInstanceOf(TimeoutException.class);
        assertThat(reader.readNBytes(RING + 1)).hasSize(RING + 1);
        assertThat(writing.result()).isEqualTo(RING + 1);
        closeBoth();
    }

    @Test
    void aRequestOfAnotherProgramIsRejected() throws Exception {
        Future<StreamReader> accepted = accepting(RING);
        try (RpmaConn other = RpmaConnReq.create(peer, address, port, null).connect("hello".getBytes())) {
            assertThat(other.nextEvent(Limit.WAIT_S, SECONDS)).contains(RpmaConnEvent.REJECTED);
        }
        writer = StreamWriter.connect(peer, address, port, LONG_S);
        reader = get(accepted);
        assertThat(notes).containsExactly("rejected a request of another program");
        closeBoth();
    }

    @Test
    void noWriterConnects() {
        assertThatExceptionOfType(IOException.class)
                .isThrownBy(() -> StreamReader.accept(peer, endpoint, RING, 1, notes::add))
                .withMessage("no writer has connected within 1 s (--timeout)");
    }

    @Test
    void noReaderListens() {
        endpoint.close();
        assertThatExceptionOfType(LostException.class)
                .isThrownBy(() -> StreamWriter.connect(peer, address, port, LONG_S))
                .withMessageContaining("rejected");
    }

    @Test
    void anotherProgramAccepts() throws Exception {
        Future<RpmaConn> other = executor.submit(() -> acceptOther("hello".getBytes()));
        assertThatExceptionOfType(IOException.class)
                .isThrownBy(() -> StreamWriter.connect(peer, address, port, LONG_S))
                .withMessageContaining("is not of this program");
        get(other).close();
    }

    private RpmaConn acceptOther(byte[] greeting) throws Exception {
        try (RpmaConnCfg cfg = Link.readerCfg()) {
            RpmaConn conn = endpoint.nextConnReq(cfg, Limit.WAIT_S, SECONDS)
                    .orElseThrow()
                    .connect(greeting);
            conn.recv(0);
            assertThat(conn.nextEvent(Limit.WAIT_S, SECONDS)).contains(RpmaConnEvent.ESTABLISHED);
            return conn;
        }
    }

    @ParameterizedTest
    @CsvSource({"3, WRITE_DST, of 3 bytes", "5000, READ_SRC, that can not be written"})
    void anotherProgramOffersAnUnusableRing(int size, RpmaMrUsage usage, String reason) throws Exception {
        try (RpmaMemory memory = RpmaMemory.allocate(size);
                RpmaMrLocal region = peer.register(memory, usage)) {
            Future<RpmaConn> accepted = executor.submit(
                    () -> acceptOther(Offer.of(peer, region, false).toPrivateData(Link.SERVICE)));
            assertThatExceptionOfType(IOException.class)
                    .isThrownBy(() -> StreamWriter.connect(peer, address, port, LONG_S))
                    .withMessage(address + ":" + port + " offers a ring " + reason);
            get(accepted).close();
        }
    }

    /** A report has arrived just before the failure. */
    @Test
    void theReaderFailsBeforeTheWriterCloses() throws Exception {
        try (RpmaMemory memory = RpmaMemory.allocate(RING);
                RpmaMrLocal region = peer.register(memory, RpmaMrUsage.WRITE_DST, RpmaMrUsage.SEND)) {
            Future<RpmaConn> accepted = executor.submit(
                    () -> acceptOther(Offer.of(peer, region, false).toPrivateData(Link.SERVICE)));
            writer = StreamWriter.connect(peer, address, port, LONG_S);
            try (RpmaConn other = get(accepted)) {
                writer.write(ByteBuffer.allocate(1));
                other.sendWithImm(RpmaConn.F_COMPLETION_ALWAYS, 1, 1);
                other.send(region, 0, 1, RpmaConn.F_COMPLETION_ALWAYS, 2); // longer than the receive
                awaitFailure(other);
                writer.acquire();
                assertThatExceptionOfType(LostException.class).isThrownBy(writer::close);
            }
        }
    }

    /** The writer ends the stream, and does not wait for the acknowledgment. */
    @Test
    void theWriterFailsBeforeTheReaderCloses() throws Exception {
        Future<StreamReader> accepted = accepting(RING);
        byte[] service = ByteBuffer.allocate(Integer.BYTES).putInt(Link.SERVICE).array();
        try (RpmaMemory memory = RpmaMemory.allocate(1);
                RpmaMrLocal region = peer.register(memory, RpmaMrUsage.SEND);
                RpmaConnCfg cfg = Link.writerCfg();
                RpmaConn other = RpmaConnReq.create(peer, address, port, cfg).connect(service)) {
            assertThat(other.nextEvent(Limit.WAIT_S, SECONDS)).contains(RpmaConnEvent.ESTABLISHED);
            reader = get(accepted);
            other.writeWithImm(RpmaConn.F_COMPLETION_ALWAYS, Link.END, 1);
            other.send(region, 0, 1, RpmaConn.F_COMPLETION_ALWAYS, 2); // longer than the receive
            awaitFailure(other);
            assertThat(reader.read()).isEqualTo(-1);
            assertThatExceptionOfType(LostException.class).isThrownBy(reader::close);
        }
    }

    private static void awaitFailure(RpmaConn conn) throws InterruptedException {
        RpmaCompletions completions = RpmaCompletions.create(1);
        do {
            assertThat(conn.getCq().await(completions, Limit.WAIT_S, SECONDS)).isEqualTo(1);
        } while (completions.isSuccess(0));
    }

    /** The program of the writer sends messages that the reader has not granted. */
    @ParameterizedTest
    @ValueSource(ints = {-1, RING + 1, Integer.MIN_VALUE})
    void aMessageDoesNotFit(int length) throws Exception {
        Future<StreamReader> accepted = accepting(RING);
        byte[] service = ByteBuffer.allocate(Integer.BYTES).putInt(Link.SERVICE).array();
        try (RpmaConnCfg cfg = Link.writerCfg();
                RpmaConn other = RpmaConnReq.create(peer, address, port, cfg).connect(service)) {
            assertThat(other.nextEvent(Limit.WAIT_S, SECONDS)).contains(RpmaConnEvent.ESTABLISHED);
            reader = get(accepted);
            assertThat(other.writeWithImm(RpmaConn.F_COMPLETION_ALWAYS, length, 0))
                    .isTrue();
            assertThatExceptionOfType(IOException.class)
                    .isThrownBy(reader::read)
                    .withMessage("the writer: a message that does not fit");
            assertThatExceptionOfType(IOException.class).isThrownBy(reader::read);
        }
    }

    /** The device of the reader does not acknowledge a message for which no receive is posted. */
    @Test
    void aSilentReaderIsLost() throws Exception {
        try (RpmaMemory memory = RpmaMemory.allocate(RING);
                RpmaMrLocal region = peer.register(memory, RpmaMrUsage.WRITE_DST)) {
            Future<RpmaConn> accepted = executor.submit(
                    () -> acceptOther(Offer.of(peer, region, false).toPrivateData(Link.SERVICE)));
            writer = StreamWriter.connect(peer, address, port, SHORT_S);
            try (RpmaConn other = get(accepted)) {
                writer.write(ByteBuffer.allocate(1));
                assertThatExceptionOfType(LostException.class)
                        .isThrownBy(writer::close)
                        .withMessage(address + ":" + port + ": no answer within " + SHORT_S + " s");
                assertThat(other.nextEvent(Limit.WAIT_S, SECONDS)).contains(RpmaConnEvent.CLOSED);
            }
        }
    }

    /** The program of the reader reports bytes that it can't have. */
    @ParameterizedTest
    @ValueSource(ints = {-1, 0, 3})
    void aReportIsWrong(int position) throws Exception {
        try (RpmaMemory memory = RpmaMemory.allocate(RING);
                RpmaMrLocal region = peer.register(memory, RpmaMrUsage.WRITE_DST)) {
            Future<RpmaConn> accepted = executor.submit(
                    () -> acceptOther(Offer.of(peer, region, false).toPrivateData(Link.SERVICE)));
            writer = StreamWriter.connect(peer, address, port, LONG_S);
            try (RpmaConn other = get(accepted)) {
                writer.write(ByteBuffer.allocate(1));
                assertThat(other.sendWithImm(RpmaConn.F_COMPLETION_ALWAYS, position, 0))
                        .isTrue();
                assertThatExceptionOfType(IOException.class)
                        .isThrownBy(writer::close)
                        .withMessage(address + ":" + port + ": a report of bytes that were not sent");
            }
        }
    }
}
