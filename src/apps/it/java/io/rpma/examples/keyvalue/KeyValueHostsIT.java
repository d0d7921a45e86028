// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.keyvalue;

import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.testing.Document;
import io.rpma.testing.Guest;
import io.rpma.testing.Limit;
import io.rpma.testing.Rxe;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The servers of a store on two hosts, of which one loses packets, loses its link, and has to replace a server of the other. */
@Tag("hosts")
class KeyValueHostsIT {
    private static final String SERVERS = "a=10.0.0.1:7300,b=10.0.0.1:7301,c=10.0.0.2:7300";
    private static final String FAULT = "tc qdisc replace dev eth0 root netem ";

    @TempDir
    private Path link;

    private int loads;

    private static void startServer(Guest host, String id, int count) throws InterruptedException {
        host.enter(Guest.java(KeyValue.class, "server --servers " + SERVERS + " --id " + id + " --directory /tmp/" + id)
                + " 2>/tmp/" + id + ".log & " + id + "=$!");
        await(host, "server " + id + " listens", count);
    }

    private static void await(Guest host, String text, int count) throws InterruptedException {
        if (host.command().awaitLine(text, count, Limit.WAIT) == null) {
            throw new AssertionError("not " + count + " lines with '" + text + "':\n" + host.diagnosis());
        }
    }

    private void load(Guest host) throws InterruptedException {
        int number = ++loads;
        host.enter(Guest.java(LoadProgram.class, SERVERS + " 200 " + number));
        await(host, "load " + number + ": all values are there", 1);
    }

    @Test
    void theCommandOfTheDocumentShowsIt() throws IOException, InterruptedException {
        Rxe.Finished demo =
                Rxe.command("bash", "-c", Document.RATIS.block("demo")).run();
        assertThat(demo.status()).as(demo.toString()).isZero();
        assertThat(demo.out())
                .contains(" is killed, after ")
                .containsPattern("all [0-9,]+ acknowledged values are there\n$");
    }

    @Test
    void noAcknowledgedValueIsLost() throws IOException, InterruptedException {
        try (Guest first = Guest.boot(link, 1, "sh");
                Guest second = Guest.boot(link, 2, "sh")) {
            startServer(first, "a", 1);
            startServer(first, "b", 1);
            startServer(second, "c", 1);
            load(first);
            second.enter(FAULT + "loss 2%");
            load(first);
            load(second);
            second.enter(FAULT + "loss 100%");
            load(first);
            second.enter(FAULT + "loss 0%");
            load(second);
            // c, which has missed values, is now needed for a majority
            first.enter("kill -9 $a");
            load(first);
            load(second);
            first.enter("exit");
            second.enter("exit");
            assertThat(second.command().awaitEnd().status()).isZero();
        }
    }
}
