// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.bed;

import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.testing.Rxe;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * An emulated guest: its directories, and the programs of its JDK, because code that HotSpot compiles with profiling
 * crashes there.
 */
@Tag("bed")
class QemuBedIT {
    private static final String C1_WITHOUT_PROFILING = "TieredStopAtLevel = 1 {jimage}";

    @TempDir
    private Path temporary;

    /**
     * The option of the JVMs is not on the command line, and no JVM prints it. The shared archive of classes fits. The
     * test of the directories is in the same guest, because its boot takes long.
     */
    @Test
    void eachJvmRunsWithoutProfilingAndSeesTheDirectories() throws IOException, InterruptedException {
        Path project = Files.createDirectory(temporary.toRealPath().resolve("a project, and more"));
        Path data = Files.createDirectory(project.resolveSibling("data"));
        Files.writeString(data.resolve("file"), "read");
        String print = " | awk '/TieredStopAtLevel / { print $2, $3, $4, $6 }'";
        Rxe.Finished finished = Rxe.command(
                        Rxe.PROGRAM.toString(),
                        "run",
                        "--bed",
                        "qemu",
                        "--memory",
                        "1024",
                        "--share",
                        data + ":ro",
                        "sh",
                        "-c",
                        "java -Xshare:on -XX:+PrintFlagsFinal --version"
                                + print
                                + "; javac -J-XX:+PrintFlagsFinal --version" + print
                                + "; java -XX:+UseZGC --version | grep -o emulated; cat \"$0\" >written || exit"
                                + "; touch \"$0\" 2>/dev/null && echo writable; exit 0",
                        data.resolve("file").toString())
                .in(project)
                .run();
        assertThat(finished.out().lines().toList())
                .isEqualTo(List.of(C1_WITHOUT_PROFILING, C1_WITHOUT_PROFILING, "emulated"));
        assertThat(finished.err()).contains(" " + data + " (read-only)").endsWith(Rxe.BOOTING);
        assertThat(finished.err().lines()).hasSize(2);
        assertThat(project.resolve("written")).hasContent("read");
        assertThat(finished.status()).isZero();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"--bed uml run true", "--bed kvm run true", "--device x run true", "bench", "test --sanitize"})
    void anotherProcessorNeedsEmulation(String words) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(Rxe.PROGRAM.toString(), "--image", "trixie-arm64"));
        command.addAll(List.of(words.split(" ")));
        Rxe.Finished finished = Rxe.command(command.toArray(String[]::new)).run();
        assertThat(finished.err()).contains("--image trixie-arm64").hasLineCount(1);
        assertThat(finished.status()).isEqualTo(2);
    }
}
