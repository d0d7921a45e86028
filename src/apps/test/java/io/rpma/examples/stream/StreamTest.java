// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.stream;

import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.support.CommandLines;
import io.rpma.testing.Jvm;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
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
                "client --address a --block 0 | --block must be 1 to 16M",
                "client --address a --block 17M | --block must be 1 to 16M",
                "client --address a --block x | Invalid value for option '--block'",
                "server --address a --block 1M | Unknown option",
                "server --address a --timeout 0 | --timeout must be at least 1 second",
                "client --address a --timeout 0 | --timeout must be at least 1 second",
                "client --address a ONE TWO | the argument 'TWO' is superfluous",
            })
    void misuse(String arguments, String message) {
        CommandLines.assertMisused(new Stream(), arguments, message);
    }

    @Test
    void help() {
        StringWriter out = new StringWriter();
        assertThat(new Stream().commandLine().setOut(new PrintWriter(out)).execute("client", "--help"))
                .isZero();
        assertThat(out.toString()).contains("--block=BYTES").contains("[FILE]");
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
                .startsWith("stream client: no server has answered within 1 s (--timeout): 192.0.2.1:7204: ")
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
}
