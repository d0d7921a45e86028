// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.keyvalue;

import static java.util.concurrent.TimeUnit.NANOSECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;

import io.rpma.support.EndpointOptions;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Shows what a store survives. */
@Command(
        name = "demo",
        description = {
            "Starts three servers on this host, and a client that stores one value after the other. Kills the leader,"
                    + " starts it again, and checks that each acknowledged value is there.",
            ""
        })
final class Demo implements Callable<Integer> {
    private static final List<String> IDS = List.of("a", "b", "c");
    private static final int FIRST_VALUES = 500;

    @Mixin
    private final EndpointOptions endpoint = new EndpointOptions("this host's", "of the first server");

    @Option(names = "--kills", defaultValue = "2", paramLabel = "N", description = "How often the leader is killed.")
    private int kills;

    private final long begun = System.nanoTime();

    private void say(String format, Object... values) {
        double seconds = (System.nanoTime() - begun) / (double) SECONDS.toNanos(1);
        System.out.println(
                String.format(Locale.ROOT, "%6.1f s  ", seconds) + String.format(Locale.ROOT, format, values));
    }

    @Override
    public Integer call() throws Exception {
        endpoint.check();
        Path directory = Files.createTempDirectory("key-value");
        try (Processes servers = new Processes(directory, endpoint.address(), endpoint.port(), IDS)) {
            Runtime.getRuntime().addShutdownHook(new Thread(servers::close));
            for (String id : IDS) {
                servers.start(id);
            }
            say("the servers %s start, with their logs in %s", IDS, directory);
            try (Writer writer = new Writer(servers.group())) {
                writer.await(FIRST_VALUES, servers::check);
                say("%,d values are acknowledged, the leader is %s", writer.acknowledged(), writer.leader());
                for (int i = 0; i < kills; i++) {
                    killLeader(servers, writer);
                }
                writer.stop();
                writer.check();
                say("all %,d acknowledged values are there", writer.acknowledged());
            }
        }
        return 0;
    }

    private void killLeader(Processes servers, Writer writer) throws Exception {
        String leader = writer.leader();
        writer.takeLongestPauseNanos();
        long before = writer.acknowledged();
        servers.kill(leader);
        say("the leader %s is killed, after %,d values", leader, before);
        writer.await(FIRST_VALUES, servers::check);
        say(
                "the leader is %s; no value was acknowledged for %d ms",
                writer.leader(), NANOSECONDS.toMillis(writer.takeLongestPauseNanos()));
        servers.start(leader);
        servers.await(leader);
        say("%s is back", leader);
        writer.await(FIRST_VALUES, servers::check);
    }
}
