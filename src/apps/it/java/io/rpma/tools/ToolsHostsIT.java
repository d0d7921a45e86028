// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools;

import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.testing.Guest;
import io.rpma.testing.Jvm;
import io.rpma.testing.Limit;
import io.rpma.testing.Tool;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The commands of the jar of the tools between two hosts, which are two linked guests. */
@Tag("hosts")
class ToolsHostsIT {
    private static final String TOOLS = "java -jar '" + Jvm.toolsJar() + "' ";
    private static final String PERF = TOOLS + "perf client $RPMA_PEER -W 600 -t 1 -D 0.1 -s 64,4k write";

    @TempDir
    private Path link;

    /** The shell of a guest. */
    private static final class Host implements AutoCloseable {
        private final Guest guest;
        private int listening;
        private int ended;

        Host(Path link, int side) throws IOException {
            guest = Guest.boot(link, side, "sh");
        }

        /** Starts a command that listens, and waits until it listens. */
        void listen(String command) throws InterruptedException {
            guest.enter(TOOLS + command + " &");
            await("listening at 10.0.0.1 port 7204 through rxe0, until Ctrl-C", ++listening);
        }

        /** Ends the command that listens, and returns the lines of its output. */
        List<String> endListener() throws InterruptedException {
            assertThat(run("kill $!; wait $!")).endsWith("status 0");
            return guest.command().lines();
        }

        /** Runs a command, and returns the lines of its output; the last one has its status. */
        List<String> run(String command) throws InterruptedException {
            int begin = guest.command().lines().size();
            guest.enter(command + "; echo status $?");
            await("status ", ++ended);
            List<String> lines = guest.command().lines();
            return lines.subList(begin, lines.size());
        }

        private void await(String text, int count) throws InterruptedException {
            if (guest.command().awaitLine(text, count, Limit.WAIT) == null) {
                throw new AssertionError("not " + count + " lines with '" + text + "':\n" + guest.diagnosis());
            }
        }

        /** Ends the guest, so that this machine has all files. */
        void end() throws InterruptedException {
            guest.enter("exit");
            Jvm.Finished end = guest.command().awaitEnd();
            assertThat(end.status()).as(end.toString()).isZero();
        }

        @Override
        public void close() {
            guest.close();
        }
    }

    @Test
    void eachCommandThatConnects() throws IOException, InterruptedException {
        Path shared = Files.createTempDirectory(Path.of("target"), "tools-hosts");
        try {
            try (Host server = new Host(link, 1);
                    Host client = new Host(link, 2)) {
                ping(server, client);
                perf(server, client, shared.resolve("terminal"));
                client.end();
                server.end();
            }
            assertThat(Files.readString(shared.resolve("terminal")))
                    .contains(
                            "\r\033[K[--------------------] 1 of 2: write, 64 B, depth 1",
                            "\r\033[K[##########----------] 2 of 2: write, 4 KiB, depth 1")
                    .containsPattern("\r\033\\[Kwrite +4 KiB +1 +1 .*\r\n\r\033\\[K$");
        } finally {
            Tool.run("rm", "-rf", shared.toString());
        }
    }

    private static void ping(Host server, Host client) throws InterruptedException {
        server.listen("ping --listen $RPMA_ADDRESS");
        assertThat(client.run(TOOLS + "ping $RPMA_PEER --timeout 600 --count 3 --interval 0"))
                .anyMatch(line -> line.matches("10.0.0.1 port 7204 through rxe0: connected in [\\d.]+ ms"))
                .anyMatch(line -> line.matches("3: 64 bytes, time [\\d.]+ us"))
                .contains("3 messages of 64 bytes, 3 answered, 0 % lost")
                .endsWith("status 0");
        assertThat(server.endListener())
                .contains("client 1 has connected, with messages of 64 bytes", "3 messages of 1 clients answered");
    }

    /**
     * The bytes of the second client's terminal go to a file, because a carriage return ends a line of a guest's
     * output.
     */
    private static void perf(Host server, Host client, Path terminal) throws InterruptedException {
        server.listen("perf server $RPMA_ADDRESS");
        List<String> table = client.run(PERF + " 2>&1");
        assertThat(table).hasSize(4).endsWith("status 0");
        assertThat(table.get(0)).startsWith("operation ");
        assertThat(table.get(1)).matches("write +64 B +1 +1 +[\\d.]+ .*");
        assertThat(table.get(2)).matches("write +4 KiB +1 +1 +[\\d.]+ .*");
        assertThat(client.run("script -qec \"" + PERF + "\" /dev/null </dev/null >" + terminal))
                .containsExactly("status 0");
        assertThat(server.endListener()).contains("1: write, 64 B, depth 1", "4: write, 4 KiB, depth 1");
    }
}
