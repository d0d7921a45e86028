// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools.cp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaConn;
import io.rpma.RpmaConnCfg;
import io.rpma.RpmaConnEvent;
import io.rpma.RpmaConnReq;
import io.rpma.RpmaEp;
import io.rpma.RpmaMemory;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrRemote;
import io.rpma.RpmaMrUsage;
import io.rpma.RpmaPeer;
import io.rpma.examples.common.Sha256;
import io.rpma.testing.Jvm;
import io.rpma.testing.Limit;
import io.rpma.testing.TestDevice;
import io.rpma.tools.WithTools;
import io.rpma.tools.common.Connector;
import java.io.IOException;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The two sides of {@code cp} on a device. */
@Tag("processes")
@Tag("examples")
@Isolated("its copies keep the processor busy")
class CpIT extends WithTools {
    /** The size of a file that can't be read in the time of a test. */
    private static final long LARGE = 1L << 40;

    @TempDir
    private Path directory;

    private Path copies;

    @BeforeEach
    void makeDirectory() throws IOException {
        copies = Files.createDirectory(directory.resolve("copies"));
    }

    private Jvm.Running listen() throws InterruptedException {
        Jvm.Running server = start("cp", "--listen", address, "-p", port, copies.toString());
        server.awaitLine("listening at " + address + " port " + port + " through ");
        return server;
    }

    private Jvm.Running copy(Path file, String path, String... more) {
        return start(Stream.concat(Stream.of("cp", file.toString(), address + ":" + path, "-p", port), Stream.of(more))
                .toArray(String[]::new));
    }

    private Path file(int size) throws IOException {
        Path file = directory.resolve("file");
        Random random = new Random(size);
        byte[] block = new byte[CpMessage.BLOCK];
        try (OutputStream out = Files.newOutputStream(file)) {
            for (int done = 0; done < size; done += CpMessage.BLOCK) {
                random.nextBytes(block);
                out.write(block, 0, Math.min(CpMessage.BLOCK, size - done));
            }
        }
        return file;
    }

    private List<Path> incomplete() throws IOException {
        try (Stream<Path> files = Files.list(copies)) {
            return files.filter(path -> path.toString().endsWith(".part")).toList();
        }
    }

    /** Waits until an incomplete copy has some blocks. Fails if the sender ends before. */
    private void awaitBlocks(Jvm.Running sender) throws IOException, InterruptedException {
        long deadline = System.nanoTime() + Limit.WAIT.toNanos();
        while (incompleteBytes() < 4 * CpMessage.BLOCK) {
            if (sender.process().waitFor(1, TimeUnit.MILLISECONDS)) {
                throw new AssertionError("the sender has ended before the copy was interrupted:\n" + sender);
            }
            if (System.nanoTime() > deadline) {
                throw new AssertionError(
                        incompleteBytes() + " bytes have arrived within " + Limit.WAIT + ":\n" + sender);
            }
        }
    }

    private long incompleteBytes() throws IOException {
        long bytes = 0;
        for (Path path : incomplete()) {
            try {
                bytes += Files.size(path);
            } catch (NoSuchFileException e) {
                // the copy has become complete
            }
        }
        return bytes;
    }

    @Test
    void theWaitForBlocksEndsWithTheSender() throws Exception {
        try (Jvm.Running sender = Jvm.command("echo", "sent")) {
            assertThatThrownBy(() -> awaitBlocks(sender))
                    .isInstanceOf(AssertionError.class)
                    .hasMessageStartingWith("the sender has ended before");
        }
    }

    private void assertFails(Path file, String path, String message) throws InterruptedException {
        Jvm.Finished end = assertEnds(copy(file, path), 1);
        assertThat(end.err())
                .isEqualTo("rpma-java cp: " + address + " port " + port + ", " + path + ": " + message + "\n");
    }

    @Test
    void copiesFiles() throws Exception {
        Jvm.Running server = listen();
        Files.createDirectory(copies.resolve("sub"));
        Path file = file(20 * CpMessage.BLOCK + 7);
        Jvm.Finished end = assertEnds(copy(file, ""), 0);
        assertThat(end.out())
                .containsPattern("(?m)^cp: +copied +20971527 bytes \\(20.0 MiB\\), of which 20.0 MiB at [\\d.]+ .iB/s$")
                .containsPattern("(?m)^cp: +SHA-256 +[0-9a-f]{64}$")
                .doesNotContain("\u001b");
        assertThat(end.err()).isEmpty();
        assertEnds(copy(Files.write(directory.resolve("empty"), new byte[0]), "sub/"), 0);
        assertEnds(copy(file, "sub/other"), 0);
        assertThat(copies.resolve("file")).hasSameBinaryContentAs(file);
        assertThat(copies.resolve("sub/other")).hasSameBinaryContentAs(file);
        assertThat(copies.resolve("sub/empty")).isEmptyFile();
        assertThat(incomplete()).isEmpty();
        server.signal("INT");
        assertThat(assertEnds(server, 0).out())
                .contains("1: file: complete\n", "2: sub/empty: complete\n", "3: sub/other: complete\n")
                .endsWith("3 connections served\n");
    }

    @Test
    void refusesWhatItCanNotWrite() throws Exception {
        listen();
        Path file = file(100);
        Files.createDirectory(copies.resolve("sub"));
        Files.createSymbolicLink(copies.resolve("link"), directory);
        assertFails(file, "/tmp/x", "the path is outside of the directory: it must be relative");
        assertFails(file, "../x", "the path is outside of the directory: it must not have '..'");
        assertFails(file, "link/x", "the path is outside of the directory: a symbolic link leads out of it");
        assertFails(file, "none/x", "there is no directory none");
        assertFails(file, "sub", "this is a directory");
        assertFails(file, "x".repeat(250), "File name too long");
    }

    /** The sender opens the file before it connects, and reads the file later: shorter, with another byte, or longer. */
    @ParameterizedTest
    @ValueSource(ints = {2 * CpMessage.BLOCK, 3 * CpMessage.BLOCK, 3 * CpMessage.BLOCK + 1})
    void aFileThatChangesWhileItIsReadIsNotCopied(int size) throws Exception {
        Path file = file(3 * CpMessage.BLOCK);
        try (RpmaPeer peer = TestDevice.peer();
                RpmaEp endpoint = RpmaEp.listen(peer, address, Integer.parseInt(port));
                RpmaConnCfg cfg = CpReceiver.connCfg()) {
            Jvm.Running sender = copy(file, "copy");
            try (RpmaConnReq request = endpoint.nextConnReq(cfg)) {
                try (RandomAccessFile changed = new RandomAccessFile(file.toFile(), "rw")) {
                    changed.write(0);
                    changed.setLength(size);
                }
                try (CpReceiver receiver = CpReceiver.accept(1, peer, request, new CpDirectory(copies))) {
                    receiver.serve();
                }
            }
            assertThat(assertEnds(sender, 1).err())
                    .isEqualTo("rpma-java cp: " + file + " has changed while it was read\n");
        }
        assertThat(copies.resolve("copy")).doesNotExist();
    }

    @Test
    void aFileThatCanNotBeWritten() throws Exception {
        Jvm.Running server = start(
                Jvm.ofTools().under("sh", "-c", "ulimit -f 4096; exec \"$@\"", "sh"),
                "cp",
                "--listen",
                address,
                "-p",
                port,
                copies.toString());
        server.awaitLine("listening at ");
        assertFails(file(3 * CpMessage.BLOCK), "copy", "File too large");
        server.awaitLine("1: copy: File too large");
        assertThat(copies.resolve("copy")).doesNotExist();
        assertThat(Files.size(incomplete().get(0))).isEqualTo(2 * CpMessage.BLOCK);
    }

    @Test
    void continuesWhenTheReceiverIsBack() throws Exception {
        Path file = file(200 * CpMessage.BLOCK);
        Jvm.Running server = listen();
        Jvm.Running client = copy(file, "copy");
        server.awaitLine("1: copy, 200 MiB");
        awaitBlocks(client);
        server.kill();
        client.awaitLine("lost: ");
        Jvm.Running second = listen();
        second.awaitLine("1: copy, 200 MiB, continues at ");
        Jvm.Finished end = assertEnds(client, 0);
        assertThat(end.out()).contains("continues");
        assertThat(copies.resolve("copy")).hasSameBinaryContentAs(file);
        assertThat(incomplete()).isEmpty();
    }

    @Test
    void continuesWhenTheSenderIsBack() throws Exception {
        Path file = file(200 * CpMessage.BLOCK);
        Jvm.Running server = listen();
        Jvm.Running client = copy(file, "copy");
        server.awaitLine("1: copy, 200 MiB");
        awaitBlocks(client);
        client.signal("INT");
        assertThat(assertEnds(client, 1).err())
                .isEqualTo("rpma-java cp: interrupted; the next copy of the same file continues\n");
        server.awaitLine("1: copy: the sender is gone after ");
        assertThat(copies.resolve("copy")).doesNotExist();
        assertThat(assertEnds(copy(file, "copy"), 0).out())
                .contains("continues")
                .doesNotContain("of which 200 MiB");
        server.awaitLine("2: copy, 200 MiB, continues at ");
        assertThat(copies.resolve("copy")).hasSameBinaryContentAs(file);
        assertThat(incomplete()).isEmpty();
    }

    @Test
    void aCompleteCopyIsNotSentAgain() throws Exception {
        Path file = file(3 * CpMessage.BLOCK);
        Jvm.Running server = listen();
        assertEnds(copy(file, "copy"), 0);
        assertThat(assertEnds(copy(file, "copy"), 0).out())
                .containsPattern("(?m)^cp: +complete +3145728 bytes \\(3 MiB\\) were already there, and are verified$")
                .containsPattern("(?m)^cp: +SHA-256 +[0-9a-f]{64}$")
                .doesNotContain("continues", "copied");
        server.awaitLine("2: copy: complete");
        assertThat(copies.resolve("copy")).hasSameBinaryContentAs(file);
        assertThat(incomplete()).isEmpty();
    }

    @Test
    void theReceiverDoesNotReturn() throws Exception {
        Path file = file(200 * CpMessage.BLOCK);
        Jvm.Running server = listen();
        Jvm.Running client = copy(file, "copy", "-W", "3");
        server.awaitLine("1: copy, 200 MiB");
        server.kill();
        Jvm.Finished end = assertEnds(client, 1);
        assertThat(end.err())
                .startsWith("rpma-java cp: no connection within 3 s (--timeout): " + address + " port " + port + ": ")
                .containsPattern(": (rejected: nothing listens there|no answer: )")
                .hasLineCount(1);
    }

    @Test
    void nothingListens() throws Exception {
        assertThat(assertEnds(copy(file(1), ""), 1).err())
                .startsWith("rpma-java cp: " + address + " port " + port + ": rejected: nothing listens there, or")
                .contains("start 'rpma-java cp --listen ADDRESS DIRECTORY' on that host")
                .hasLineCount(1);
    }

    @Test
    void nothingListensForALargeFile() throws Exception {
        Path file = directory.resolve("large");
        try (RandomAccessFile large = new RandomAccessFile(file.toFile(), "rw")) {
            large.setLength(LARGE);
        }
        Jvm.Finished end = assertEnds(copy(file, ""), 1);
        assertThat(end.err()).contains(": rejected: nothing listens there, or").hasLineCount(1);
        assertThat(end.out()).isEmpty();
    }

    /** The receiver is free for others while a large file is read. */
    @Test
    void theFirstConnectionEndsIfTheReadOfTheFileTakesLong() throws Exception {
        Path file = file(3 * CpMessage.BLOCK);
        Jvm.Running server = listen();
        Connector connector = new Connector(address, Integer.parseInt(port), "cp --listen ADDRESS DIRECTORY");
        new CpSender(connector, file, "copy", 60, 0, CpSender.SILENCE).send();
        server.awaitLine("2: copy: complete");
        assertThat(copies.resolve("copy")).hasSameBinaryContentAs(file);
        server.signal("INT");
        assertThat(assertEnds(server, 0).out()).endsWith("2 connections served\n");
    }

    /** The second sender gives up before the receiver would notice a connection that ends by itself. */
    @Test
    void aSilentSenderDoesNotKeepOthersFromTheSameCopy() throws Exception {
        Path file = file(100 * CpMessage.BLOCK);
        Jvm.Running server = listen();
        Jvm.Running silent = copy(file, "copy");
        server.awaitLine("1: copy, 100 MiB");
        awaitBlocks(silent);
        silent.signal("STOP");
        Jvm.Finished end = assertEnds(copy(file, "copy", "-W", "30"), 0);
        assertThat(end.out()).contains("another copy of the same file is under way", "continues");
        server.awaitLine("1: copy: the sender is silent for 10 s after ");
        assertThat(copies.resolve("copy")).hasSameBinaryContentAs(file);
        silent.signal("CONT");
        assertThat(assertEnds(silent, 0).out()).contains("cp:       lost: ");
        assertThat(incomplete()).isEmpty();
    }

    /** The signs of a sender whose file is read slowly take receives and sends beside those of the blocks. */
    @Test
    void aSenderShowsThatItReads() throws Exception {
        Path file = file(20 * CpMessage.BLOCK + 1);
        Jvm.Running server = listen();
        Connector connector = new Connector(address, Integer.parseInt(port), "cp --listen ADDRESS DIRECTORY");
        new CpSender(connector, file, "copy", 60, CpSender.PATIENCE, 0).send();
        server.awaitLine("1: copy: complete");
        assertThat(copies.resolve("copy")).hasSameBinaryContentAs(file);
        assertThat(incomplete()).isEmpty();
    }

    @Test
    void anEmptyFileIsThereAfterTheFirstCopy() throws Exception {
        Path file = file(0);
        listen();
        assertThat(assertEnds(copy(file, "copy"), 0).out()).containsPattern("(?m)^cp: +copied +0 bytes, of which ");
        assertThat(assertEnds(copy(file, "copy"), 0).out())
                .containsPattern("(?m)^cp: +complete +0 bytes were already there, and are verified$");
        assertThat(copies.resolve("copy")).isEmptyFile();
    }

    /** A sender that posts a receive only when it waits for an answer. */
    private final class FaultySender implements AutoCloseable {
        /** More than the answers that the receiver can have under way. */
        private static final int MOST = 64;

        private final RpmaPeer peer = TestDevice.peer();
        private final RpmaMemory memory = RpmaMemory.allocate(CpMessage.BLOCK);
        private final RpmaMrLocal region =
                peer.register(memory, RpmaMrUsage.WRITE_SRC, RpmaMrUsage.SEND, RpmaMrUsage.RECV);
        private final RpmaConn conn;
        private final RpmaMrRemote blocks;

        FaultySender() throws InterruptedException {
            try (RpmaConnCfg cfg = RpmaConnCfg.create().setSqSize(MOST).setCqSize(MOST)) {
                conn = RpmaConnReq.create(peer, address, Integer.parseInt(port), cfg)
                        .connect(CpMessage.privateData());
            }
            assertThat(conn.nextEvent()).isSameAs(RpmaConnEvent.ESTABLISHED);
            byte[] data = conn.getPrivateData();
            blocks = RpmaMrRemote.fromDescriptor(Arrays.copyOfRange(data, Integer.BYTES, data.length));
        }

        void request(String path, long size) {
            ByteBuffer message = memory.buffer(0, CpMessage.LENGTH);
            new CpMessage.Request(size, new byte[Sha256.LENGTH], path).put(message);
            send(message.position());
        }

        void send(int length) {
            assertThat(conn.send(region, 0, length, RpmaConn.F_COMPLETION_ON_ERROR, 0))
                    .isTrue();
        }

        void write(int block) {
            long offset = (long) block % CpMessage.SLOTS * CpMessage.BLOCK;
            assertThat(conn.writeWithImm(
                            blocks, offset, region, 0, CpMessage.BLOCK, RpmaConn.F_COMPLETION_ON_ERROR, block, 0))
                    .isTrue();
        }

        CpMessage.Answer awaitAnswer() throws InterruptedException {
            conn.recv(region, CpMessage.LENGTH, CpMessage.LENGTH, 0);
            RpmaCompletions completions = RpmaCompletions.create(1);
            conn.getCq().await(completions);
            assertThat(completions.isSuccess(0)).as(completions.toString()).isTrue();
            return CpMessage.Answer.get(memory.buffer(CpMessage.LENGTH, (int) completions.byteLen(0)));
        }

        @Override
        public void close() {
            blocks.close();
            Connector.close(conn);
            region.close();
            memory.close();
            peer.close();
        }
    }

    @Test
    void sendersThatBreakTheProtocol() throws Exception {
        long size = (long) FaultySender.MOST * CpMessage.BLOCK;
        Jvm.Running server = listen();
        try (FaultySender sender = new FaultySender()) {
            sender.write(0);
            server.awaitLine("1: the sender has sent an unexpected message");
        }
        try (FaultySender sender = new FaultySender()) {
            sender.request("repeated", size);
            sender.request("repeated", size);
            server.awaitLine("2: the sender has sent an unexpected message");
        }
        try (FaultySender sender = new FaultySender()) {
            sender.request("hasty", size);
            for (int block = 0; block < FaultySender.MOST - 1; block++) {
                sender.write(block);
            }
            server.awaitLine("3: the sender has sent blocks without a wait for the answers");
        }
        Path file = file(100);
        assertEnds(copy(file, "copy"), 0);
        assertThat(copies.resolve("copy")).hasSameBinaryContentAs(file);
    }

    @Test
    void aMessageWhileTheIncompleteCopyIsRead() throws Exception {
        Path part = CpDirectory.part(copies.resolve("copy"), new byte[Sha256.LENGTH]);
        try (RandomAccessFile large = new RandomAccessFile(part.toFile(), "rw")) {
            large.setLength(LARGE);
        }
        Jvm.Running server = listen();
        try (FaultySender sender = new FaultySender()) {
            sender.request("copy", LARGE);
            assertThat(sender.awaitAnswer().kind()).isSameAs(CpMessage.Kind.WORKING);
            sender.send(CpMessage.SIGN);
            server.awaitLine("1: the sender has sent an unexpected message");
        }
    }

    @Test
    void anotherProgramConnects() throws Exception {
        Jvm.Running server = listen();
        try (RpmaPeer peer = TestDevice.peer()) {
            for (byte[] data : List.of(new byte[0], "another program".getBytes(StandardCharsets.UTF_8))) {
                try (RpmaConn conn = RpmaConnReq.create(peer, address, Integer.parseInt(port), null)
                        .connect(data)) {
                    assertThat(conn.nextEvent()).isSameAs(RpmaConnEvent.REJECTED);
                }
            }
        }
        server.awaitLine("rejected: the client is another program", 2);
    }

    @Test
    void anotherProgramAnswers() throws Exception {
        try (RpmaPeer peer = TestDevice.peer();
                RpmaEp endpoint = RpmaEp.listen(peer, address, Integer.parseInt(port))) {
            Jvm.Running client = copy(file(1), "");
            try (RpmaConn conn = endpoint.nextConnReq(null).connect()) {
                assertThat(conn.nextEvent()).isNotNull();
                assertThat(assertEnds(client, 1).err())
                        .contains("another program has accepted the connection")
                        .hasLineCount(1);
            }
        }
    }
}
