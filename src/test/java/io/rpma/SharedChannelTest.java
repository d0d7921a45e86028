// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rpma.testing.Limit;
import io.rpma.testing.Pair;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The order in which a connection takes the completions of its two queues. On the stand-in, an operation has completed
 * when its post returns. On a device, a program can't know when all completions have arrived.
 */
@Tag("stand-in")
class SharedChannelTest {
    private static final int EACH = 10;
    private static final int ALWAYS = RpmaConn.F_COMPLETION_ALWAYS;

    @Test
    void neitherQueueStarves() throws InterruptedException {
        RpmaCompletions completions = RpmaCompletions.create(1);
        try (RpmaConnCfg cfg = RpmaConnCfg.create()
                        .setSqSize(EACH)
                        .setRqSize(EACH)
                        .setCqSize(EACH)
                        .setRcqSize(EACH)
                        .setComplChannel(true);
                Pair pair = Pair.connect(cfg)) {
            RpmaConn conn = pair.server;
            RpmaCq rcq = conn.getRcq().orElseThrow();
            for (int i = 0; i < EACH; i++) {
                assertTrue(conn.recv(100 + i));
                assertTrue(pair.client.send(ALWAYS, i));
                assertTrue(conn.write(ALWAYS, i));
            }
            List<RpmaCq> order = new ArrayList<>();
            long nextWrite = 0;
            long nextReceive = 100;
            for (int i = 0; i < 2 * EACH; i++) {
                order.add(
                        conn.await(completions, Limit.WAIT_S, TimeUnit.SECONDS).orElseThrow());
                assertEquals(order.get(i) == rcq ? nextReceive++ : nextWrite++, completions.wrId(0));
            }
            for (int i = 2; i < order.size(); i++) {
                assertSame(order.get(i - 2), order.get(i), "the queues take turns: " + order);
            }
            assertEquals(EACH, Collections.frequency(order, rcq));
        }
    }
}
