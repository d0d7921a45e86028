// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools;

import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.testing.Jvm;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Names with letters that the locale of the tools lacks. */
class LocaleTest {
    private static final String REMEDY =
            "\\S+ has letters that the locale lacks: use a locale with UTF-8, for example with LC_ALL=C.UTF-8";

    @TempDir
    private Path directory;

    private Path file;

    /** A copy, because the directory of this project can have any letters. */
    private Path jar;

    @BeforeEach
    void create() throws Exception {
        jar = Files.copy(Jvm.toolsJar(), directory.resolve("tools.jar"));
        file = Files.writeString(
                Files.createDirectory(directory.resolve("\u00e4")).resolve("file"), "text");
    }

    private Jvm tools() {
        return Jvm.ofTools(jar).environment("LC_ALL", "C").environment("RPMA_CACHE", "");
    }

    private static void assertFails(Jvm tools, String message, String... words) throws Exception {
        assertThat(tools.run(words).err()).matches("rpma-java " + message + "\n");
    }

    @Test
    void aFile() throws Exception {
        String message =
                "perf server: Invalid value for option '--memory': " + REMEDY + "; see rpma-java perf server --help";
        assertFails(tools(), message, "perf", "server", "--memory=" + file, "127.0.0.1");
    }

    @Test
    void aFileInTheWorkingDirectory() throws Exception {
        String cause = "; the working directory " + REMEDY;
        assertFails(
                tools().under("env", "--chdir=" + file.getParent()),
                "perf server: file: no such file" + cause,
                "perf",
                "server",
                "--memory=file",
                "127.0.0.1");
        assertFails(
                tools().under("env", "--chdir=" + file.getParent()),
                "perf client: --csv must name a file in an existing directory: csv" + cause
                        + "; see rpma-java perf client --help",
                "perf",
                "client",
                "--csv=csv",
                "127.0.0.1");
    }

    @Test
    void theHomeDirectory() throws Exception {
        Jvm tools = tools().environment("HOME", file.getParent().toString()).environment("XDG_CACHE_HOME", "");
        assertFails(tools, "rxe: " + REMEDY, "rxe", "--help");
    }

    @Test
    void anArgumentOfACommand() throws Exception {
        Jvm tools = tools().environment("RPMA_CACHE", directory.toString());
        assertFails(tools, "rxe: " + REMEDY, "rxe", "run", "--help", file.toString());
    }
}
