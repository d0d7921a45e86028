// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.librpma;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code src/apps/examples/run NAME both}, with a shell script in place of the JVM. */
class RunTest {
    private static final Path SCRIPT = Path.of("src/apps/examples/run");

    @TempDir
    private Path checkout;

    private Path bin;

    @BeforeEach
    void copy() throws IOException {
        Files.createDirectories(checkout.resolve("target/apps/lib"));
        Files.createDirectories(checkout.resolve("target/apps/classes"));
        Files.createDirectories(checkout.resolve(SCRIPT).getParent());
        Files.copy(SCRIPT, checkout.resolve(SCRIPT), StandardCopyOption.COPY_ATTRIBUTES);
        bin = Files.createDirectory(checkout.resolve("bin"));
    }

    private void assertBoth(String server, String client, int status, String... lines) throws Exception {
        Path java = bin.resolve("java");
        Files.writeString(java, "#!/bin/sh\ncase $* in *Server*) " + server + ";; *Client*) " + client + ";; esac\n");
        assertThat(java.toFile().setExecutable(true)).isTrue();
        ProcessBuilder builder = new ProcessBuilder(checkout.resolve(SCRIPT).toString(), "01-connection", "both")
                .redirectErrorStream(true);
        builder.environment().merge("PATH", bin.toString(), (path, first) -> first + ":" + path);
        builder.environment().put("RPMA_ADDRESS", "192.0.2.1");
        builder.environment().put("EXAMPLE_SECONDS", "2");
        builder.environment().remove("LD_PRELOAD");
        Process process = builder.start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(output).isEqualTo(status);
        assertThat(output.lines()).containsExactly(lines);
    }

    @Test
    void bothSucceed() throws Exception {
        assertBoth("exit 0", "exit 0", 0);
    }

    @Test
    void bothFail() throws Exception {
        assertBoth(
                "exit 3",
                "exit 4",
                1,
                "run: the client of 01-connection ended with status 4",
                "run: the server of 01-connection ended with status 3");
    }

    @Test
    void theServerFails() throws Exception {
        assertBoth("exit 3", "exit 0", 1, "run: the server of 01-connection ended with status 3");
    }

    @Test
    void theServerWaitsForAClientThatHasFailed() throws Exception {
        assertBoth(
                "exec sleep 40",
                "exit 4",
                1,
                "run: the client of 01-connection ended with status 4",
                "run: the server of 01-connection has not ended within 5 s, and was killed");
    }

    @Test
    void theClientHangs() throws Exception {
        assertBoth(
                "exit 0",
                "exec sleep 40",
                1,
                "run: the client of 01-connection has not ended within 2 s, and was killed");
    }
}
