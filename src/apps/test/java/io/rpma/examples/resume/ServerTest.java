// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.resume;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rpma.RpmaMemory;
import io.rpma.support.Sha256;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The server's check after a client. The memory has a complete copy of 1000 bytes from an earlier client. */
class ServerTest {
    private static final int SIZE = 1000;

    private final PrintStream out = System.out;
    private final ByteArrayOutputStream said = new ByteArrayOutputStream();
    private RpmaMemory memory;

    @BeforeEach
    void leaveACopy() {
        memory = RpmaMemory.allocate(64 << 10);
        byte[] digest = Sha256.of(memory, CopyLayout.DATA, SIZE, done -> {});
        CopyLayout.describe(header(), SIZE, digest);
        header().putLong(CopyLayout.COMMIT_OFFSET, CopyLayout.committed(SIZE));
        System.setOut(new PrintStream(said, true));
    }

    @AfterEach
    void close() {
        System.setOut(out);
        memory.close();
    }

    private ByteBuffer header() {
        return memory.buffer(0, CopyLayout.HEADER_LENGTH).order(ByteOrder.LITTLE_ENDIAN);
    }

    private void announce(long size) {
        header().putLong(CopyLayout.ANNOUNCEMENT_OFFSET, CopyLayout.announcement(size));
    }

    @Test
    void aClientWithThisFile() throws IOException {
        announce(SIZE);
        assertThat(Server.check(memory)).isTrue();
        assertThat(said.toString()).contains("SHA-256 ").endsWith("size 1000 bytes\n");
    }

    @Test
    void aClientThatBroughtNothing() throws IOException {
        announce(SIZE);
        CopyLayout.resetAnnouncement(header());
        assertThat(Server.check(memory)).isFalse();
        assertThat(said).hasToString("no file was announced\n");
    }

    @Test
    void aClientWhoseFileDoesNotFit() throws IOException {
        announce(64 << 10);
        assertThat(Server.check(memory)).isFalse();
        assertThat(said.toString())
                .startsWith("the client's file does not fit: it has 65536 bytes (64 KiB), and the memory has room for");
    }

    @ParameterizedTest
    @ValueSource(longs = {-2, -SIZE, Long.MIN_VALUE + 1, SIZE - 1, SIZE + 1, 0})
    void aClientWhoseFileIsNotTheCopy(long size) throws IOException {
        announce(size);
        assertThat(Server.check(memory)).isFalse();
        assertThat(said)
                .hasToString("the copy of 1000 bytes is not of the announced file, which has " + size + " bytes\n");
    }

    @Test
    void aClientThatDidNotFinish() throws IOException {
        announce(SIZE);
        header().putLong(CopyLayout.COMMIT_OFFSET, CopyLayout.committed(64));
        assertThat(Server.check(memory)).isFalse();
        assertThat(said.toString()).contains("an unfinished copy");
    }

    @Test
    void aCopyThatIsNotTheFile() {
        announce(SIZE);
        memory.buffer(CopyLayout.DATA, SIZE).put(7, (byte) 1);
        assertThatThrownBy(() -> Server.check(memory))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("not the file that the client has announced");
    }
}
