// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import io.rpma.testing.EveryCall;
import io.rpma.testing.EveryCall.Session;
import io.rpma.testing.Interposer;
import io.rpma.testing.Interposer.Action;
import io.rpma.testing.RdmaSession;
import io.rpma.testing.RpmaSession;
import io.rpma.testing.TestDevice;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Each call that librpma and the shim make in a session fails once, on a device. */
@Tag("soak")
class EveryCallIT {

    /** A wait can find a completion before, while or after it asks for an event, and need not block. */
    private static final String TIMED = "poll|poll_cq|req_notify_cq|ibv_get_cq_event";

    @BeforeEach
    void redirect() {
        RpmaDevice.local(TestDevice.address());
        Interposer.redirect();
    }

    private static String channels() {
        try (Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"))) {
            return descriptors.filter(EveryCallIT::isChannel).count() + " event channel";
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static boolean isChannel(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).endsWith("rdma_cm");
        } catch (IOException e) {
            return false; // closed meanwhile
        }
    }

    @Test
    void rpma() throws Exception {
        EveryCall device = new EveryCall("rpma-device", RpmaSession::connect, EveryCallIT::channels).mayMiss(TIMED);
        try (EveryCall calls = RpmaSession.listFailures(device)) {
            RpmaSession.Kind kind = RpmaSession.Kind.OWN_CHANNELS;
            calls.run(new Session(kind.name(), new RpmaSession(kind), false), Action.FAIL, Interposer.Call::canFail);
        }
    }

    @Test
    void rdmacm() throws Exception {
        EveryCall device = new EveryCall("rdmacm-device", RdmaSession::connect, EveryCallIT::channels).mayMiss(TIMED);
        try (EveryCall calls = RdmaSession.listFailures(device)) {
            RdmaSession.Kind kind = RdmaSession.Kind.OWN_QUEUES;
            calls.run(new Session(kind.name(), new RdmaSession(kind), false), Action.FAIL, Interposer.Call::canFail);
        }
    }
}
