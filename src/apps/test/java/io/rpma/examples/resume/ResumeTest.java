// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.resume;

import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.support.CommandLines;
import io.rpma.testing.Jvm;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The command line, in the cases that need no device. */
class ResumeTest {
    @TempDir
    private Path directory;

    private static Jvm.Finished run(String... arguments) throws InterruptedException {
        return Jvm.likeThis().run(Resume.class, arguments);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "| Missing required subcommand",
                "server --memory auto | Missing required option: '--address=ADDRESS'",
                "server --address a | Missing required option: '--memory=PATH'",
                "server --address a --memory auto --port 0 | --port must be 1 to 65535",
                "server --address a --memory auto --size 4k | --size must be at least 4104 bytes",
                "client FILE | Missing required option: '--address=ADDRESS'",
                "client --address a | Missing required parameter: 'FILE'",
                "client --address a --timeout 0 FILE | --timeout must be at least 1 second",
                "client --address a --port x FILE | Invalid value for option '--port'",
                "client --address a --memory auto FILE | Unknown option",
            })
    void misuse(String arguments, String message) {
        CommandLines.assertMisused(new Resume(), arguments, message);
    }

    @Test
    void theStatusOfMisuse() throws InterruptedException {
        Jvm.Finished end = run("client", "--address", "10.0.0.1");
        assertThat(end.status()).as(end.toString()).isEqualTo(2);
        assertThat(end.err()).startsWith("resume client: Missing required parameter: 'FILE'");
    }

    @Test
    void aFileThatDoesNotExist() throws InterruptedException {
        Path file = directory.resolve("none");
        Jvm.Finished end = run("client", "--address", "192.0.2.1", file.toString());
        assertThat(end.status()).as(end.toString()).isEqualTo(1);
        assertThat(end.err()).isEqualTo("resume client: " + file + ": no such file\n");
    }

    @Test
    void waitsForAHostThatIsDown() throws Exception {
        Path file = Files.write(directory.resolve("file"), new byte[10]);
        Jvm.Finished end = run("client", "--address", "192.0.2.1", "--timeout", "1", file.toString());
        assertThat(end.status()).as(end.toString()).isEqualTo(1);
        assertThat(end.out()).startsWith("waiting for 192.0.2.1:7204: ").hasLineCount(1);
        assertThat(end.err()).startsWith("resume client: nothing was committed within 1 s (--timeout): ");
    }

    @Test
    void anAddressOfNoDevice() throws Exception {
        Path memory = Files.createFile(directory.resolve("memory"));
        Jvm.Finished end = run("server", "--address", "192.0.2.1", "--memory", memory.toString(), "--size", "64k");
        assertThat(end.status()).as(end.toString()).isEqualTo(1);
        assertThat(end.err()).startsWith("resume server: ").hasLineCount(1);
        assertThat(Files.size(memory)).isZero();
    }
}
