// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.replicate;

import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.RpmaMemory;
import io.rpma.support.CommandLines;
import io.rpma.support.Sha256;
import io.rpma.testing.Jvm;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The command line, in the cases that need no device. */
class ReplicateTest {
    private static final int SIZE = 1000;

    @TempDir
    private Path directory;

    private Path memory;
    private final StringWriter errors = new StringWriter();

    @BeforeEach
    void name() {
        memory = directory.resolve("memory");
    }

    private int run(String... arguments) {
        return new Replicate().commandLine().setErr(new PrintWriter(errors)).execute(arguments);
    }

    /** Writes a committed file of {@link #SIZE} bytes into the memory, with this length in its header. */
    private void commit(long length) throws IOException {
        try (RpmaMemory mapped = RpmaMemory.map(memory, 64 << 10)) {
            byte[] digest = Sha256.of(mapped, Layout.DATA, SIZE, done -> {});
            mapped.buffer(Layout.DIGEST, Sha256.LENGTH).put(digest);
            mapped.buffer(Layout.COMMIT, Long.BYTES)
                    .order(ByteOrder.LITTLE_ENDIAN)
                    .putLong(Layout.committed(length));
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "check | Missing required option: '--memory=PATH'",
                "receive | Missing required option: '--address=ADDRESS'",
                "send --address a | Missing required parameter: 'FILE'",
                "send --address a --chunk 4097 FILE | --chunk must be a multiple of 8",
                "send --address a --depth 0 FILE | --depth must be 1 to 1024",
                "send --address a --timeout 0 FILE | --timeout must be at least 1 second",
            })
    void misuse(String arguments, String message) {
        CommandLines.assertMisused(new Replicate(), arguments, message);
    }

    @Test
    void checksAFile() throws IOException {
        commit(SIZE);
        assertThat(memory.toFile().setWritable(false)).isTrue();
        assertThat(run("check", "--memory", memory.toString())).isZero();
    }

    @Test
    void checksAMemoryWithoutAFile() throws IOException {
        commit(-1);
        assertThat(run("check", "--memory", memory.toString())).isEqualTo(3);
    }

    @Test
    void checksAFileThatIsDamaged() throws IOException {
        commit(SIZE - 1);
        assertThat(run("check", "--memory", memory.toString())).isEqualTo(1);
        assertThat(errors.toString()).contains("is not the one that the sender has committed");
    }

    @Test
    void checksAHeaderThatIsDamaged() throws IOException {
        commit(64 << 10);
        assertThat(run("check", "--memory", memory.toString())).isEqualTo(1);
        assertThat(errors.toString()).contains("the header is damaged: a length of 65536");
    }

    @Test
    void checksAMemoryThatIsTooSmall() throws IOException {
        Files.write(memory, new byte[8]);
        assertThat(run("check", "--memory", memory.toString())).isEqualTo(1);
        assertThat(errors)
                .hasToString("replicate check: the memory is too small: 8 bytes, and the header takes"
                        + " 4096 bytes (4 KiB)\n");
    }

    @Test
    void waitsForAHostThatIsDown() throws Exception {
        Path file = Files.write(directory.resolve("file"), new byte[SIZE]);
        Jvm.Finished end = Jvm.likeThis()
                .run(Replicate.class, "send", "--address", "192.0.2.1", "--timeout", "1", file.toString());
        assertThat(end.status()).as(end.toString()).isEqualTo(1);
        assertThat(end.err())
                .startsWith("replicate send: no receiver has answered at 192.0.2.1 port 7204 within 1 s (--timeout): ")
                .hasLineCount(1);
    }
}
