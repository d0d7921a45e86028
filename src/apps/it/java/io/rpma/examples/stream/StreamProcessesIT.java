// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.stream;

import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.testing.Jvm;
import io.rpma.testing.TestDevice;
import java.io.IOException;
import java.io.OutputStream;
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
import org.junit.jupiter.params.provider.ValueSource;

/** The two programs, each in its own process. */
@Tag("processes")
@Tag("empty-receives")
@Tag("immediate-data")
class StreamProcessesIT {
    private static final int RING = 64 << 10;

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
        List<String> arguments = new ArrayList<>(
                List.of(side, "--address", address, "--port", port, "--timeout", Long.toString(TIMEOUT.toSeconds())));
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

    @ParameterizedTest
    @ValueSource(ints = {0, 1, RING - 1, RING, RING + 1, 5_000_003})
    void aFileArrives(int size) throws Exception {
        byte[] content = new byte[size];
        new Random(size).nextBytes(content);
        Path file = Files.write(directory.resolve("file"), content);
        Path copy = Files.write(directory.resolve("copy"), new byte[10]);
        Jvm.Running server = start("server", "--ring", "64k", copy.toString());
        Jvm.Running client = start("client", "--block", "10000", file.toString());
        assertThat(assertEnds(client, 0).out()).contains("sent         " + size + " byte");
        assertThat(assertEnds(server, 0).out()).contains("received     " + size + " byte");
        assertThat(copy).hasBinaryContent(content);
    }

    @Test
    @Tag("library")
    void theStandardInputArrivesInTheStandardOutput() throws Exception {
        String lines = "one line of many\n".repeat(100_000);
        Jvm.Running server = start("server", "--ring", "64k");
        Jvm.Running client = start("client");
        try (OutputStream input = client.process().getOutputStream()) {
            input.write(lines.getBytes(StandardCharsets.US_ASCII));
        }
        assertEnds(client, 0);
        Jvm.Finished end = assertEnds(server, 0);
        assertThat(end.out()).isEqualTo(lines);
        assertThat(end.err()).contains("server:   received     1700000 bytes");
    }

    @Test
    void theClientIsKilled() throws Exception {
        Path copy = directory.resolve("copy");
        Jvm.Running server = start("server", copy.toString());
        Jvm.Running client = start("client");
        server.awaitLine("a client has connected");
        long killed = System.nanoTime();
        client.kill();
        Jvm.Finished end = assertEnds(server, 1);
        assertThat(Duration.ofNanos(System.nanoTime() - killed)).isLessThan(TIMEOUT);
        assertThat(end.err()).startsWith("stream server: the writer: ").hasLineCount(1);
        assertThat(end.out()).doesNotContain("received");
    }

    /** The client has sent bytes that are not acknowledged, or waits with a full ring. */
    @ParameterizedTest
    @ValueSource(ints = {100, 2 * RING})
    void theServerIsKilled(int sent) throws Exception {
        Jvm.Running server = start("server", "--ring", "64k", "--block", "1", "/dev/null");
        Jvm.Running client = start("client");
        client.awaitLine("connected");
        server.awaitLine("a client has connected");
        long killed = System.nanoTime();
        server.kill();
        server.awaitEnd();
        feed(client, sent);
        Jvm.Finished end = assertEnds(client, 1);
        assertThat(Duration.ofNanos(System.nanoTime() - killed)).isLessThan(TIMEOUT);
        assertThat(end.err())
                .startsWith("stream client: " + address + ":" + port + ": ")
                .hasLineCount(1);
        assertThat(end.out()).doesNotContain("sent");
    }

    /** Writes the standard input. The client may end before all bytes are written. */
    private static void feed(Jvm.Running client, int length) {
        try (OutputStream input = client.process().getOutputStream()) {
            input.write(new byte[length]);
        } catch (IOException e) {
            assertThat(e).hasMessageContaining("Broken pipe");
        }
    }

    @Test
    void theFileCanNotBeWritten() throws Exception {
        Path file = Files.write(directory.resolve("file"), new byte[1000]);
        Jvm.Running server = start("server", "/dev/full");
        Jvm.Running client = start("client", file.toString());
        assertThat(assertEnds(server, 1).err()).contains("No space left on device");
        assertThat(assertEnds(client, 1).err()).startsWith("stream client: " + address + ":" + port + ": ");
    }
}
