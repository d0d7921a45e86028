package io.rpma.tools;

import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.testing.Jvm;
import io.rpma.testing.TestDevice;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** A test that runs commands of the tools, each in a JVM of its own. */
abstract class WithTools {
    /** The address of the device. */
    protected String address;

    /** A free port. */
    protected String port;

    private final List<Jvm.Running> started = new ArrayList<>();

    @BeforeEach
    void prepare() {
        address = TestDevice.address();
        port = Integer.toString(TestDevice.port());
    }

    @AfterEach
    void end() {
        started.forEach(Jvm.Running::close);
    }

    /** Starts a command. */
    protected final Jvm.Running start(String... arguments) {
        Jvm.Running running = Jvm.ofTools().start(arguments);
        started.add(running);
        return running;
    }

    /** Waits for the end of a command, and asserts its status. */
    protected static Jvm.Finished assertEnds(Jvm.Running running, int status) throws InterruptedException {
        Jvm.Finished end = running.awaitEnd();
        assertThat(end.status()).as(end.toString()).isEqualTo(status);
        return end;
    }

    /** Sends a signal to a command. */
    protected static void signal(String name, Jvm.Running running) throws IOException, InterruptedException {
        new ProcessBuilder("kill", "-" + name, Long.toString(running.process().pid()))
                .start()
                .waitFor();
    }
}
