// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools;

import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.testing.Jvm;
import io.rpma.testing.Rxe;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The script that the jar of the tools contains: the command rxe with guests of user-mode Linux, without a checkout.
 */
@Tag("consumers")
class ToolsRxeIT {
    @TempDir
    private Path directory;

    private Jvm.Running rxe(String... command) throws IOException {
        List<String> words = new ArrayList<>(List.of("rxe", "run", "--bed", "uml", "--memory", "512", "--share"));
        words.addAll(List.of(directory.toString(), "--"));
        words.addAll(List.of(command));
        return Jvm.ofTools()
                .environment("RPMA_CACHE", Rxe.privateCache(directory).toString())
                .start(words.toArray(String[]::new));
    }

    @Test
    void aCommandInAGuest() throws IOException, InterruptedException {
        try (Jvm.Running rxe = rxe("sh", "-c", "cat; rdma link; exit 7")) {
            rxe.process().outputWriter().append("a line of the input\n").close();
            Jvm.Finished end = rxe.awaitEnd();
            assertThat(end.out()).startsWith("a line of the input\n").contains("link rxe0/1 state ACTIVE");
            assertThat(end.status()).as(end.toString()).isEqualTo(7);
        }
    }

    @ParameterizedTest
    @CsvSource({"TERM, 143", "HUP, 143"})
    void aSignalEndsTheGuest(String signal, int status) throws IOException, InterruptedException {
        try (Jvm.Running rxe = rxe("sh", "-c", "echo running; sleep 1000")) {
            rxe.awaitLine("running");
            List<Long> processes = Rxe.startedBy(rxe.process());
            assertThat(processes).isNotEmpty();
            rxe.signal(signal);
            Jvm.Finished end = rxe.awaitEnd();
            assertThat(end.status()).as(end.toString()).isEqualTo(status);
            assertThat(Rxe.runs(directory)).isEmpty();
            Rxe.awaitEnd(processes);
        }
    }
}
