// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.keyvalue;

import static java.util.concurrent.TimeUnit.NANOSECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.testing.Document;
import io.rpma.testing.TestDevice;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Processes of a store are killed at random moments: no acknowledged value is lost, and the others go on. */
@Tag("processes")
@Execution(ExecutionMode.SAME_THREAD) // six servers at once would delay each other's elections
class KeyValueIT {
    private static final List<String> IDS = List.of("a", "b", "c");

    /** The number of kills of {@code native/rxe test --all}, which takes minutes. */
    private static final int LONG_KILLS = 50;

    @TempDir
    private Path directory;

    /** Starts commands of the document, with the address and free ports of this host. */
    private Process start(String commands, int port, String id) throws IOException {
        String script = commands.replace("--id a", "--id " + id);
        for (int i = 0; i < IDS.size(); i++) {
            script = script.replace("=10.0.0." + (i + 1) + ":7300", "=" + TestDevice.address() + ":" + (port + i));
        }
        script = script.replace("/var/lib/key-value", directory.resolve(id).toString());
        return new ProcessBuilder("bash", "-e", "-c", script)
                .redirectError(directory.resolve(id + ".err").toFile())
                .start();
    }

    @Test
    void theCommandsOfTheDocument() throws Exception {
        int port = TestDevice.ports(IDS.size());
        List<Process> servers = new ArrayList<>();
        try {
            for (String id : IDS) {
                servers.add(start(Document.RATIS.block("server"), port, id));
            }
            Process client = start(Document.RATIS.block("client"), port, "client");
            assertThat(new String(client.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
                    .matches("stored, through the leader [abc]\ngreen\n");
            assertThat(client.waitFor()).isZero();
        } finally {
            // bash executes the last command itself
            servers.forEach(Process::destroy);
        }
        for (Process server : servers) {
            server.waitFor();
        }
    }

    @Test
    void noAcknowledgedValueIsLost() throws Exception {
        long seed = Long.getLong("rpma.random.seed", new SplittableRandom().nextLong());
        int kills = Integer.getInteger("rpma.kills", Boolean.getBoolean("rpma.long") ? LONG_KILLS : 3);
        System.out.println(kills + " kills with -Drpma.random.seed=" + seed);
        SplittableRandom random = new SplittableRandom(seed);
        try (Processes servers = new Processes(directory, TestDevice.address(), TestDevice.ports(IDS.size()), IDS)) {
            for (String id : IDS) {
                servers.start(id);
            }
            try (Writer writer = new Writer(servers.group())) {
                writer.await(100, servers::check);
                for (int i = 0; i < kills; i++) {
                    writer.await(1 + random.nextInt(100), servers::check);
                    // the leader is killed in every second case
                    String id = random.nextBoolean() ? writer.leader() : IDS.get(random.nextInt(IDS.size()));
                    boolean isLeader = id.equals(writer.leader());
                    writer.takeLongestPauseNanos();
                    servers.kill(id);
                    writer.await(100, servers::check);
                    System.out.println("kill " + i + " of " + (isLeader ? "the leader " : "") + id + ": longest pause "
                            + NANOSECONDS.toMillis(writer.takeLongestPauseNanos()) + " ms");
                    // Only then is there a majority without the next one.
                    servers.start(id);
                    servers.await(id);
                }
                writer.stop();
                assertThat(writer.acknowledged()).isGreaterThan(100L * kills);
                writer.check();
            }
        }
    }
}
