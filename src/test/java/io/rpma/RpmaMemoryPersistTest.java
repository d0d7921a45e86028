// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.rpma.internal.Errno;
import io.rpma.internal.Natives;
import io.rpma.internal.Result;
import io.rpma.testing.CProgram;
import io.rpma.testing.Together;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Calls of {@link RpmaMemory#persist()} for files and for anonymous memory. */
class RpmaMemoryPersistTest {
    private static final int PAGE = 4096;
    private static final int SIZE = 3 * PAGE + 5;

    @TempDir
    private Path directory;

    private RpmaMemory file() throws IOException {
        return RpmaMemory.map(directory.resolve("file"), SIZE);
    }

    private static void fill(RpmaMemory memory) {
        byte[] bytes = new byte[(int) memory.size()];
        new Random().nextBytes(bytes);
        memory.buffer().put(bytes);
    }

    /**
     * Checks the choice of the instruction, and that none fails. No program can observe whether bytes have left the
     * caches.
     */
    @Test
    void everyInstructionOfThisProcessor() throws Exception {
        String program = CProgram.compile(directory, "persist.c").toString();
        CProgram.Finished finished = CProgram.run(Map.of(), program);
        assertThat(finished.status()).as(finished.output()).isZero();
        boolean arm = System.getProperty("os.arch").equals("aarch64");
        assertThat(finished.output()).startsWith(arm ? "dc cva" : "clflush\n");
    }

    /** Returns the number of kilobytes of a mapping that the kernel has not written back yet. */
    private static int dirtyKilobytes(RpmaMemory memory) throws IOException {
        String start = Long.toHexString(memory.address()) + "-";
        int dirty = -1;
        for (String line : Files.readAllLines(Path.of("/proc/self/smaps"))) {
            if (line.matches("[0-9a-f]+-[0-9a-f]+ .*")) {
                if (dirty >= 0) {
                    return dirty;
                }
                dirty = line.startsWith(start) ? 0 : -1;
            } else if (dirty >= 0 && line.matches("(Shared|Private)_Dirty:.*")) {
                dirty += Integer.parseInt(line.replaceAll("\\D", ""));
            }
        }
        throw new AssertionError(memory + " is not mapped");
    }

    @Test
    void thePagesOfAFileAreWritten() throws IOException {
        String type = Files.getFileStore(directory).type();
        assumeTrue(!Set.of("tmpfs", "ramfs").contains(type), "a file system in memory writes nothing");
        try (RpmaMemory memory = file()) {
            fill(memory);
            assertThat(dirtyKilobytes(memory)).isEqualTo(16);
            memory.persist(PAGE + 1, PAGE - 1);
            assertThat(dirtyKilobytes(memory)).isEqualTo(12);
            memory.persist();
            assertThat(dirtyKilobytes(memory)).isZero();
            assertThat(Files.readAllBytes(directory.resolve("file")))
                    .isEqualTo(ByteBuffer.allocate(SIZE).put(memory.buffer()).array());
        }
    }

    @ParameterizedTest
    @CsvSource({"0, 0", "0, 1", "1, 4095", "4095, 2", "4096, 4096", "4097, 8191", "12292, 1", "12293, 0"})
    void anyPart(long offset, long length) throws IOException {
        try (RpmaMemory memory = file();
                RpmaMemory fresh = RpmaMemory.allocate(SIZE)) {
            for (RpmaMemory any : new RpmaMemory[] {memory, fresh}) {
                fill(any);
                assertThatCode(() -> any.persist(offset, length)).doesNotThrowAnyException();
            }
        }
    }

    @ParameterizedTest
    @CsvSource({
        "-1, 1",
        "0, -1",
        "0, 12294",
        "12293, 1",
        "12294, 0",
        "9223372036854775807, 1",
        "1, 9223372036854775807",
        "-9223372036854775808, 0"
    })
    void nothingOutside(long offset, long length) throws IOException {
        try (RpmaMemory memory = file();
                RpmaMemory fresh = RpmaMemory.allocate(SIZE)) {
            for (RpmaMemory any : new RpmaMemory[] {memory, fresh}) {
                assertThatExceptionOfType(IndexOutOfBoundsException.class)
                        .isThrownBy(() -> any.persist(offset, length));
            }
        }
    }

    @Test
    void aReadOnlyMapping() throws IOException {
        file().close();
        try (RpmaMemory memory = RpmaMemory.mapReadOnly(directory.resolve("file"))) {
            assertThatCode(memory::persist).doesNotThrowAnyException();
        }
    }

    @Test
    void notWhenClosed() throws IOException {
        RpmaMemory memory = file();
        memory.close();
        assertThatIllegalStateException().isThrownBy(memory::persist).withMessageContaining("is closed");
        assertThatIllegalStateException().isThrownBy(() -> memory.persist(0, 0));
    }

    @Test
    void theInstructionsForPersistentMemoryChangeNothing() {
        try (RpmaMemory memory = RpmaMemory.allocate(SIZE)) {
            fill(memory);
            ByteBuffer before = ByteBuffer.allocate(SIZE).put(memory.buffer()).flip();
            for (int[] part : new int[][] {{0, 0}, {0, 1}, {63, 2}, {64, 64}, {1, PAGE}, {0, SIZE}, {SIZE - 1, 1}}) {
                assertThat(Natives.memoryPersist(memory.address(), part[0], part[1]))
                        .isZero();
            }
            assertThat(memory.buffer()).isEqualTo(before);
        }
    }

    /**
     * A lost page of a file stands for a broken page: the write-back instructions alone would end the process there.
     */
    @Test
    void whatIsGoneOfAFileIsNotWrittenBack() throws IOException {
        try (RpmaMemory memory = file();
                FileChannel channel = FileChannel.open(directory.resolve("file"), StandardOpenOption.WRITE)) {
            channel.truncate(0);
            assertThat(Natives.memoryPersist(memory.address(), 0, SIZE)).isEqualTo(Result.ERRNO - Errno.EFAULT);
        }
    }

    @ParameterizedTest
    @CsvSource({"0, 12293", "0, 4097", "4096, 1", "12292, 1"})
    void bytesThatAFileHasLostAreNotPersistent(long offset, long length) throws IOException {
        try (RpmaMemory memory = file();
                FileChannel channel = FileChannel.open(directory.resolve("file"), StandardOpenOption.WRITE)) {
            fill(memory);
            channel.truncate(PAGE);
            assertThatExceptionOfType(UncheckedIOException.class)
                    .isThrownBy(() -> memory.persist(offset, length))
                    .withMessageContaining("the file has been made shorter, or ");
            memory.persist(0, PAGE);
            memory.persist(PAGE, 0);
        }
    }

    /** One thread persists a mapping while another thread makes the file shorter and longer. */
    @Test
    void aFileMayChangeItsLengthMeanwhile() throws Exception {
        try (RpmaMemory memory = file();
                FileChannel channel = FileChannel.open(directory.resolve("file"), StandardOpenOption.WRITE)) {
            Together.run(2, thread -> {
                for (int round = 0; round < 2000; round++) {
                    if (thread == 0) {
                        channel.truncate(PAGE);
                        channel.write(ByteBuffer.allocate(1), SIZE - 1);
                        continue;
                    }
                    try {
                        memory.persist();
                    } catch (UncheckedIOException e) {
                        assertThat(e).hasMessageContaining("the file has been made shorter, or ");
                    }
                }
            });
        }
    }

    @Test
    void threadsPersistWhileOneCloses() throws Exception {
        for (int round = 0; round < 50; round++) {
            RpmaMemory memory = file();
            Together.run(3, thread -> {
                if (thread == 0) {
                    memory.close();
                    return;
                }
                try {
                    while (true) {
                        memory.persist();
                    }
                } catch (IllegalStateException e) {
                    assertThat(e).hasMessageEndingWith("is closed");
                }
            });
        }
    }
}
