// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools.rxe;

import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.testing.Jvm;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The command rxe without a guest. {@code ToolsRxeIT} boots guests. */
class RxeTest {
    @TempDir
    private Path cache;

    private Jvm.Finished rxe(String... arguments) throws InterruptedException {
        String[] words = Stream.concat(Stream.of("rxe"), Stream.of(arguments)).toArray(String[]::new);
        return Jvm.ofTools().environment("RPMA_CACHE", cache.toString()).run(words);
    }

    @Test
    void theHelpOfTheScript() throws InterruptedException {
        Jvm.Finished end = rxe("run", "--help");
        assertThat(end.out()).startsWith("usage: rpma-java rxe run [OPTION...] [--] CMD [ARG...]\n");
        assertThat(end.out()).doesNotContain("native/rxe ");
        assertThat(end.status()).as(end.toString()).isZero();
    }

    @Test
    void theStatusOfTheScript() throws InterruptedException {
        Jvm.Finished end = rxe("--bed", "moon", "run", "true");
        assertThat(end.err())
                .isEqualTo("rxe: no bed 'moon': there are auto host kvm uml qemu (see rpma-java rxe --help)\n");
        assertThat(end.status()).isEqualTo(2);
    }

    @Test
    void aCommandThatNeedsACheckout() throws InterruptedException {
        Jvm.Finished end = rxe("test");
        assertThat(end.err())
                .matches("rxe: test needs a checkout of rpma-java, and \\S+ is none: run native/rxe of a checkout\n");
        assertThat(end.status()).isEqualTo(1);
    }

    @Test
    void cleanRemovesTheCopies() throws InterruptedException, IOException {
        assertCleans(System.getenv("PATH"));
    }

    /** The tools run on aarch64, where the script makes no guests. */
    @Test
    void cleanRemovesTheCopiesOnAnotherPlatform(@TempDir Path programs) throws InterruptedException, IOException {
        Path uname = Files.writeString(programs.resolve("uname"), "#!/bin/sh\necho aarch64\n");
        Files.setPosixFilePermissions(uname, PosixFilePermissions.fromString("rwxr-xr-x"));
        assertCleans(programs + ":" + System.getenv("PATH"));
    }

    private void assertCleans(String path) throws InterruptedException, IOException {
        rxe("--help");
        assertThat(cache).isDirectoryContaining("glob:**/rxe-*");
        Jvm.Finished end = Jvm.ofTools()
                .environment("RPMA_CACHE", cache.toString())
                .environment("PATH", path)
                .run("rxe", "clean");
        assertThat(end.status()).as(end.toString()).isZero();
        assertThat(Files.exists(cache)).isFalse();
        Files.createDirectory(cache);
    }
}
