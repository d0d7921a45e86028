// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.rdmacm;

import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.testing.Jvm;
import io.rpma.testing.TestDevice;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The examples against the programs of rdmacm-utils, and against each other. */
@Tag("processes")
class RdmacmUtilsIT {
    private static final int PINGS = 5;

    private String address;
    private String port;

    @BeforeEach
    void find() {
        address = TestDevice.address();
        port = Integer.toString(TestDevice.port());
    }

    private Jvm.Running java(Class<?> program, String... more) {
        List<String> command = new ArrayList<>(List.of(program.getName(), address, port));
        command.addAll(List.of(more));
        return Jvm.likeThis().start(command.toArray(new String[0]));
    }

    private static Jvm.Running utility(String... command) throws IOException {
        return Jvm.command(command);
    }

    private static List<String> assertEnds(Jvm.Running side) throws InterruptedException {
        Jvm.Finished end = side.awaitEnd();
        assertThat(end.status()).as(end.toString()).isZero();
        return end.out().lines().toList();
    }

    /**
     * Repeats the client until the server accepts it: the programs in C do not wait, and the system lists no listeners.
     */
    private static List<String> retried(Jvm.Running server, String... client) throws Exception {
        List<Jvm.Finished> refused = new ArrayList<>();
        while (true) {
            Jvm.Finished finished = utility(client).awaitEnd();
            if (finished.status() == 0) {
                return finished.out().lines().toList();
            }
            assertThat(finished.err()).as(finished + " after " + refused).containsPattern("refused|REJECTED");
            refused.add(finished);
            if (!server.process().isAlive()) {
                throw new AssertionError("the server served no client: " + server.awaitEnd() + refused);
            }
        }
    }

    @Test
    void messagesOfJava() throws Exception {
        try (Jvm.Running server = java(RdmaServer.class);
                Jvm.Running client = java(RdmaClient.class)) {
            assertThat(assertEnds(client)).containsExactly("rdma_client: start", "rdma_client: end 0");
            assertThat(assertEnds(server)).containsExactly("rdma_server: start", "rdma_server: end 0");
        }
    }

    @Test
    void messagesToTheServerInC() throws Exception {
        try (Jvm.Running server = utility("rdma_server", "-s", address, "-p", port);
                Jvm.Running client = java(RdmaClient.class)) {
            assertThat(assertEnds(client)).endsWith("rdma_client: end 0");
            assertThat(assertEnds(server)).endsWith("rdma_server: end 0");
        }
    }

    @Test
    void messagesFromTheClientInC() throws Exception {
        try (Jvm.Running server = java(RdmaServer.class)) {
            server.awaitLine("start");
            assertThat(retried(server, "rdma_client", "-s", address, "-p", port))
                    .endsWith("rdma_client: end 0");
            assertThat(assertEnds(server)).endsWith("rdma_server: end 0");
        }
    }

    private static String pingData(int number, int size) {
        StringBuilder data = new StringBuilder("rdma-ping-" + number + ": ");
        for (int i = 0; data.length() < size - 1; i++) {
            data.append((char) ('A' + (number + i) % ('z' - 'A' + 1)));
        }
        return data.toString();
    }

    private static void assertPings(String prefix, int size, List<String> lines) {
        assertThat(lines).hasSize(PINGS);
        for (int i = 0; i < PINGS; i++) {
            assertThat(lines.get(i)).isEqualTo(prefix + pingData(i, size));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {64, 1000, 60_000})
    void pingsOfJava(int size) throws Exception {
        try (Jvm.Running server = java(RpingServer.class, Integer.toString(size));
                Jvm.Running client = java(RpingClient.class, Integer.toString(PINGS), Integer.toString(size))) {
            assertPings("ping data: ", size, assertEnds(client));
            assertPings("server ping data: ", size, assertEnds(server));
        }
    }

    @Test
    @Tag("library")
    void pingsToTheServerInC() throws Exception {
        try (Jvm.Running server = utility("rping", "-s", "-v", "-a", address, "-p", port, "-S", "100");
                Jvm.Running client = java(RpingClient.class, Integer.toString(PINGS), "100")) {
            assertPings("ping data: ", 100, assertEnds(client));
            Jvm.Finished end = server.awaitEnd();
            assertPings("server ping data: ", 100, end.out().lines().toList());
        }
    }

    /** {@code rping} hangs if a call to connect fails. */
    @Test
    @Tag("infiniband-cm")
    void pingsFromTheClientInC() throws Exception {
        try (Jvm.Running server = java(RpingServer.class, "100")) {
            List<String> pings = retried(
                    server,
                    "rping",
                    "-c",
                    "-v",
                    "-V",
                    "-a",
                    address,
                    "-p",
                    port,
                    "-C",
                    Integer.toString(PINGS),
                    "-S",
                    "100");
            assertPings("ping data: ", 100, pings);
            assertPings("server ping data: ", 100, assertEnds(server));
        }
    }
}
