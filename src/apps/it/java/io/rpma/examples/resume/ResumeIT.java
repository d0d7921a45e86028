// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.resume;

import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.RpmaDevice;
import io.rpma.RpmaMemory;
import io.rpma.examples.replicate.Replicate;
import io.rpma.support.Sha256;
import io.rpma.testing.Jvm;
import io.rpma.testing.Posts;
import io.rpma.testing.TestDevice;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A file is copied into persistent memory, if the machine has any, while the server is killed repeatedly. */
@Tag("processes")
@ResourceLock(TestDevice.PMEM)
class ResumeIT {
    /**
     * Large enough that a process that has to wait for a processor can still kill the server before the copy is
     * complete. Under emulation, the copy takes ten times longer.
     */
    private static final int FILE_SIZE = ("qemu".equals(System.getenv("RPMA_BED")) ? 64 << 20 : 160 << 20) + 17;

    private static final String MEMORY_SIZE = "168M";

    @TempDir
    private Path directory;

    private final List<Jvm.Running> started = new ArrayList<>();
    private String address;
    private Path pmem;
    private String port;

    @BeforeEach
    void prepare() throws IOException {
        address = TestDevice.address();
        pmem = TestDevice.pmemOrTmpfs();
        port = Integer.toString(TestDevice.port());
    }

    @AfterEach
    void end() throws IOException {
        started.forEach(Jvm.Running::close);
        if (pmem != null) {
            TestDevice.delete(pmem);
        }
    }

    private Jvm.Running start(String... arguments) {
        Jvm.Running running = Jvm.likeThis().start(Resume.class, arguments);
        started.add(running);
        return running;
    }

    private Jvm.Running server() throws InterruptedException {
        Jvm.Running server = start(serverArguments().toArray(String[]::new));
        server.awaitLine("listening on " + address + ":" + port);
        return server;
    }

    private Stream<String> serverArguments() {
        return Stream.of(
                "server", "--address", address, "--port", port, "--memory", pmem.toString(), "--size", MEMORY_SIZE);
    }

    private Stream<String> clientArguments(Path file) {
        return Stream.of("client", "--address", address, "--port", port, "--timeout", "120", file.toString());
    }

    private static void kill(Jvm.Running jvm) throws InterruptedException {
        jvm.kill();
        jvm.awaitEnd();
    }

    /** Returns the number after some words of a line: "lost after 17 bytes: ...". */
    private static long number(String line, String words) {
        return Long.parseLong(
                line.substring(line.indexOf(words) + words.length()).split(" ")[1]);
    }

    @Test
    @Tag("persistent-memory-too")
    void theServerIsKilledTwice() throws Exception {
        byte[] content = new byte[FILE_SIZE];
        new SplittableRandom().nextBytes(content);
        Path file = Files.write(directory.resolve("file"), content);
        Jvm.Running server = server();
        Jvm.Running client = client(file);
        client.awaitLine("begun at 0 bytes");
        int committed = 0;
        for (int death = 1; death <= 2; death++) {
            // the first line after the server's start, so that most of the file is still to be copied
            client.awaitLine("committed ", committed + 1);
            kill(server);
            long lost = number(client.awaitLine("lost after", death), "lost after");
            committed = (int) client.lines().stream()
                    .filter(line -> line.startsWith("committed "))
                    .count();
            server = server();
            String offered = server.awaitLine("an unfinished copy");
            long resumed = number(client.awaitLine("resumed at", death), "resumed at");
            assertThat(resumed).isGreaterThanOrEqualTo(lost).isLessThan(FILE_SIZE);
            assertThat(offered).contains(": " + resumed + " of " + FILE_SIZE + " bytes");
        }
        Sha256 digest = new Sha256();
        digest.update(ByteBuffer.wrap(content));
        String sum = "SHA-256 " + Sha256.format(digest.result()) + "\nsize " + FILE_SIZE + " bytes\n";
        for (Jvm.Running side : List.of(client, server)) {
            assertThat(assertEnds(side, 0).out()).endsWith(sum);
        }
        try (RpmaMemory memory = RpmaMemory.mapReadOnly(pmem)) {
            assertThat(memory.buffer(CopyLayout.DATA, FILE_SIZE)).isEqualTo(ByteBuffer.wrap(content));
        }
    }

    private Jvm.Running client(Path file) {
        return start(clientArguments(file).toArray(String[]::new));
    }

    private static Jvm.Finished assertEnds(Jvm.Running side, int status) throws InterruptedException {
        Jvm.Finished end = side.awaitEnd();
        assertThat(end.status()).as(end.toString()).isEqualTo(status);
        return end;
    }

    @Test
    @Tag("persistent-memory-too")
    @Tag("library")
    @Tag("extended-queue-pairs")
    void aCommitFollowsTheFlushOfItsBytes() throws Exception {
        assertCommitsFollowFlushes(false, false);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @Tag("persistent-memory-too")
    @Tag("extended-queue-pairs")
    void aCommitFollowsTheEmulatedFlushOfItsBytes(boolean directWrite) throws Exception {
        assertCommitsFollowFlushes(true, directWrite);
    }

    /**
     * The client commits blocks that are flushed, and prints how they become persistent.
     *
     * @param emulated whether native flush is removed from the devices
     */
    private void assertCommitsFollowFlushes(boolean emulated, boolean directWrite) throws Exception {
        byte[] content = new byte[1 << 20];
        new Random().nextBytes(content);
        Path file = Files.write(directory.resolve("file"), content);
        long hidden = emulated ? Posts.FLUSH : 0;
        Jvm.Running server = startPrinting(
                hidden,
                Stream.concat(
                        serverArguments(), Stream.of("--direct-write-to-pmem").filter(option -> directWrite)));
        server.awaitLine("listening on " + address + ":" + port);
        Jvm.Finished client = assertEnds(startPrinting(hidden, clientArguments(file)), 0);
        assertEnds(server, 0);

        boolean nativeFlush = !emulated && RpmaDevice.local(address).isFlushNative();
        String method = method(nativeFlush, directWrite);
        assertThat(client.out()).contains(address + ":" + port + ": " + method);
        assertThat(Posts.nativeAtomicWritesBehindReads(client)).isZero();
        Predicate<String> isCommit = post -> post.startsWith("native atomic write ") || post.endsWith(" fence");
        if (method.equals("persisted by the server")) {
            assertThat(Posts.of(client)).isNotEmpty().noneMatch(isCommit);
        } else {
            assertThat(Posts.of(client))
                    .filteredOn(isCommit)
                    .hasSizeGreaterThanOrEqualTo(content.length / Copier.BLOCK);
            assertThat(Posts.of(client))
                    .filteredOn(post -> post.startsWith(nativeFlush ? "native flush " : "read "))
                    .hasSizeGreaterThanOrEqualTo(2 * content.length / Copier.BLOCK);
        }
    }

    private String method(boolean nativeFlush, boolean directWrite) throws IOException {
        try (RpmaMemory memory = RpmaMemory.mapReadOnly(pmem)) {
            if (!memory.isPersistent()) {
                return "visibility only";
            }
        }
        String emulated = directWrite ? "direct write, as configured" : "persisted by the server";
        return nativeFlush ? "native flush" : emulated;
    }

    private Jvm.Running startPrinting(long hiddenCapabilities, Stream<String> arguments) {
        Jvm.Running running =
                Posts.print(Jvm.likeThis(), hiddenCapabilities).start(Resume.class, arguments.toArray(String[]::new));
        started.add(running);
        return running;
    }

    /**
     * The memory holds a complete copy of an earlier client: the server ends only when a client brings this file again.
     */
    @Test
    void onlyAClientWithItsFileEndsTheServer() throws Exception {
        Path file = Files.write(directory.resolve("file"), new byte[100_000]);
        Path large = directory.resolve("large");
        try (RandomAccessFile sparse = new RandomAccessFile(large.toFile(), "rw")) {
            sparse.setLength(172 << 20);
        }
        Jvm.Running first = server();
        assertEnds(client(file), 0);
        assertEnds(first, 0);

        Jvm.Running server = server();
        server.awaitLine("the memory holds a complete copy");
        assertThat(assertEnds(client(large), 1).err()).contains("does not fit");
        server.awaitLine("the client's file does not fit: it has 180355072 bytes");

        Jvm.Running other =
                Jvm.likeThis().start(Replicate.class, "send", "--address", address, "--port", port, file.toString());
        started.add(other);
        assertThat(assertEnds(other, 1).err()).contains("is not of this program");
        server.awaitLine("no file was announced");

        assertThat(assertEnds(client(file), 0).out()).contains("resumed at 100000 bytes");
        assertThat(assertEnds(server, 0).out()).endsWith("size 100000 bytes\n");
    }
}
