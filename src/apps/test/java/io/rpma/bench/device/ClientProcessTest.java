// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.bench.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Clients that follow the protocol, and clients that violate it. */
class ClientProcessTest {
    @Test
    void answersCommands() throws IOException {
        try (ClientProcess client = start("echo ok; while read -r a b; do echo $((a + b)) $a; done")) {
            assertThat(client.run("1 2")).containsExactly(3, 1);
            assertThat(client.run("10 20")).containsExactly(30, 10);
        }
    }

    @Test
    void refusesOneThatDoesNotStart() {
        assertThatIOException().isThrownBy(() -> start("exit 1")).withMessageContaining("some client has ended");
        assertThatIOException().isThrownBy(() -> start("echo what")).withMessageContaining("some client says: what");
    }

    @Test
    void tellsOfOneThatEnds() throws IOException {
        try (ClientProcess client = start("echo ok; read -r line")) {
            assertThatIOException()
                    .isThrownBy(() -> client.run("load"))
                    .withMessageContaining("some client has ended")
                    .withMessageContaining("load");
        }
    }

    @Test
    void refusesAnswersThatAreNoNumbers() throws IOException {
        try (ClientProcess client = start("echo ok; while read -r line; do echo 1 two; done")) {
            assertThatIOException().isThrownBy(() -> client.run("load")).withMessageContaining("no numbers: 1 two");
        }
    }

    private static ClientProcess start(String script) throws IOException {
        return ClientProcess.start("some client", List.of("sh", "-c", script));
    }
}
