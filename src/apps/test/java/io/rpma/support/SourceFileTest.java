// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.support;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The changes of a file that is copied. */
class SourceFileTest {
    private static final int SIZE = 3 << 20;

    @TempDir
    private Path directory;

    private Path path;

    @BeforeEach
    void makeFile() throws IOException {
        path = Files.write(directory.resolve("file"), new byte[SIZE]);
    }

    private void assertChanged(ThrowingCallable call) {
        assertThatThrownBy(call).isInstanceOf(IOException.class).hasMessage(path + " has changed while it was read");
    }

    @Test
    void aReadIsNoChange() throws IOException {
        try (SourceFile file = SourceFile.open(path)) {
            assertThat(file.sha256(done -> {})).hasSize(Sha256.LENGTH);
            file.checkUnchanged();
        }
    }

    @Test
    void aLongerFile() throws IOException {
        try (SourceFile file = SourceFile.open(path)) {
            Files.write(path, new byte[1], StandardOpenOption.APPEND);
            assertChanged(file::checkUnchanged);
        }
    }

    @Test
    void aShorterFile() throws IOException {
        try (SourceFile file = SourceFile.open(path)) {
            Files.write(path, new byte[SIZE - 1]);
            assertChanged(() -> file.sha256(done -> {}));
        }
    }

    @Test
    void anotherFileWithTheSameNameSizeAndTime() throws IOException {
        try (SourceFile file = SourceFile.open(path)) {
            Path other = Files.write(directory.resolve("other"), new byte[SIZE]);
            Files.setLastModifiedTime(other, Files.getLastModifiedTime(path));
            assertThat(Files.getLastModifiedTime(other)).isEqualTo(Files.getLastModifiedTime(path));
            Files.move(other, path, StandardCopyOption.REPLACE_EXISTING);
            assertChanged(file::checkUnchanged);
        }
    }
}
