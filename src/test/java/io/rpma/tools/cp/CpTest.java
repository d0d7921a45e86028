// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools.cp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rpma.examples.common.CommandLines;
import io.rpma.examples.common.Sha256;
import io.rpma.testing.Jvm;
import io.rpma.tools.Tools;
import io.rpma.tools.common.Connector;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The command line, the messages, the paths and the files of {@code cp}. {@code CpIT} runs the command with a device. */
@Tag("examples")
class CpTest {
    @TempDir
    private Path directory;

    private Path root;

    @BeforeEach
    void makeRoot() throws IOException {
        root = Files.createDirectory(directory.resolve("root")).toRealPath();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "cp | Missing required parameter: 'FILE'",
                "cp FILE | HOST:[PATH] is missing",
                "cp FILE HOST | HOST:[PATH] must have a colon: HOST",
                "cp FILE :path | HOST:[PATH] must have a colon: :path",
                "cp FILE a:b c | rpma-java cp: the argument 'c' is superfluous; see rpma-java cp --help",
                "cp FILE a:b c d | the arguments 'c', 'd' are superfluous",
                "cp FILE a:b -p 0 | --port must be 1 to 65535",
                "cp FILE a:b -W 0 | --timeout must be at least 1 second",
                "cp / a: | FILE must be a file",
                "cp --listen a | Missing required parameter: 'FILE'",
                "cp --listen a DIR b:c | --listen takes one directory",
                "cp --listen a DIR -W 3 | --timeout is not for --listen",
            })
    void misuse(String arguments, String message) {
        CommandLines.assertMisused(new Tools(), arguments, message);
    }

    @Test
    void aFileThatDoesNotExist() throws InterruptedException {
        Path file = directory.resolve("none");
        Jvm.Finished end = Jvm.ofTools().run("cp", file.toString(), "192.0.2.1:copy");
        assertThat(end.status()).as(end.toString()).isEqualTo(1);
        assertThat(end.err()).isEqualTo("rpma-java cp: " + file + ": no such file\n");
    }

    @Test
    void aDirectoryThatDoesNotExist() throws InterruptedException {
        Path none = directory.resolve("none");
        Jvm.Finished end = Jvm.ofTools().run("cp", "--listen", "192.0.2.1", none.toString());
        assertThat(end.status()).as(end.toString()).isEqualTo(1);
        assertThat(end.err()).isEqualTo("rpma-java cp: " + none + " is no directory\n");
    }

    @Test
    void aRequest() {
        ByteBuffer message = ByteBuffer.allocate(CpMessage.LENGTH);
        byte[] digest = new byte[Sha256.LENGTH];
        digest[31] = 3;
        new CpMessage.Request(1L << 40, digest, "a/ü").put(message);
        CpMessage.Request request = CpMessage.Request.get(message.flip());
        assertThat(request.size()).isEqualTo(1L << 40);
        assertThat(request.digest()).isEqualTo(digest);
        assertThat(request.path()).isEqualTo("a/ü");
    }

    @Test
    void noRequest() {
        assertThatThrownBy(() -> CpMessage.Request.get(ByteBuffer.allocate(4)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("a request that is too short");
        assertThatThrownBy(() -> CpMessage.Request.get(
                        ByteBuffer.allocate(CpMessage.LENGTH).putLong(0, -1)))
                .hasMessage("a request for -1 bytes");
        assertThatThrownBy(() -> CpMessage.Request.get(
                        ByteBuffer.allocate(CpMessage.LENGTH).putShort(40, (short) -1)))
                .hasMessage("a text of -1 bytes");
        assertThatThrownBy(() -> CpMessage.Request.get(
                        ByteBuffer.allocate(CpMessage.LENGTH).putShort(40, (short) 2049)))
                .hasMessage("a text of 2049 bytes");
    }

    @ParameterizedTest
    @EnumSource
    void anAnswer(CpMessage.Kind kind) {
        ByteBuffer message = ByteBuffer.allocate(CpMessage.LENGTH);
        CpMessage.Answer answer = new CpMessage.Answer(kind, 1L << 33, "why");
        answer.put(message);
        assertThat(CpMessage.Answer.get(message.flip())).isEqualTo(answer);
    }

    @Test
    void noAnswer() {
        assertThatThrownBy(() -> CpMessage.Answer.get(ByteBuffer.allocate(0)))
                .hasMessage("an answer that is too short");
        assertThatThrownBy(() -> CpMessage.Answer.get(ByteBuffer.allocate(16).put(0, (byte) 99)))
                .hasMessage("an unknown answer");
        assertThatThrownBy(() -> CpMessage.Answer.get(ByteBuffer.allocate(16).putLong(1, -1)))
                .hasMessage("an unknown answer");
    }

    @Test
    void theBytesOfAnUninterruptedCopy() {
        CpTally tally = new CpTally(5000);
        tally.begin(1000);
        tally.posted(5000);
        tally.written(3000);
        tally.written(5000);
        assertThat(tally.isUnsent()).isFalse();
        assertThat(tally.text(1_000_000_000)).isEqualTo("5000 bytes (4.9 KiB), of which 3.9 KiB at 3.9 KiB/s");
    }

    @Test
    void bytesWhoseAnswersAreLostAreSent() {
        CpTally tally = new CpTally(1024);
        tally.begin(0);
        tally.posted(1024);
        // the connection is lost
        tally.complete();
        assertThat(tally.isUnsent()).isFalse();
        assertThat(tally.text(1_000_000_000)).isEqualTo("1024 bytes (1 KiB), of which 1 KiB at 1 KiB/s");
        tally = new CpTally(8192);
        tally.begin(0);
        tally.posted(4096);
        tally.written(1024);
        tally.begin(2048);
        tally.posted(8192);
        tally.written(8192);
        assertThat(tally.text(1_000_000_000)).isEqualTo("8192 bytes (8 KiB), of which 8 KiB at 8 KiB/s");
    }

    /** Another sender has sent the rest. */
    @Test
    void bytesThatWereNotPostedAreNotSent() {
        CpTally tally = new CpTally(8192);
        tally.begin(0);
        tally.posted(2048);
        tally.written(1024);
        tally.begin(4096);
        tally.complete();
        assertThat(tally.text(1_000_000_000)).isEqualTo("8192 bytes (8 KiB), of which 2 KiB at 2 KiB/s");
    }

    @Test
    void bytesThatWereThere() {
        CpTally complete = new CpTally(4096);
        complete.complete();
        assertThat(complete.isUnsent()).isTrue();
        assertThat(complete.text(1)).isEqualTo("4096 bytes (4 KiB) were already there, and are verified");
        CpTally verified = new CpTally(4096);
        verified.begin(4096);
        assertThat(verified.isUnsent()).isTrue();
    }

    @Test
    void anEmptyFile() {
        CpTally copied = new CpTally(0);
        copied.begin(0);
        assertThat(copied.isUnsent()).isFalse();
        copied.complete();
        assertThat(copied.isUnsent()).isFalse();
        CpTally there = new CpTally(0);
        there.complete();
        assertThat(there.isUnsent()).isTrue();
    }

    @Test
    void aTextThatIsTooLongIsCut() {
        ByteBuffer message = ByteBuffer.allocate(CpMessage.LENGTH);
        new CpMessage.Answer(CpMessage.Kind.FAILED, 0, "x".repeat(10_000)).put(message);
        assertThat(CpMessage.Answer.get(message.flip()).text()).isEqualTo("x".repeat(2048));
    }

    /** The failure comes before the sender looks for the file and for a device. */
    @Test
    void aPathThatIsTooLongIsNotSent() {
        assertThat(CpMessage.fits("ü".repeat(1024))).isTrue();
        Connector connector = new Connector("192.0.2.1", 7204, "cp --listen ADDRESS DIRECTORY");
        CpSender sender = new CpSender(connector, directory.resolve("none"), "ü".repeat(1025), 1, 0, 0);
        assertThatThrownBy(sender::send).isInstanceOf(IOException.class).hasMessage("the path of the copy is too long");
    }

    @Test
    void aTextIsPrintable() {
        ByteBuffer message = ByteBuffer.allocate(CpMessage.LENGTH);
        new CpMessage.Answer(CpMessage.Kind.FAILED, 0, "\u001b[2Jno\r\u009bü").put(message);
        assertThat(CpMessage.Answer.get(message.flip()).text()).isEqualTo("?[2Jno??ü");
    }

    @Test
    void thePrivateData() {
        assertThat(CpMessage.isSender(CpMessage.privateData())).isTrue();
        assertThat(CpMessage.isSender(new byte[0])).isFalse();
        assertThat(CpMessage.isSender(new byte[56])).isFalse();
        assertThat(CpMessage.isSender("another program".getBytes(StandardCharsets.UTF_8)))
                .isFalse();
    }

    @Test
    void pathsInTheDirectory() throws IOException {
        CpDirectory copies = new CpDirectory(root);
        Files.createDirectories(root.resolve("a/b"));
        Files.writeString(root.resolve("old"), "old");
        assertThat(copies.resolve("new")).isEqualTo(root.resolve("new"));
        assertThat(copies.resolve("old")).isEqualTo(root.resolve("old"));
        assertThat(copies.resolve("./a//b/new")).isEqualTo(root.resolve("a/b/new"));
        assertThat(copies.resolve("..new")).isEqualTo(root.resolve("..new"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "/etc/passwd | outside of the directory: it must be relative",
                "../new | outside of the directory: it must not have '..'",
                "a/../../new | outside of the directory: it must not have '..'",
                "a/.. | outside of the directory: it must not have '..'",
                "link/new | outside of the directory: a symbolic link leads out of it",
                "none/new | there is no directory none",
                "old/new | there is no directory old",
                "a | this is a directory",
                "'' | this is a directory",
                ". | this is a directory",
                "link | this is a directory",
                "filelink | there is something that is no regular file",
                ".copy.0123456789abcdef.part | this is the name of an incomplete copy",
                "a/.copy.0123456789abcdef.part | this is the name of an incomplete copy",
            })
    void pathsThatAreRefused(String path, String message) throws IOException {
        CpDirectory copies = new CpDirectory(root);
        Files.createDirectory(root.resolve("a"));
        Files.writeString(root.resolve("old"), "old");
        Files.createSymbolicLink(root.resolve("link"), directory);
        Files.createSymbolicLink(root.resolve("filelink"), Files.writeString(directory.resolve("outside"), ""));
        assertThatThrownBy(() -> copies.resolve(path))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(message);
    }

    @Test
    void noPath() throws IOException {
        CpDirectory copies = new CpDirectory(root);
        assertThatThrownBy(() -> copies.resolve("a\0b")).hasMessage("this is no path");
        assertThatThrownBy(() -> copies.resolve("a\u001b[2J")).hasMessage("the path has a control character");
    }

    private static byte[] contents(int size) {
        byte[] contents = new byte[size];
        new Random(size).nextBytes(contents);
        return contents;
    }

    private static byte[] digest(byte[] contents) {
        Sha256 digest = new Sha256();
        digest.update(ByteBuffer.wrap(contents));
        return digest.result();
    }

    private static void write(CpFile file, byte[] contents) throws IOException {
        file.write(ByteBuffer.wrap(contents, (int) file.position(), file.next()));
    }

    private CpFile open(byte[] contents) throws IOException {
        return CpFile.open(root.resolve("copy"), contents.length, digest(contents), done -> {});
    }

    private Path[] files() throws IOException {
        try (Stream<Path> files = Files.list(root)) {
            return files.toArray(Path[]::new);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, CpMessage.BLOCK, 2 * CpMessage.BLOCK + 1})
    void aCopy(int size) throws IOException {
        byte[] contents = contents(size);
        Files.writeString(root.resolve("copy"), "an old file");
        try (CpFile file = open(contents)) {
            while (!file.isFull()) {
                write(file, contents);
            }
            assertThat(root.resolve("copy")).hasContent("an old file");
            file.complete();
        }
        assertThat(files()).containsExactly(root.resolve("copy"));
        assertThat(root.resolve("copy")).hasBinaryContent(contents);
    }

    @Test
    void anInterruptedCopyContinues() throws IOException {
        byte[] contents = contents(3 * CpMessage.BLOCK);
        try (CpFile file = open(contents)) {
            write(file, contents);
            write(file, contents);
        }
        assertThat(root.resolve("copy")).doesNotExist();
        try (CpFile file = open(contents)) {
            assertThat(file.position()).isEqualTo(2 * CpMessage.BLOCK);
            write(file, contents);
            file.complete();
        }
        assertThat(root.resolve("copy")).hasBinaryContent(contents);
    }

    @Test
    void aCompleteCopyIsNotMadeAgain() throws IOException {
        byte[] contents = contents(3 * CpMessage.BLOCK / 2);
        assertThat(isComplete(contents)).isFalse();
        Path copy = Files.write(root.resolve("copy"), contents);
        assertThat(isComplete(contents)).isTrue();
        Files.write(copy, new byte[contents.length]);
        assertThat(isComplete(contents)).isFalse();
        Files.write(copy, contents(1));
        assertThat(isComplete(contents)).isFalse();
        Files.write(copy, contents);
        Files.write(CpDirectory.part(copy, digest(contents)), new byte[1]);
        assertThat(isComplete(contents)).isFalse();
    }

    private boolean isComplete(byte[] contents) throws IOException {
        return CpFile.isComplete(root.resolve("copy"), contents.length, digest(contents), done -> {});
    }

    @Test
    void theReadOfAnIncompleteCopyEndsIfTheSenderIsGone() throws IOException {
        byte[] contents = contents(2 * CpMessage.BLOCK);
        try (CpFile file = open(contents)) {
            write(file, contents);
        }
        assertThatThrownBy(() -> CpFile.open(root.resolve("copy"), contents.length, digest(contents), done -> {
                    throw new IOException("gone");
                }))
                .hasMessage("gone");
        try (CpFile file = open(contents)) {
            assertThat(file.position()).isEqualTo(CpMessage.BLOCK);
        }
    }

    @Test
    void otherContentsDoNotContinueIt() throws IOException {
        byte[] contents = contents(2 * CpMessage.BLOCK);
        try (CpFile file = open(contents)) {
            write(file, contents);
        }
        byte[] other = contents(2 * CpMessage.BLOCK + 1);
        try (CpFile file = open(other)) {
            assertThat(file.position()).isZero();
        }
    }

    @Test
    void wrongBytesAreRemoved() throws IOException {
        byte[] contents = contents(2 * CpMessage.BLOCK);
        Path part = CpDirectory.part(root.resolve("copy"), digest(contents));
        Files.write(part, new byte[CpMessage.BLOCK]);
        try (CpFile file = open(contents)) {
            write(file, contents);
            assertThatThrownBy(file::complete).hasMessageContaining("SHA-256 of the copy differs");
        }
        assertThat(files()).isEmpty();
    }

    @Test
    void anIncompleteCopyThatIsTooLongBeginsAgain() throws IOException {
        byte[] contents = contents(100);
        Files.write(CpDirectory.part(root.resolve("copy"), digest(contents)), new byte[101]);
        try (CpFile file = open(contents)) {
            assertThat(file.position()).isZero();
        }
    }

    @Test
    void anIncompleteCopyThatBecomesShorterWhileItIsRead() throws IOException {
        byte[] contents = contents(3 * CpMessage.BLOCK);
        try (CpFile file = open(contents)) {
            write(file, contents);
            write(file, contents);
        }
        Path part = CpDirectory.part(root.resolve("copy"), digest(contents));
        assertThatThrownBy(() -> CpFile.open(root.resolve("copy"), contents.length, digest(contents), done -> {
                    try (FileChannel channel = FileChannel.open(part, StandardOpenOption.WRITE)) {
                        channel.truncate(done);
                    }
                }))
                .isInstanceOf(IOException.class)
                .hasMessage("the incomplete copy has changed");
        try (CpFile file = open(contents)) {
            assertThat(file.position()).isEqualTo(CpMessage.BLOCK);
        }
    }

    @Test
    void twoCopiesOfTheSameFile() throws IOException {
        byte[] contents = contents(100);
        try (CpFile file = open(contents)) {
            assertThatThrownBy(() -> open(contents)).isInstanceOf(CpFile.BusyException.class);
            write(file, contents);
            file.complete();
        }
        assertThat(root.resolve("copy")).hasBinaryContent(contents);
    }

    @Test
    void noSpace() throws IOException {
        assertThatThrownBy(() -> CpFile.open(root.resolve("copy"), Long.MAX_VALUE, new byte[32], done -> {}))
                .hasMessageMatching("no space left: .* are needed, and .* are free");
        assertThat(files()).isEmpty();
    }

    @Test
    void anIncompleteCopyThatIsALinkIsNotFollowed() throws IOException {
        byte[] contents = contents(100);
        Path outside = Files.writeString(directory.resolve("outside"), "outside");
        Files.createSymbolicLink(CpDirectory.part(root.resolve("copy"), digest(contents)), outside);
        assertThatThrownBy(() -> open(contents)).isInstanceOf(IOException.class);
        assertThat(outside).hasContent("outside");
    }
}
