// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.stream;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.RpmaDevice;
import io.rpma.channel.Channel;
import io.rpma.channel.ChannelOptions;
import io.rpma.channel.Channels;
import io.rpma.channel.Message;
import io.rpma.testing.Jvm;
import io.rpma.testing.TestDevice;
import io.rpma.testing.Tool;
import java.io.IOException;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The two programs, each in its own process. */
@Tag("processes")
class StreamIT {
    /** The maximum time until a loss is detected. A program waits for its start for the same time. */
    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    @TempDir
    private Path directory;

    private final List<Jvm.Running> started = new ArrayList<>();
    private String address;
    private String port;

    @BeforeEach
    void prepare() {
        address = TestDevice.address();
        port = Integer.toString(TestDevice.port());
    }

    @AfterEach
    void end() {
        started.forEach(Jvm.Running::close);
    }

    private Jvm.Running start(String side, String... more) {
        return start(side, TIMEOUT, more);
    }

    private Jvm.Running start(String side, Duration timeout, String... more) {
        List<String> arguments = new ArrayList<>(
                List.of(side, "--address", address, "--port", port, "--timeout", "" + timeout.toSeconds()));
        arguments.addAll(List.of(more));
        Jvm.Running running = Jvm.likeThis().start(Stream.class, arguments.toArray(String[]::new));
        started.add(running);
        return running;
    }

    private static Jvm.Finished assertEnds(Jvm.Running side, int status) throws InterruptedException {
        Jvm.Finished end = side.awaitEnd();
        assertThat(end.status()).as(end.toString()).isEqualTo(status);
        return end;
    }

    /** Blocks of the default size are sent, and larger ones are read. */
    @ParameterizedTest
    @CsvSource({"0, 64k", "1, 64k", "65536, 64k", "5000003, 10000", "20000003, 3000001"})
    void aFileArrives(int size, String block) throws Exception {
        byte[] content = new byte[size];
        new Random(size).nextBytes(content);
        Path file = Files.write(directory.resolve("file"), content);
        Path copy = Files.write(directory.resolve("copy"), new byte[10]);
        Jvm.Running server = start("server", copy.toString());
        Jvm.Running client = start("client", "--block", block, file.toString());
        assertThat(assertEnds(client, 0).out()).contains("sent         " + size + " byte");
        assertThat(assertEnds(server, 0).out()).contains("received     " + size + " byte");
        assertThat(copy).hasBinaryContent(content);
    }

    @Test
    @Tag("library")
    void theStandardInputArrivesInTheStandardOutput() throws Exception {
        String lines = "one line of many\n".repeat(100_000);
        Jvm.Running server = start("server");
        Jvm.Running client = start("client");
        feed(client, lines.getBytes(StandardCharsets.US_ASCII));
        assertEnds(client, 0);
        Jvm.Finished end = assertEnds(server, 0);
        assertThat(end.out()).isEqualTo(lines);
        assertThat(end.err()).contains("server:   received     1700000 bytes");
    }

    /** Writes the standard input. The client may end before all bytes are written. */
    private static void feed(Jvm.Running client, byte[] content) {
        try (OutputStream input = client.process().getOutputStream()) {
            input.write(content);
        } catch (IOException e) {
            assertThat(e).hasMessageContaining("Broken pipe");
        }
    }

    @Test
    void theClientIsKilled() throws Exception {
        Jvm.Running server = start("server", directory.resolve("copy").toString());
        Jvm.Running client = start("client");
        client.awaitLine("connected");
        long killed = System.nanoTime();
        client.kill();
        Jvm.Finished end = assertEnds(server, 1);
        assertThat(Duration.ofNanos(System.nanoTime() - killed)).isLessThan(TIMEOUT);
        assertThat(end.err())
                .startsWith("stream server: a client of " + address + " port " + port + ": ")
                .hasLineCount(1);
        assertThat(end.out()).doesNotContain("received");
    }

    private Jvm.Finished assertLosesTheServer(Jvm.Running client, long killed) throws InterruptedException {
        Jvm.Finished end = assertEnds(client, 1);
        assertThat(Duration.ofNanos(System.nanoTime() - killed)).isLessThan(TIMEOUT);
        assertThat(end.err())
                .startsWith("stream client: " + address + " port " + port + ": ")
                .hasLineCount(1);
        assertThat(end.out()).doesNotContain("sent");
        return end;
    }

    @Test
    void theServerIsKilledWhileTheClientReads() throws Exception {
        Jvm.Running server = start("server", "/dev/null");
        Jvm.Running client = start("client");
        client.awaitLine("connected");
        long killed = System.nanoTime();
        server.kill();
        server.awaitEnd();
        feed(client, new byte[100]);
        assertLosesTheServer(client, killed);
    }

    /** The server waits for its output, and the client waits for the server. */
    @Test
    void aBlockedServerIsKilled() throws Exception {
        try (RandomAccessFile pipe = pipe()) {
            Jvm.Running server = start("server", directory.resolve("pipe").toString());
            Path file = Files.write(directory.resolve("file"), new byte[4_000_000]);
            Jvm.Running client = start("client", file.toString());
            assertThat(pipe.read()).isZero();
            long killed = System.nanoTime();
            server.kill();
            assertLosesTheServer(client, killed);
        }
    }

    /** Makes the file "pipe", which does not block the open of either side. */
    private RandomAccessFile pipe() throws IOException, InterruptedException {
        Path pipe = directory.resolve("pipe");
        Tool.run("mkfifo", pipe.toString());
        return new RandomAccessFile(pipe.toFile(), "rw");
    }

    /** The second server does not have the first byte. */
    @Test
    void anotherServerIsNoSuccessor() throws Exception {
        try (RandomAccessFile pipe = pipe()) {
            Jvm.Running first = start("server", directory.resolve("pipe").toString());
            Jvm.Running client = start("client");
            OutputStream input = client.process().getOutputStream();
            input.write(7);
            input.flush();
            assertThat(pipe.read()).isEqualTo(7);
            first.kill();
            first.awaitEnd();
            start("server", "/dev/null").awaitLine("listening");
            feed(client, new byte[1]);
            assertThat(assertEnds(client, 1).out()).doesNotContain("sent");
        }
    }

    @ParameterizedTest
    @CsvSource({"/dev/full, No space left on device", "/none/copy, /none/copy: no such file"})
    void theFileCanNotBeWritten(String name, String reason) throws Exception {
        Path file = Files.write(directory.resolve("file"), new byte[4_000_000]);
        Jvm.Running server = start("server", name);
        Jvm.Running client = start("client", file.toString());
        assertThat(assertEnds(server, 1).err()).isEqualTo("stream server: " + reason + "\n");
        assertThat(assertEnds(client, 1).err()).isEqualTo("stream client: the server has failed: " + reason + "\n");
    }

    @Test
    void noClientConnects() throws Exception {
        Jvm.Running server = start("server", Duration.ofSeconds(1), "/dev/null");
        assertThat(assertEnds(server, 1).err())
                .isEqualTo("stream server: no client has connected within 1 s (--timeout)\n");
    }

    @Test
    void noServerListens() throws Exception {
        Jvm.Running client = start("client", Duration.ofSeconds(1), "/dev/null");
        assertThat(assertEnds(client, 1).err())
                .startsWith("stream client: no server has answered within 1 s (--timeout): " + address + " port " + port
                        + ": ")
                .hasLineCount(1);
    }

    /** Another program of channels, whose bytes are not those that come next. */
    @Test
    void bytesAreMissing() throws Exception {
        Jvm.Running server = start("server", "/dev/null");
        server.awaitLine("listening");
        try (Channels channels = Channels.create(RpmaDevice.local(address), new ChannelOptions());
                Channel channel = channels.connect(address, Integer.parseInt(port))) {
            Message end = Message.of(ByteBuffer.allocate(Long.BYTES).putLong(0, 1));
            assertThat(channel.request(end, answer -> null, TIMEOUT.toSeconds(), SECONDS))
                    .failsWithin(TIMEOUT)
                    .withThrowableThat()
                    .withMessageContaining("the client has not sent the bytes at position 0");
        }
        assertEnds(server, 1);
    }
}
