// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static io.rpma.testing.EveryCall.Outcome.FAILS;
import static io.rpma.testing.EveryCall.Outcome.SUCCEEDS;
import static io.rpma.testing.EveryCall.Outcome.TIMES_OUT;

import io.rpma.testing.EveryCall;
import io.rpma.testing.EveryCall.Session;
import io.rpma.testing.Interposer;
import io.rpma.testing.Interposer.Action;
import io.rpma.testing.RpmaSession;
import io.rpma.testing.RpmaSession.Kind;
import io.rpma.testing.StandIn;
import io.rpma.testing.TestDevice;
import java.io.IOException;
import java.util.function.Predicate;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Each call that librpma and the shim make in sessions of {@code io.rpma} fails once, takes longer once and loses its
 * event once.
 */
@Tag("stand-in")
class EveryCallTest {

    /** Posts and polls, which need the memory of the thread. */
    private static final String POSTS_AND_POLLS =
            "rpma_(conn_req_recv|srq_recv|read|write|flush|atomic_write|send|send_with_imm|recv|cq_get_wc)";

    private static final String NO_MESSAGES =
            "librpma's messages would be lost; the next call of the thread tries again";

    @BeforeEach
    void redirect() {
        RpmaDevice.local(TestDevice.address());
        Interposer.redirect();
    }

    private static EveryCall everyCall(String name) throws IOException {
        return new EveryCall("rpma-" + name, RpmaSession::connect, StandIn::alive);
    }

    private static void runAll(EveryCall calls, Action action, Predicate<Interposer.Call> fits) throws Exception {
        for (Kind kind : Kind.values()) {
            calls.run(new Session(kind.name(), new RpmaSession(kind), false), action, fits);
        }
    }

    @Test
    void aCallFails() throws Exception {
        try (EveryCall calls = RpmaSession.listFailures(everyCall("failures"))) {
            runAll(calls, Action.FAIL, Interposer.Call::canFail);
        }
    }

    @Test
    void theFirstCallOfAThreadHasNoMemory() throws Exception {
        try (EveryCall calls = everyCall("first-calls")) {
            calls.except(".*" + POSTS_AND_POLLS, FAILS, "")
                    .except(".*shim malloc .*", FAILS, "")
                    .except(".*shim calloc .* after ibv_query_port at .*ibv_query_gid_table.*", FAILS, "")
                    .except(".*", SUCCEEDS, NO_MESSAGES);
            calls.run(
                    new Session("OWN_CHANNELS", new RpmaSession(Kind.OWN_CHANNELS), true),
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
                    .except("REJECTED: .*", TIMES_OUT, "")
                    .except(
                            ".*librpma rdma_get_cm_event . after .* at client: rpma_conn_next_event",
                            SUCCEEDS,
                            "TIMEWAIT_EXIT reports the end of the connection again")
                    .except(".*", TIMES_OUT, "");
            runAll(calls, Action.LOSE, Interposer.Call::takesEvent);
        }
    }
}
