package io.rpma.rdmacm;

import static io.rpma.testing.EveryCall.Outcome.FAILS_WITHOUT_CAUSE;
import static io.rpma.testing.EveryCall.Outcome.OUT_OF_MEMORY;
import static io.rpma.testing.EveryCall.Outcome.SUCCEEDS;
import static io.rpma.testing.EveryCall.Outcome.TIMES_OUT;

import io.rpma.RpmaDevice;
import io.rpma.testing.EveryCall;
import io.rpma.testing.EveryCall.Session;
import io.rpma.testing.Interposer;
import io.rpma.testing.Interposer.Action;
import io.rpma.testing.Pair;
import io.rpma.testing.RdmaPair;
import io.rpma.testing.RdmaSession;
import io.rpma.testing.RdmaSession.Kind;
import io.rpma.testing.StandIn;
import io.rpma.testing.TestDevice;
import java.util.function.Predicate;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Each call that the shim makes in sessions of {@code io.rpma.rdmacm} fails once, takes longer once and loses its event once. */
@Tag("stand-in")
@Timeout(120)
class RdmaEveryCallTest {
    private static final int TIMEOUT_MS = 5_000;
    /** Long enough for the stand-in, whose events are immediate. */
    private static final int LOST_TIMEOUT_MS = 200;

    private static final String NO_MAXIMUM = "the largest message of the device is unknown, so lengths are not checked";

    @BeforeEach
    void redirect() {
        RpmaDevice.local(TestDevice.address());
        Interposer.redirect();
    }

    private static EveryCall everyCall(String name) {
        return new EveryCall("rdmacm-" + name, RdmaEveryCallTest::connect, StandIn::alive);
    }

    /** Makes a connection, and writes once. */
    private static AutoCloseable connect() throws Exception {
        RdmaPair pair = RdmaPair.connect();
        Pair.assertPosted(pair.client
                .qp()
                .postWrite(pair.clientMr, 0, 8, RdmaQp.F_SIGNALED, pair.serverMr.address(), pair.serverMr.rkey(), 1));
        RdmaPair.sent(pair.client.qp(), 1);
        return pair;
    }

    private static void runAll(EveryCall calls, int timeoutMs, Action action, Predicate<Interposer.Call> fits)
            throws Exception {
        for (Kind kind : Kind.values()) {
            calls.run(new Session(kind.name(), new RdmaSession(kind, timeoutMs), "", false), action, fits);
        }
    }

    @Test
    void aCallFails() throws Exception {
        try (EveryCall calls = everyCall("failures")) {
            calls.except(".*shim mmap . at mmap", OUT_OF_MEMORY, "documented for a mapping")
                    .except(".*shim rdma_ack_cm_event .*", SUCCEEDS, "librdmacm fails only without an event")
                    .except(".*shim ibv_query_(device|port) . at .*ibv_reg_mr", SUCCEEDS, NO_MAXIMUM)
                    .except(".*device poll_cq .*", FAILS_WITHOUT_CAUSE, "the result of a poll is not an errno");
            runAll(calls, TIMEOUT_MS, Action.FAIL, Interposer.Call::canFail);
        }
    }

    @Test
    void theFirstCallOfAThreadHasNoMemory() throws Exception {
        try (EveryCall calls = everyCall("first-calls")) {
            calls.run(
                    new Session("OWN_QUEUES", new RdmaSession(Kind.OWN_QUEUES, TIMEOUT_MS), "", true),
                    Action.FAIL,
                    call -> call.caller().equals("shim") && call.function().endsWith("alloc"));
        }
    }

    @Test
    void aCallTakesLonger() throws Exception {
        try (EveryCall calls = everyCall("delays")) {
            runAll(calls, TIMEOUT_MS, Action.DELAY, call -> true);
        }
    }

    @Test
    void anEventIsLost() throws Exception {
        try (EveryCall calls = everyCall("lost-events")) {
            calls.except(".* ibv_get_cq_event .*", SUCCEEDS, "the completion is found without the event")
                    .except(".*", TIMES_OUT, "");
            runAll(calls, LOST_TIMEOUT_MS, Action.LOSE, Interposer.Call::takesEvent);
        }
    }
}
