// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.rdmacm;

import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.programs.RdmaOptionsProgram;
import io.rpma.testing.Jvm;
import io.rpma.testing.Posts;
import io.rpma.testing.TestDevice;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The attributes that queue pairs get from the options of their ids. */
@Tag("processes")
@Tag("unsanitized")
class RdmaQpAttributesIT {
    private static final int CONNECTIONS = 3;

    private static Jvm.Finished finished;

    @BeforeAll
    static void run() throws InterruptedException {
        Jvm jvm = Jvm.likeThis().options("-Drpma.address=" + TestDevice.address(), TestDevice.portsOption(CONNECTIONS));
        finished = Posts.print(jvm, 0).run(RdmaOptionsProgram.class);
        assertThat(finished.status()).as(finished.toString()).isZero();
    }

    /** Returns an attribute of the queue pair of an id of {@link RdmaOptionsProgram}. */
    private static int attribute(String id, String name) {
        String start = number(id + " ", finished.out().lines().toList()) + " " + name + " ";
        return number(start, Posts.attributes(finished));
    }

    private static int number(String start, List<String> lines) {
        List<String> found =
                lines.stream().filter(line -> line.startsWith(start)).toList();
        assertThat(found).as(finished.toString()).hasSize(1);
        return Integer.parseInt(found.get(0).substring(start.length()));
    }

    @Test
    void bothSidesHaveTheTrafficClassOfTheClient() {
        assertThat(attribute("early client", "traffic class")).isEqualTo(RdmaOptionsProgram.TOS);
        assertThat(attribute("early server", "traffic class")).isEqualTo(RdmaOptionsProgram.TOS);
        assertThat(attribute("none client", "traffic class")).isNotEqualTo(RdmaOptionsProgram.TOS);
        assertThat(attribute("none server", "traffic class")).isNotEqualTo(RdmaOptionsProgram.TOS);
    }

    @Test
    void eachSideHasItsTimeout() {
        assertThat(attribute("late client", "timeout")).isEqualTo(RdmaOptionsProgram.LATE);
        assertThat(attribute("late server", "timeout")).isEqualTo(RdmaOptionsProgram.OF_SERVER);
    }

    @Test
    void theTimeoutOfTheRouteIsForBothSides() {
        assertThat(attribute("early client", "timeout")).isEqualTo(RdmaOptionsProgram.EARLY);
        assertThat(attribute("early server", "timeout")).isEqualTo(RdmaOptionsProgram.EARLY);
    }

    @Test
    void withoutTheOptionTheTimeoutIsThatOfTheSystem() {
        assertThat(attribute("none client", "timeout")).isBetween(2, RdmaOptionsProgram.EARLY - 1);
        assertThat(attribute("none server", "timeout")).isBetween(2, RdmaOptionsProgram.EARLY - 1);
    }
}
