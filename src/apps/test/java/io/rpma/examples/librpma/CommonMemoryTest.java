// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.librpma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.rpma.RpmaMemory;
import io.rpma.RpmaMrUsage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The memory of a path: its layout, and its initialization, which occurs only once. */
class CommonMemoryTest {
    private static final int SIGNATURE_SIZE = 17;
    private static final int SIZE = 8;
    private static final String SIGNATURE = "RPMA_EXAMPLE_SIG\0";
    private static final String EMPTY_LOG = "4c4f47000000000010000000000000006f6c64";

    @TempDir
    private Path directory;

    private int inits;

    private Path file(int size) throws IOException {
        byte[] content = new byte[size];
        Arrays.fill(content, (byte) '.');
        return Files.write(directory.resolve("file"), content);
    }

    private void init(ByteBuffer data) {
        inits++;
        data.put("init".getBytes(StandardCharsets.US_ASCII));
    }

    private CommonMemory open(Path path, String offset) throws IOException {
        return CommonMemory.open(path.toString(), offset, SIZE, this::init);
    }

    private static String content(Path path) throws IOException {
        return Files.readString(path, StandardCharsets.ISO_8859_1);
    }

    @Test
    void theSignatureIsBeforeTheData() throws IOException {
        Path path = file(40);
        try (CommonMemory memory = open(path, "0")) {
            assertThat(memory.dataOffset()).isEqualTo(SIGNATURE_SIZE);
            assertThat(memory.memory().size()).isEqualTo(40);
            assertThat(memory.data(SIZE).remaining()).isEqualTo(SIZE);
            assertThat(memory.flushUsage()).isEqualTo(RpmaMrUsage.FLUSH_TYPE_VISIBILITY);
        }
        assertThat(content(path)).isEqualTo(SIGNATURE + "init" + ".".repeat(19));
    }

    @Test
    void aPathWithoutPersistentMemoryIsReported() throws IOException {
        Path path = file(40);
        PrintStream err = System.err;
        ByteArrayOutputStream reported = new ByteArrayOutputStream();
        System.setErr(new PrintStream(reported, true, StandardCharsets.UTF_8));
        try {
            open(path, "0").close();
        } finally {
            System.setErr(err);
        }
        assertThat(reported.toString(StandardCharsets.UTF_8))
                .isEqualTo(path + " is not persistent memory: a power cut may lose the data.\n");
    }

    @Test
    void theOffsetIsThatOfTheSignature() throws IOException {
        Path path = file(40);
        try (CommonMemory memory = open(path, "10")) {
            assertThat(memory.dataOffset()).isEqualTo(10 + SIGNATURE_SIZE);
        }
        assertThat(content(path)).isEqualTo(".".repeat(10) + SIGNATURE + "init" + ".".repeat(9));
    }

    @Test
    void itIsFilledOnce() throws IOException {
        Path path = file(40);
        try (CommonMemory memory = open(path, "0")) {
            memory.data(SIZE).put("user".getBytes(StandardCharsets.US_ASCII));
            memory.persist(SIZE);
        }
        try (CommonMemory memory = open(path, "0")) {
            assertThat(StandardCharsets.US_ASCII.decode(memory.data(4)).toString())
                    .isEqualTo("user");
        }
        assertThat(inits).isEqualTo(1);
    }

    @Test
    void tooSmall() throws IOException {
        open(file(SIGNATURE_SIZE + SIZE), "0").close();
        for (String offset : new String[] {"1", "1024"}) {
            assertThatExceptionOfType(IOException.class)
                    .isThrownBy(() -> open(file(SIGNATURE_SIZE + SIZE), offset))
                    .withMessageContaining("too small: 25");
        }
        assertThatExceptionOfType(IOException.class)
                .isThrownBy(() -> Example07AtomicWriteServer.openLog(file(1039).toString()))
                .withMessageContaining("too small: 1039 < 1040");
    }

    @Test
    void noFile() {
        assertThatExceptionOfType(NoSuchFileException.class).isThrownBy(() -> open(directory.resolve("none"), "0"));
    }

    @Test
    void withoutAPathItIsDram() throws IOException {
        try (CommonMemory memory = CommonMemory.open(null, "1024", SIZE, this::init)) {
            assertThat(memory.memory().kind()).isEqualTo(RpmaMemory.Kind.ANONYMOUS);
            assertThat(memory.memory().size()).isEqualTo(SIZE);
            assertThat(memory.dataOffset()).isZero();
            assertThat(inits).isEqualTo(1);
            memory.persist(SIZE);
        }
    }

    @Test
    void aLogHasItsOwnSignature() throws IOException {
        Path path = file(2048);
        try (CommonMemory memory = Example07AtomicWriteServer.openLog(path.toString())) {
            assertThat(memory.dataOffset()).isZero();
            assertThat(memory.data(1040).getLong(8)).isEqualTo(16);
            memory.data(1040).put(16, "old".getBytes(StandardCharsets.US_ASCII));
        }
        assertThat(HexFormat.of().formatHex(Files.readAllBytes(path), 0, 19)).isEqualTo(EMPTY_LOG);
    }

    @Test
    void aLogStaysWhatItIs() throws IOException {
        Path path = file(2048);
        try (CommonMemory memory = Example07AtomicWriteServer.openLog(path.toString())) {
            memory.data(1040).put(16, new byte[] {'o', 'l', 'd', 0}).putLong(8, 20);
        }
        try (CommonMemory memory = Example07AtomicWriteServer.openLog(path.toString())) {
            assertThat(Example07AtomicWriteServer.words(memory.data(1040))).isEqualTo("old\n");
        }
    }
}
