// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.rpma.internal.PersistentMemory;
import io.rpma.testing.Tool;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.net.StandardProtocolFamily;
import java.net.URI;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ReadOnlyBufferException;
import java.nio.channels.ServerSocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystem;
import java.nio.file.FileSystemException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RpmaMemoryFileTest {
    private static final int PAGE = 4096;
    private static final long LARGE = 3L << 30;

    @TempDir
    private Path directory;

    private Path file(String content) throws IOException {
        return Files.writeString(directory.resolve("file"), content);
    }

    private static String text(ByteBuffer buffer) {
        return StandardCharsets.UTF_8.decode(buffer).toString();
    }

    private static void assertFails(ThrowingCallable call, Path path, String reason) {
        assertThatExceptionOfType(FileSystemException.class)
                .isThrownBy(call)
                .satisfies(e -> assertThat(e.getFile()).isEqualTo(path.toString()))
                .satisfies(e -> assertThat(e.getReason()).contains(reason));
    }

    private static List<ThrowingCallable> mappings(Path path) {
        return List.of(
                () -> RpmaMemory.map(path), () -> RpmaMemory.map(path, PAGE), () -> RpmaMemory.mapReadOnly(path));
    }

    @Test
    void aFileIsCreated() throws IOException {
        Path path = directory.resolve("new");
        try (RpmaMemory memory = RpmaMemory.map(path, PAGE + 1)) {
            assertThat(memory.kind()).isIn(RpmaMemory.Kind.FILE, RpmaMemory.Kind.FILE_DAX);
            boolean inPersistentMemory = PersistentMemory.containsFile(path);
            assertThat(memory.isPersistent())
                    .isEqualTo(memory.kind() == RpmaMemory.Kind.FILE_DAX && inPersistentMemory);
            assertThat(memory.size()).isEqualTo(PAGE + 1);
            memory.buffer().putInt(PAGE - 3, 0x01020304);
        }
        assertThat(Files.readAllBytes(path)).hasSize(PAGE + 1).endsWith(1, 2, 3, 4);
    }

    @Test
    void aShorterFileIsExtended() throws IOException {
        Path path = file("hello");
        try (RpmaMemory memory = RpmaMemory.map(path, 2 * PAGE)) {
            assertThat(text(memory.buffer(0, 6))).isEqualTo("hello\0");
        }
        assertThat(path).hasSize(2 * PAGE);
    }

    @Test
    void aLongerFileKeepsItsLength() throws IOException {
        Path path = file("hello, world");
        try (RpmaMemory memory = RpmaMemory.map(path, 5)) {
            assertThat(memory.size()).isEqualTo(5);
            memory.buffer().put(0, (byte) 'J');
        }
        assertThat(path).hasContent("Jello, world");
    }

    @Test
    void aFileIsMappedWhole() throws IOException {
        Path path = file("hello");
        try (RpmaMemory memory = RpmaMemory.map(path)) {
            assertThat(memory.isReadOnly()).isFalse();
            assertThat(memory.size()).isEqualTo(5);
            assertThat(text(memory.buffer())).isEqualTo("hello");
            memory.buffer().put(4, (byte) '!');
        }
        assertThat(path).hasContent("hell!");
    }

    @Test
    void aFileIsMappedForReadingOnly() throws IOException {
        Path path = file("hello");
        assertThat(path.toFile().setReadOnly()).isTrue();
        try (RpmaMemory memory = RpmaMemory.mapReadOnly(path)) {
            assertThat(memory.isReadOnly()).isTrue();
            ByteBuffer buffer = memory.buffer();
            assertThat(text(buffer)).isEqualTo("hello");
            assertThat(buffer.isReadOnly()).isTrue();
            assertThat(memory.buffer(1, 2).isReadOnly()).isTrue();
            assertThatExceptionOfType(ReadOnlyBufferException.class).isThrownBy(() -> buffer.put(0, (byte) 'J'));
        }
    }

    @Test
    void aFileThatCantBeWrittenIsNotMapped() throws IOException {
        Path path = file("hello");
        assertThat(path.toFile().setReadOnly()).isTrue();
        assumeTrue(!Files.isWritable(path), "root may write to every file");
        assertFails(() -> RpmaMemory.map(path), path, "Permission denied");
    }

    /** Unlike file permissions, the protection of a running program applies to root, too. */
    @Test
    void aProgramThatRunsIsMappedForReadingOnly() throws IOException {
        Path path = Files.copy(Path.of("/bin/sleep"), directory.resolve("program"), StandardCopyOption.COPY_ATTRIBUTES);
        Process program = new ProcessBuilder(path.toString(), "60").start();
        try {
            assertFails(() -> RpmaMemory.map(path), path, "Text file busy");
            assertFails(() -> RpmaMemory.map(path, PAGE), path, "Text file busy");
            try (RpmaMemory memory = RpmaMemory.mapReadOnly(path)) {
                assertThat(memory.buffer().get(1)).isEqualTo((byte) 'E');
            }
        } finally {
            program.destroyForcibly();
        }
    }

    @Test
    void anEmptyFileIsNotMapped() throws IOException {
        Path path = file("");
        assertFails(() -> RpmaMemory.map(path), path, "is empty");
        assertFails(() -> RpmaMemory.mapReadOnly(path), path, "is empty");
        try (RpmaMemory memory = RpmaMemory.map(path, 1)) {
            assertThat(memory.buffer().get(0)).isZero();
        }
        assertThat(path).hasSize(1);
    }

    @Test
    void aMissingFileIsNotMappedWhole() {
        Path path = directory.resolve("missing");
        assertThatExceptionOfType(NoSuchFileException.class).isThrownBy(() -> RpmaMemory.map(path));
        assertThatExceptionOfType(NoSuchFileException.class).isThrownBy(() -> RpmaMemory.mapReadOnly(path));
        assertThat(path).doesNotExist();
        Path nowhere = path.resolve("file");
        assertFails(() -> RpmaMemory.map(nowhere, PAGE), nowhere, "No such file or directory");
    }

    @Test
    void aDirectoryIsNotMapped() {
        for (ThrowingCallable call : mappings(directory)) {
            assertFails(call, directory, "is a directory");
        }
    }

    @Test
    void aNameThatIsTooLongIsNotMapped() {
        for (String name : List.of("x".repeat(256), "x/".repeat(3000))) {
            Path path = directory.resolve(name);
            for (ThrowingCallable call : mappings(path)) {
                assertFails(call, path, "File name too long");
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"/dev/null", "/dev/zero", "/dev/tty"})
    void aDeviceThatIsNoDaxIsNotMapped(Path path) {
        for (ThrowingCallable call : mappings(path)) {
            assertFails(call, path, "no device DAX");
        }
    }

    /** As block devices, which only root can make, pipes and sockets have no size. */
    @Test
    void aPipeAndASocketAreNotMapped() throws Exception {
        Path pipe = directory.resolve("pipe");
        Tool.run("mkfifo", pipe.toString());
        Path socket = directory.resolve("socket");
        try (ServerSocketChannel channel = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            channel.bind(UnixDomainSocketAddress.of(socket));
            for (Path path : List.of(pipe, socket)) {
                for (ThrowingCallable call : mappings(path)) {
                    assertFails(call, path, "is neither a regular file nor a device DAX");
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {0, -1, Long.MIN_VALUE})
    void impossibleSizesAreRefused(long size) {
        Path path = directory.resolve("new");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RpmaMemory.map(path, size))
                .withMessage("a mapping has at least 1 byte, not " + size);
        assertThat(path).doesNotExist();
    }

    @Test
    void aFileLargerThanTheFileSystemIsNotMapped() {
        Path path = directory.resolve("new");
        assertThatExceptionOfType(FileSystemException.class)
                .isThrownBy(() -> RpmaMemory.map(path, Long.MAX_VALUE))
                .satisfies(e -> assertThat(e.getReason()).isNotEmpty());
    }

    @Test
    void nullIsRefused() {
        for (ThrowingCallable call : mappings(null)) {
            assertThatNullPointerException().isThrownBy(call).withMessageContaining("path");
        }
    }

    @Test
    void aSparseFileOfThreeGigabytes() throws IOException {
        Path path = directory.resolve("large");
        try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw")) {
            file.setLength(LARGE + 5);
        }
        try (RpmaMemory memory = RpmaMemory.map(path)) {
            assertThat(memory.size()).isEqualTo(LARGE + 5);
            memory.buffer(LARGE, 5).put("hello".getBytes(StandardCharsets.UTF_8));
            assertThatExceptionOfType(IndexOutOfBoundsException.class).isThrownBy(memory::buffer);
        }
        try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "r")) {
            byte[] end = new byte[5];
            file.seek(LARGE);
            file.readFully(end);
            assertThat(end).asString().isEqualTo("hello");
        }
        try (RpmaMemory memory = RpmaMemory.mapReadOnly(path)) {
            assertThat(text(memory.buffer(LARGE, 5))).isEqualTo("hello");
        }
    }

    @Test
    void aFileUnderAnotherName() throws IOException {
        Path link = Files.createSymbolicLink(directory.resolve("link"), file("hello"));
        Path relative = Path.of("").toAbsolutePath().relativize(link.toRealPath());
        Path odd = Files.writeString(directory.resolve("a b\n%s"), "hello");
        for (Path path : List.of(link, relative, odd)) {
            try (RpmaMemory memory = RpmaMemory.map(path)) {
                assertThat(text(memory.buffer())).isEqualTo("hello");
            }
        }
    }

    @Test
    void aFileWhoseNameIsNotAscii() throws IOException {
        String encoding = System.getProperty("sun.jnu.encoding");
        assumeTrue("UTF-8".equals(encoding), "the encoding of file names is " + encoding);
        Path path = directory.resolve("gr\u00fc\u00dfe \ud83d\ude00");
        try (RpmaMemory memory = RpmaMemory.map(path, 3)) {
            memory.buffer().put(0, (byte) 1);
        }
        assertThat(path).hasBinaryContent(new byte[] {1, 0, 0});
    }

    /** A conversion of such a name to text would lose bytes and produce the name of another file. */
    @Test
    void aFileWhoseNameIsNoText() throws Exception {
        Tool.run("sh", "-c", "printf content >" + directory + "/$(printf 'a\\377b')");
        try (Stream<Path> files = Files.list(directory)) {
            Path path = files.findFirst().orElseThrow();
            try (RpmaMemory memory = RpmaMemory.map(path)) {
                assertThat(text(memory.buffer())).isEqualTo("content");
            }
        }
    }

    @Test
    void aLinkStaysWhenItsFileCantBeMade() throws IOException {
        Path link = Files.createSymbolicLink(directory.resolve("link"), directory.resolve("missing"));
        assertThatExceptionOfType(FileSystemException.class).isThrownBy(() -> RpmaMemory.map(link, Long.MAX_VALUE));
        assertThat(link).isSymbolicLink();
    }

    @Test
    void aFileOfAnotherFileSystemIsRefused() throws IOException {
        URI zip = URI.create("jar:" + directory.resolve("archive.zip").toUri());
        try (FileSystem archive = FileSystems.newFileSystem(zip, Map.of("create", "true"))) {
            Path inside = archive.getPath(directory.resolve("inside").toString());
            for (ThrowingCallable call : mappings(inside)) {
                assertThatIllegalArgumentException()
                        .isThrownBy(call)
                        .withMessageContaining(inside + " is not on the default file system");
            }
            assertThat(directory.resolve("inside")).doesNotExist();
        }
    }

    @Test
    void aFileStaysMappedWhenItIsDeleted() throws IOException {
        Path path = file("hello");
        try (RpmaMemory memory = RpmaMemory.map(path)) {
            Files.delete(path);
            assertThat(text(memory.buffer())).isEqualTo("hello");
        }
    }

    @Test
    void aClosedMappingHasNoBuffers() throws IOException {
        RpmaMemory memory = RpmaMemory.map(file("hello"));
        memory.close();
        memory.close();
        assertThatIllegalStateException().isThrownBy(memory::buffer);
    }
}
