// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.stream;

import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.support.CommandLines;
import io.rpma.testing.Jvm;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The command line, in the cases that need no device. */
class StreamTest {
    @TempDir
    private Path directory;

    private static Jvm.Finished run(String... arguments) throws InterruptedException {
        return Jvm.likeThis().run(Stream.class, arguments);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "| Missing required subcommand",
                "server | Missing required option: '--address=ADDRESS'",
                "client FILE | Missing required option: '--address=ADDRESS'",
                "server --address a --port 0 | --port must be 1 to 65535",
                "server --address a --ring 4095 | --ring must be 4k to 1G",
                "server --address a --ring 2G | --ring must be 4k to 1G",
                "server --address a --block 0 | --block must be 1 to 1G",
                "client --address a --block 2G | --block must be 1 to 1G",
                "client --address a --block x | Invalid value for option '--block'",
                "client --address a --ring 1M | Unknown option",
                "client --address a --timeout 0 | --timeout must be at least 1 second",
                "client --address a ONE TWO | the argument 'TWO' is superfluous",
            })
    void misuse(String arguments, String message) {
        CommandLines.assertMisused(new Stream(), arguments, message);
    }

    @Test
    void help() {
        StringWriter out = new StringWriter();
        assertThat(new Stream().commandLine().setOut(new PrintWriter(out)).execute("server", "--help"))
                .isZero();
        assertThat(out.toString()).contains("--ring=BYTES").contains("--tcp").contains("[FILE]");
    }

    @Test
    void aFileThatDoesNotExist() throws InterruptedException {
        Path file = directory.resolve("none");
        Jvm.Finished end = run("client", "--address", "192.0.2.1", file.toString());
        assertThat(end.status()).as(end.toString()).isEqualTo(1);
        assertThat(end.err()).isEqualTo("stream client: " + file + ": no such file\n");
    }

    @Test
    void waitsForAHostThatIsDown() throws Exception {
        Path file = Files.write(directory.resolve("file"), new byte[10]);
        Jvm.Finished end = run("client", "--address", "192.0.2.1", "--timeout", "1", file.toString());
        assertThat(end.status()).as(end.toString()).isEqualTo(1);
        assertThat(end.err())
                .startsWith("stream client: no server has answered at 192.0.2.1 port 7204 within 1 s (--timeout): ")
                .hasLineCount(1);
    }

    @Test
    void waitsForAnAddressOfNoHostThroughTcp() throws Exception {
        Path file = Files.write(directory.resolve("file"), new byte[10]);
        Jvm.Finished end = run("client", "--address", "::x", "--tcp", "--timeout", "1", file.toString());
        assertThat(end.status()).as(end.toString()).isEqualTo(1);
        assertThat(end.err())
                .startsWith("stream client: no server has answered at ::x port 7204 within 1 s (--timeout): ")
                .hasLineCount(1);
    }

    @Test
    void anAddressOfNoDevice() throws Exception {
        Path file = directory.resolve("file");
        Jvm.Finished end = run("server", "--address", "192.0.2.1", file.toString());
        assertThat(end.status()).as(end.toString()).isEqualTo(1);
        assertThat(end.err()).startsWith("stream server: ").hasLineCount(1);
        assertThat(file).doesNotExist();
    }

    /** The same program over TCP needs no device. */
    @ParameterizedTest
    @CsvSource({"0", "1", "1000000"})
    void throughTcp(int size) throws Exception {
        byte[] content = new byte[size];
        new Random(size).nextBytes(content);
        Path file = Files.write(directory.resolve("file"), content);
        Path copy = directory.resolve("copy");
        Jvm jvm = Jvm.likeThis();
        String port = Integer.toString(freePort());
        String most = Integer.toString(Integer.MAX_VALUE);
        String[] server = {
            "server", "--address", "127.0.0.1", "--port", port, "--tcp", "--timeout", most, copy.toString()
        };
        String[] client = {"client", "--address", "127.0.0.1", "--port", port, "--tcp", file.toString()};
        try (Jvm.Running serving = jvm.start(Stream.class, server)) {
            serving.awaitLine("listening");
            Jvm.Finished sent = Jvm.likeThis().run(Stream.class, client);
            assertThat(sent.status()).as(sent.toString()).isZero();
            assertThat(serving.awaitEnd().status()).isZero();
        }
        assertThat(copy).hasBinaryContent(content);
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }
}
