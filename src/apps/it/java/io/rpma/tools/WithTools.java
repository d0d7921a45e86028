// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools;

import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.testing.Jvm;
import io.rpma.testing.TestDevice;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** A test that runs commands of the tools, each in a JVM of its own. */
public abstract class WithTools {
    /** The address of the device. */
    protected String address;

    /** A free port. The next port is free too. */
    protected String port;

    private final List<Jvm.Running> started = new ArrayList<>();

    @BeforeEach
    void prepare() {
        address = TestDevice.address();
        port = Integer.toString(TestDevice.ports(2));
    }

    @AfterEach
    void end() {
        started.forEach(Jvm.Running::close);
    }

    /** Starts a command. */
    protected final Jvm.Running start(String... arguments) {
        return start(Jvm.ofTools(), arguments);
    }

    /** Starts a command in a JVM that the test has prepared. */
    protected final Jvm.Running start(Jvm jvm, String... arguments) {
        Jvm.Running running = jvm.start(arguments);
        started.add(running);
        return running;
    }

    /** Waits for the end of a command, and asserts its status. */
    protected static Jvm.Finished assertEnds(Jvm.Running running, int status) throws InterruptedException {
        Jvm.Finished end = running.awaitEnd();
        assertThat(end.status()).as(end.toString()).isEqualTo(status);
        return end;
    }
}
