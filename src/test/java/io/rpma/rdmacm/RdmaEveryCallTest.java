// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.rdmacm;

import static io.rpma.testing.EveryCall.Outcome.SUCCEEDS;
import static io.rpma.testing.EveryCall.Outcome.TIMES_OUT;

import io.rpma.RpmaDevice;
import io.rpma.testing.EveryCall;
import io.rpma.testing.EveryCall.Session;
import io.rpma.testing.Interposer;
import io.rpma.testing.Interposer.Action;
import io.rpma.testing.RdmaSession;
import io.rpma.testing.RdmaSession.Kind;
import io.rpma.testing.StandIn;
import io.rpma.testing.TestDevice;
import java.io.IOException;
import java.util.function.Predicate;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Each call that the shim makes in sessions of {@code io.rpma.rdmacm} fails once, takes longer once and loses its event
 * once.
 */
@Tag("stand-in")
class RdmaEveryCallTest {

    @BeforeEach
    void redirect() {
        RpmaDevice.local(TestDevice.address());
        Interposer.redirect();
    }

    private static EveryCall everyCall(String name) throws IOException {
        return new EveryCall("rdmacm-" + name, RdmaSession::connect, StandIn::alive);
    }

    private static void runAll(EveryCall calls, Action action, Predicate<Interposer.Call> fits) throws Exception {
        for (Kind kind : Kind.values()) {
            calls.run(new Session(kind.name(), new RdmaSession(kind), false), action, fits);
        }
    }

    @Test
    void aCallFails() throws Exception {
        try (EveryCall calls = RdmaSession.listFailures(everyCall("failures"))) {
            runAll(calls, Action.FAIL, Interposer.Call::canFail);
        }
    }

    @Test
    void theFirstCallOfAThreadHasNoMemory() throws Exception {
        try (EveryCall calls = everyCall("first-calls")) {
            calls.run(
                    new Session("OWN_QUEUES", new RdmaSession(Kind.OWN_QUEUES), true),
                    Action.FAIL,
                    call -> call.caller().equals("shim") && call.function().endsWith("alloc"));
        }
    }

    @Test
    void aCallTakesLonger() throws Exception {
        try (EveryCall calls = everyCall("delays")) {
            runAll(calls, Action.DELAY, call -> true);
        }
    }

    @Test
    void anEventIsLost() throws Exception {
        try (EveryCall calls = everyCall("lost-events")) {
            calls.except(".* ibv_get_cq_event .*", SUCCEEDS, "the completion is found without the event")
                    .except(".*", TIMES_OUT, "");
            runAll(calls, Action.LOSE, Interposer.Call::takesEvent);
        }
    }
}
