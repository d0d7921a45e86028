package io.rpma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rpma.testing.DaxFileSystem;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Files of a DAX file system, which are mapped without the page cache. */
@Tag("persistent-memory")
@Timeout(120)
class DaxFileIT {
    private static final int PAGE = 4096;
    private static final int SIZE = 16 * PAGE;

    private static DaxFileSystem fileSystem;

    @BeforeAll
    static void open() throws Exception {
        fileSystem = DaxFileSystem.open();
    }

    @AfterAll
    static void remove() throws Exception {
        if (fileSystem != null) {
            fileSystem.remove();
        }
    }

    private Path path;

    @BeforeEach
    void createFile() throws IOException {
        path = Files.createTempFile(fileSystem.directory(), "file", null);
    }

    @AfterEach
    void deleteFile() throws IOException {
        Files.delete(path);
    }

    @Test
    void isPersistent() throws IOException {
        try (RpmaMemory memory = RpmaMemory.map(path, SIZE)) {
            assertEquals(RpmaMemory.Kind.FILE_DAX, memory.kind());
            assertTrue(memory.isPersistent());
            memory.buffer().putLong(SIZE - Long.BYTES, 42);
            memory.persist(SIZE - Long.BYTES, Long.BYTES);
        }
        try (RpmaMemory memory = RpmaMemory.mapReadOnly(path)) {
            assertEquals(RpmaMemory.Kind.FILE_DAX, memory.kind());
            assertTrue(memory.isPersistent());
        }
        assertThat(ByteBuffer.wrap(Files.readAllBytes(path)).getLong(SIZE - Long.BYTES))
                .isEqualTo(42);
    }

    /** A cache instruction on a page that was truncated from the file would end the process. */
    @Test
    void truncatedBytesAreNotPersistent() throws IOException {
        try (RpmaMemory memory = RpmaMemory.map(path, SIZE);
                FileChannel channel = FileChannel.open(path, StandardOpenOption.WRITE)) {
            memory.buffer().putLong(0, 42);
            memory.buffer().putLong(SIZE - Long.BYTES, 42);
            channel.truncate(PAGE);
            assertThatExceptionOfType(UncheckedIOException.class)
                    .isThrownBy(() -> memory.persist(0, SIZE))
                    .withMessageContaining("the file has been made shorter");
            memory.persist(0, PAGE);
        }
    }
}
