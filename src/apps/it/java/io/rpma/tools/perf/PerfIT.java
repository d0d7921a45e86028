// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools.perf;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonArray;
import com.google.gson.JsonParser;
import io.rpma.RpmaConn;
import io.rpma.RpmaConnEvent;
import io.rpma.RpmaConnReq;
import io.rpma.RpmaEp;
import io.rpma.RpmaMemory;
import io.rpma.RpmaPeer;
import io.rpma.testing.Jvm;
import io.rpma.testing.TestDevice;
import io.rpma.tools.WithTools;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

/** The two sides of {@code perf} on a device. */
@Tag("processes")
@Isolated("its programs poll, which delays the programs of other tests")
class PerfIT extends WithTools {
    private static final List<String> OPERATIONS = List.of(
            "write",
            "read",
            "write-imm",
            "atomic-write",
            "flush-visible",
            "send",
            "rdma-write",
            "rdma-inline",
            "rdma-read",
            "rdma-write-imm",
            "rdma-fetch-add",
            "rdma-send",
            "rdma-cmp-swap");

    @TempDir
    private Path directory;

    private Jvm.Running server(String... more) throws InterruptedException {
        List<String> arguments = new ArrayList<>(List.of("perf", "server", address, "-p", port));
        arguments.addAll(List.of(more));
        Jvm.Running server = start(arguments.toArray(String[]::new));
        server.awaitLine("listening at " + address + " port " + port + " through ");
        return server;
    }

    /** Runs a client whose completions are never too late on a busy machine. */
    private Jvm.Running client(String... more) {
        List<String> arguments = new ArrayList<>(List.of("perf", "client", address, "-p", port, "-W", "600"));
        arguments.addAll(List.of(more));
        return start(arguments.toArray(String[]::new));
    }

    @Test
    @Tag("library")
    @Tag("atomics")
    @Tag("empty-receives")
    @Tag("immediate-data")
    void eachOperation() throws Exception {
        Jvm.Running server = server();
        Path csv = directory.resolve("perf.csv");
        Path json = directory.resolve("perf.json");
        Jvm.Finished end = assertEnds(
                client("-n", "100", "-s", "64,4k", "-t", "1,8", "--csv", csv.toString(), "--json", json.toString()), 0);
        assertThat(end.out().lines()).allMatch(line -> line.length() <= 80 || line.contains("not measured"));
        for (String operation : OPERATIONS) {
            assertThat(end.out()).containsPattern("(?m)^" + operation + " +(64 B|8 B) +1 +1 +[\\d.]+ ");
        }
        assertThat(end.out())
                .containsOnlyOnce("flush-persistent not measured: the server has no persistent memory for 64 B (")
                .containsOnlyOnce("rdma-inline      not measured: sizes above 64 B\n")
                .doesNotContain("\u001b");
        assertThat(end.err()).isEmpty();
        // nine operations have both sizes, four have one, and each size has both depths
        int measurements = (9 * 2 + 4) * 2;
        assertThat(Files.readAllLines(csv)).hasSize(1 + measurements);
        JsonArray results =
                JsonParser.parseString(Files.readString(json)).getAsJsonObject().getAsJsonArray("results");
        assertThat(results).hasSize(measurements);
        assertThat(results)
                .allMatch(result -> result.getAsJsonObject().get("operations").getAsLong() == 100);
        server.signal("INT");
        assertThat(assertEnds(server, 0).out())
                .contains("1: write, 64 B, depth 1\n")
                .doesNotContain("rejected");
    }

    /** The client's bytes are zeroes. On a device that emulates flushes, the operator's declaration is required. */
    @Test
    @Tag("persistent-memory")
    void flushesIntoPersistentMemory() throws Exception {
        Path pmem = TestDevice.pmem();
        try (RpmaMemory memory = RpmaMemory.map(pmem)) {
            memory.buffer(0, 1).put((byte) 1);
            Jvm.Running server = server("--memory", pmem.toString(), "--direct-write-to-pmem");
            Jvm.Finished end = assertEnds(client("flush-persistent", "-n", "100", "-s", "64,4k", "-t", "1,4"), 0);
            assertThat(end.out())
                    .containsPattern("(?m)^flush-persistent +64 B +1 +1 +[\\d.]+ ")
                    .containsPattern("(?m)^flush-persistent +4 KiB +4 +1 +[\\d.]+ ")
                    .doesNotContain("not measured");
            assertThat(end.err()).isEmpty();
            assertThat(memory.buffer(0, 1).get(0)).isZero();
            server.awaitLine("1: flush-persistent, 64 B, depth 1");
            server.signal("INT");
            assertEnds(server, 0);
        }
    }

    @Test
    @Tag("atomics")
    @Tag("empty-receives")
    @Tag("immediate-data")
    void threadsListsAndEvents() throws Exception {
        server();
        Jvm.Finished end = assertEnds(client("-n", "64", "-s", "64", "-t", "16", "-q", "1,3", "-l", "4", "-e"), 0);
        for (String operation : OPERATIONS) {
            assertThat(end.out()).containsPattern("(?m)^" + operation + " +(64 B|8 B) +16 +3 +[\\d.]+ ");
        }
    }

    @Test
    void controlCEndsWithTheResults() throws Exception {
        server();
        Path csv = directory.resolve("perf.csv");
        Jvm.Running client = client(
                "write",
                "read",
                "-s",
                "64",
                "-t",
                "1",
                "-D",
                "0.1",
                "-q",
                "1,1,1,1,1,1,1,1,1,1,1,1,1,1" + ",1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1",
                "--csv",
                csv.toString());
        client.awaitLine("write ");
        client.signal("INT");
        Jvm.Finished end = assertEnds(client, 1);
        assertThat(end.err()).matches("rpma-java perf client: interrupted after \\d+ of 96 measurements\n");
        assertThat(Files.readAllLines(csv)).hasSizeBetween(2, 96);
    }

    @Test
    void nothingListens() throws InterruptedException {
        assertThat(assertEnds(client(), 1).err())
                .startsWith(
                        "rpma-java perf client: " + address + " port " + port + ": rejected: nothing listens there, or")
                .hasLineCount(1);
    }

    /** The failure comes before the head of the table. */
    @Test
    void aFailureOfTheFilesDoesNotReplaceTheFailureOfTheMeasurement() throws InterruptedException {
        Jvm.Finished end = assertEnds(client("--csv", "/dev/full"), 1);
        assertThat(end.err())
                .contains("rpma-java perf client: the results can't be written: /dev/full: No space left on device\n")
                .contains("rpma-java perf client: " + address + " port " + port + ": rejected: nothing listens there")
                .hasLineCount(2);
        assertThat(end.out()).isEmpty();
    }

    /** A client that sees the line can use both ports. */
    @Test
    void theServerReportsThatItListensAfterBothPorts() throws Exception {
        try (RpmaPeer peer = TestDevice.peer()) {
            RpmaEp other = RpmaEp.listen(peer, address, Integer.parseInt(port) + 1);
            try {
                Jvm.Running server = server();
                assertThat(server.lines()).anyMatch(line -> line.contains("no client can use librdmacm: "));
                assertEnds(client("write", "-s", "64", "-t", "1", "-n", "1"), 0);
                server.signal("INT");
                assertEnds(server, 0);
            } finally {
                other.close();
            }
        }
    }

    @Test
    void noRoom() throws Exception {
        String reason = "no room for 2 MiB: the memory of all clients is limited to 1 MiB (server --limit)";
        Jvm.Running server = server("--limit", "1M");
        for (String operation : List.of("send", "rdma-send")) {
            Jvm.Finished end = assertEnds(client(operation, "-s", "1M", "-t", "1"), 1);
            assertThat(end.err())
                    .matches("rpma-java perf client: " + address
                            + " port \\d+: the listening side has refused this one: " + Pattern.quote(reason) + "\n");
        }
        server.awaitLine("rejected: " + reason, 2);
        assertEnds(client("write", "-s", "64k", "-t", "1", "-n", "1"), 0);
    }

    /** The device's largest message is 8 MiB, or the size is the largest of the option. */
    @Test
    void anOperationThatIsRefusedEndsNeitherSide() throws Exception {
        Jvm.Running server = server("--limit", "1M");
        Jvm.Finished end = assertEnds(client("write", "send", "-s", "64,16M", "-t", "1", "-n", "10"), 1);
        assertThat(end.out())
                .containsPattern("(?m)^write +64 B ")
                .containsPattern("(?m)^write +not measured: .*refused")
                .containsPattern("(?m)^send +64 B ")
                .containsPattern("(?m)^send +not measured: .*refused");
        assertThat(end.err()).isEmpty();
        server.awaitLine("rejected: ", 2);
        assertEnds(client("rdma-send", "-s", "64", "-t", "1", "-n", "10"), 0);
    }

    @Test
    void theServerEnds() throws Exception {
        Jvm.Running server = server();
        Jvm.Running client = client("send", "-s", "64", "-t", "1", "-D", "60");
        server.awaitLine("1: send, 64 B, depth 1");
        server.kill();
        assertThat(assertEnds(client, 1).err())
                .startsWith("rpma-java perf client: " + address + " port " + port + ": ")
                .hasLineCount(1);
    }

    @Test
    void theClientEnds() throws Exception {
        Jvm.Running server = server("--limit", "64k");
        Jvm.Running client = client("write", "-s", "64k", "-t", "1", "-D", "60");
        server.awaitLine("1: write, 64 KiB, depth 1");
        client.kill();
        client.awaitEnd();
        // the memory of the dead client is free again
        Jvm.Finished next = client("write", "-s", "64k", "-t", "1", "-n", "1").awaitEnd();
        while (next.status() != 0) {
            assertThat(next.err()).contains("refused");
            next = client("write", "-s", "64k", "-t", "1", "-n", "1").awaitEnd();
        }
        server.signal("TERM");
        assertEnds(server, 0);
    }

    @Test
    void anotherProgramConnects() throws Exception {
        Jvm.Running server = server();
        try (RpmaPeer peer = TestDevice.peer()) {
            for (byte[] data : List.of(new byte[0], new byte[56], "another program".getBytes(StandardCharsets.UTF_8))) {
                try (RpmaConn conn = RpmaConnReq.create(peer, address, Integer.parseInt(port), null)
                        .connect(data)) {
                    assertThat(conn.nextEvent()).isSameAs(RpmaConnEvent.REJECTED);
                }
            }
        }
        server.awaitLine("rejected: the client is another program", 3);
        server.signal("INT");
        assertEnds(server, 0);
    }

    @Test
    void anotherProgramAnswers() throws Exception {
        try (RpmaPeer peer = TestDevice.peer();
                RpmaEp endpoint = RpmaEp.listen(peer, address, Integer.parseInt(port))) {
            Jvm.Running client = client();
            try (RpmaConn conn = endpoint.nextConnReq(null).connect()) {
                assertThat(conn.nextEvent()).isNotNull();
                assertThat(assertEnds(client, 1).err())
                        .startsWith("rpma-java perf client: " + address + " port " + port
                                + ": another program has accepted the connection")
                        .hasLineCount(1);
            }
        }
    }

    @Test
    void noPersistentMemory() throws Exception {
        Path file = Files.write(directory.resolve("file"), new byte[4096]);
        Jvm.Finished end = assertEnds(start("perf", "server", address, "-p", port, "--memory", file.toString()), 1);
        assertThat(end.err()).isEqualTo("rpma-java perf server: " + file + " is not persistent memory\n");
    }
}
