// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.keyvalue;

import static java.util.concurrent.TimeUnit.NANOSECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.testing.TestDevice;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Processes of a store are killed at random moments: no acknowledged value is lost, and the others go on. */
@Tag("processes")
class KeyValueIT {
    private static final List<String> IDS = List.of("a", "b", "c");

    /** The number of kills of {@code native/rxe test --all}, which takes minutes. */
    private static final int LONG_KILLS = 50;

    @TempDir
    private Path directory;

    @Test
    void noAcknowledgedValueIsLost() throws Exception {
        long seed = Long.getLong("rpma.random.seed", new SplittableRandom().nextLong());
        int kills = Integer.getInteger("rpma.kills", Boolean.getBoolean("rpma.long") ? LONG_KILLS : 5);
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
                    servers.start(id);
                }
                writer.stop();
                assertThat(writer.acknowledged()).isGreaterThan(100L * kills);
                writer.check();
            }
        }
    }
}
