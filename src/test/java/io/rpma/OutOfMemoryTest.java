// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.programs.OutOfMemoryProgram;
import io.rpma.testing.Jvm;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** After an OutOfMemoryError at any point, all objects can be closed. */
@Tag("stand-in")
class OutOfMemoryTest {
    private static final int SESSIONS = Integer.getInteger("rpma.memory.sessions", 200);
    private static final Pattern RAN_OUT = Pattern.compile("ran out of memory: (\\d+)");

    @Test
    void allCanBeClosed() throws InterruptedException {
        long seed = Long.getLong("rpma.random.seed", new Random().nextLong());
        System.out.println("OutOfMemoryTest: " + SESSIONS + " sessions with -Drpma.random.seed=" + seed);
        Jvm.Finished finished = Jvm.likeThis()
                .options("-Xms24m", "-Xmx24m", "-XX:+UseSerialGC", "-XX:-UseTLAB")
                .run(OutOfMemoryProgram.class, Integer.toString(SESSIONS), Long.toString(seed));
        assertThat(finished.status()).as(finished.toString()).isZero();
        Matcher ranOut = RAN_OUT.matcher(finished.out());
        assertThat(ranOut.find()).as(finished.toString()).isTrue();
        // otherwise the sessions have too much memory or too little
        assertThat(Integer.parseInt(ranOut.group(1))).isBetween(SESSIONS / 4, SESSIONS - 1);
        assertThat(finished.out()).containsPattern("closed at once: [1-9]");
    }
}
