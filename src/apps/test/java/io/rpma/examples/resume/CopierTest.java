// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.resume;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rpma.support.FakeMemory;
import io.rpma.support.LostException;
import io.rpma.support.Sha256;
import io.rpma.support.SourceFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CopierTest {
    private static final int SIZE = 1 << 20;

    @TempDir
    private Path directory;

    private final ByteBuffer staging = ByteBuffer.allocate(Copier.STAGING);
    private final Random random = new Random(7);
    private final FakeMemory server = new FakeMemory("server", SIZE, staging, random);

    private SourceFile file(String name, int size) throws IOException {
        byte[] content = new byte[size];
        random.nextBytes(content);
        return SourceFile.open(Files.write(directory.resolve(name), content));
    }

    private Copier copier(SourceFile file) throws IOException {
        return new Copier(file, file.sha256(done -> {}), staging, committed -> {});
    }

    private Optional<CopyLayout.Copy> found() {
        return CopyLayout.read(server.content(), SIZE);
    }

    /** Returns the first bytes of the copy. */
    private ByteBuffer copied(long length) {
        return server.content().slice((int) CopyLayout.DATA, (int) length);
    }

    private void assertComplete(SourceFile file) throws IOException {
        assertThat(found()).get().matches(CopyLayout.Copy::isComplete);
        assertThat(copied(file.size())).isEqualTo(ByteBuffer.wrap(Files.readAllBytes(Path.of(file.toString()))));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 65535, 65536, 65537, 900_001, SIZE - 4096})
    void filesOfAnySize(int size) throws Exception {
        try (SourceFile file = file("file", size)) {
            Copier copier = copier(file);
            copier.resume(server);
            copier.copy(server);
            assertThat(copier.position()).isEqualTo(size);
            assertComplete(file);
        }
    }

    @Test
    void aFileThatDoesNotFit() throws Exception {
        try (SourceFile file = file("file", SIZE - 4095)) {
            Copier copier = copier(file);
            assertThatThrownBy(() -> copier.resume(server))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("does not fit");
            assertThat(CopyLayout.announced(server.content())).hasValue(file.size());
            CopyLayout.resetAnnouncement(server.content());
            assertThat(server.content()).isEqualTo(ByteBuffer.allocate(SIZE));
        }
    }

    @Test
    void anotherFileStartsOver() throws Exception {
        try (SourceFile first = file("first", 500_000);
                SourceFile second = file("second", 500_000)) {
            Copier copier = copier(first);
            copier.resume(server);
            server.connect(30);
            assertThatThrownBy(() -> copier.copy(server)).isInstanceOf(LostException.class);
            server.connect(FakeMemory.NEVER);
            Copier again = copier(first);
            again.resume(server);
            assertThat(again.position()).isPositive();
            Copier other = copier(second);
            other.resume(server);
            assertThat(other.position()).isZero();
            assertThat(found()).get().matches(copy -> copy.position() == 0);
            other.copy(server);
            assertComplete(second);
        }
    }

    /** The found position can be from a connection that broke before the flush of the position. */
    @Test
    void whatIsFoundCountsWhenItIsFlushed() throws Exception {
        try (SourceFile file = file("file", 100_000)) {
            Copier first = copier(file);
            first.resume(server);
            first.copy(server);
            Copier again = copier(file);
            int readAndCommit = 2;
            server.connect(readAndCommit);
            assertThatThrownBy(() -> again.resume(server)).isInstanceOf(LostException.class);
            assertThat(again.position()).isZero();
            server.connect(FakeMemory.NEVER);
            again.resume(server);
            assertThat(again.position()).isEqualTo(100_000);
        }
    }

    @Test
    void aFileThatChangesIsNotCommitted() throws Exception {
        try (SourceFile file = file("file", 100_000)) {
            Copier copier = copier(file);
            copier.resume(server);
            Files.write(directory.resolve("file"), new byte[10], StandardOpenOption.APPEND);
            assertThatThrownBy(() -> copier.copy(server))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("has changed");
            assertThat(found()).get().matches(copy -> !copy.isComplete());
        }
    }

    /**
     * Loses the server at any operation, with and without a power cut, and sometimes begins another file before the
     * copy is complete. At any time, the memory contains all bytes that its header declares committed.
     */
    @Test
    void whateverIsLostWhatIsCommittedIsThere() throws Exception {
        Map<String, byte[]> contents = new HashMap<>();
        for (int run = 0; run < 100; run++) {
            try (SourceFile file = file("file" + run, 65536 * (3 + random.nextInt(4)) + 5)) {
                contents.put(Sha256.format(file.sha256(done -> {})), Files.readAllBytes(Path.of(file.toString())));
                Copier copier = copier(file);
                boolean complete = false;
                boolean givenUp = false;
                while (!complete && !givenUp) {
                    server.set(CopyLayout.ANNOUNCEMENT_OFFSET, new byte[Long.BYTES]);
                    server.connect(random.nextInt(random.nextBoolean() ? 8 : 60));
                    try {
                        copier.resume(server);
                        copier.copy(server);
                        complete = true;
                    } catch (LostException e) {
                        if (random.nextBoolean()) {
                            server.cutPower();
                        }
                        givenUp = random.nextInt(4) == 0;
                    }
                    checkCommitted(contents);
                    checkAnnounced(file);
                    assertThat(committed(file)).isGreaterThanOrEqualTo(copier.position());
                }
                if (complete) {
                    server.cutPower();
                    assertComplete(file);
                }
            }
        }
    }

    private void checkCommitted(Map<String, byte[]> contents) {
        found().ifPresent(copy -> {
            byte[] content = contents.get(Sha256.format(copy.digest()));
            assertThat(content)
                    .as("the file that the header describes")
                    .isNotNull()
                    .hasSize((int) copy.size());
            assertThat(copied(copy.position())).isEqualTo(ByteBuffer.wrap(content, 0, (int) copy.position()));
        });
    }

    /** Checks that the copy is of this file, if the file is announced. */
    private void checkAnnounced(SourceFile file) throws IOException {
        byte[] digest = file.sha256(done -> {});
        if (CopyLayout.announced(server.content()).isPresent()) {
            assertThat(found()).get().matches(copy -> copy.isOf(file.size(), digest));
        }
    }

    /** Returns the number of committed bytes of a file in the server's memory. */
    private long committed(SourceFile file) throws IOException {
        byte[] digest = file.sha256(done -> {});
        return found().filter(copy -> copy.isOf(file.size(), digest))
                .map(CopyLayout.Copy::position)
                .orElse(0L);
    }
}
