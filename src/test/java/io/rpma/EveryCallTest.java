package io.rpma;

import static io.rpma.testing.EveryCall.Outcome.FAILS;
import static io.rpma.testing.EveryCall.Outcome.FAILS_WITHOUT_CAUSE;
import static io.rpma.testing.EveryCall.Outcome.OUT_OF_MEMORY;
import static io.rpma.testing.EveryCall.Outcome.SUCCEEDS;
import static io.rpma.testing.EveryCall.Outcome.TIMES_OUT;

import io.rpma.testing.EveryCall;
import io.rpma.testing.EveryCall.Session;
import io.rpma.testing.Interposer;
import io.rpma.testing.Interposer.Action;
import io.rpma.testing.Pair;
import io.rpma.testing.Regions;
import io.rpma.testing.RpmaSession;
import io.rpma.testing.RpmaSession.Kind;
import io.rpma.testing.StandIn;
import io.rpma.testing.TestDevice;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Each call that librpma and the shim make in sessions of {@code io.rpma} fails once, takes longer once and loses its event once. */
@Tag("stand-in")
@Timeout(120)
class EveryCallTest {
    private static final int TIMEOUT_MS = 5_000;
    /** Long enough for the stand-in, whose events are immediate. */
    private static final int LOST_TIMEOUT_MS = 200;

    private static final UnaryOperator<String> ID = failure -> "1 id";
    /** The message reports a leak after the acceptance. Before it, the request is rejected. */
    private static final UnaryOperator<String> ACCEPTANCE =
            failure -> failure.contains("librpma has leaked the id and a descriptor")
                    ? "1 id, 1 CM id of the device, 1 event channel of the device"
                    : "1 id";

    private static final String AFTER_REJECTION = "(server: rpma_conn_req_delete|client: rpma_conn_next_event"
            + "|client: rpma_conn_delete|server: rpma_ep_shutdown|rpma_peer_delete)";
    /** Posts and polls, which need the memory of the thread. */
    private static final String POSTS_AND_POLLS =
            "rpma_(conn_req_recv|srq_recv|read|write|flush|atomic_write|send|send_with_imm|recv|cq_get_wc)";

    private static final String IGNORED = "librpma ignores the failure";
    private static final String LEAKED = "librpma leaks the id of the request";
    private static final String NO_CAUSE = "librpma does not report the cause";
    private static final String NO_MESSAGES =
            "librpma's messages would be lost; the next call of the thread tries again";
    private static final String NO_MAXIMUM = "the largest message of the device is unknown, so lengths are not checked";

    @BeforeEach
    void redirect() {
        RpmaDevice.local(TestDevice.address());
        Interposer.redirect();
    }

    private static EveryCall everyCall(String name) {
        return new EveryCall("rpma-" + name, EveryCallTest::connect, StandIn::alive);
    }

    /** Makes a connection, and writes once. */
    private static AutoCloseable connect() throws Exception {
        Pair pair = Pair.connect();
        try (Regions regions = new Regions(pair.peer, 4096)) {
            Pair.assertPosted(
                    pair.client.write(regions.remote, 0, regions.local, 0, 8, RpmaConn.F_COMPLETION_ALWAYS, 1));
            Pair.assertDone(pair.client, 1);
        }
        return pair;
    }

    private static void runAll(EveryCall calls, int timeoutMs, Action action, Predicate<Interposer.Call> fits)
            throws Exception {
        for (Kind kind : Kind.values()) {
            String leaks = kind == Kind.REJECTED ? "1 id" : "";
            calls.run(new Session(kind.name(), new RpmaSession(kind, timeoutMs), leaks, false), action, fits);
        }
    }

    @Test
    void aCallFails() throws Exception {
        try (EveryCall calls = everyCall("failures")) {
            calls.except(".*librpma rdma_destroy_id . at .*rpma_utils_get_ibv_context", SUCCEEDS, IGNORED)
                    .except(".*shim ibv_query_(device 3|port 1) at rpma_peer_new.*", SUCCEEDS, NO_MAXIMUM)
                    .except(".*shim mmap . at mmap", OUT_OF_MEMORY, "documented for a mapping")
                    .except(".*shim munmap . at server: rpma_conn_req_connect", SUCCEEDS, "the page is not in use")
                    .except(".*shim calloc . in thread 2 .*", SUCCEEDS, NO_MESSAGES)
                    .except(".*device poll_cq .*", FAILS_WITHOUT_CAUSE, NO_CAUSE)
                    .exceptWithLeaks("REJECTED: librpma munmap .*", FAILS_WITHOUT_CAUSE, ID, NO_CAUSE)
                    .except(".*librpma munmap .*", FAILS_WITHOUT_CAUSE, NO_CAUSE)
                    .except(".*librpma rdma_get_cm_event . at server: rpma_ep_next_conn_req", FAILS, "")
                    // the memory of the request, after whose failure librpma destroys the id
                    .except(".*librpma malloc (24|18) at server: rpma_ep_next_conn_req", FAILS, "")
                    .exceptWithLeaks(".* at server: rpma_ep_next_conn_req", FAILS, ID, LEAKED)
                    .exceptWithLeaks(".* at server: rpma_conn_req_connect", FAILS, ACCEPTANCE, LEAKED)
                    .exceptWithLeaks("REJECTED: .* at " + AFTER_REJECTION, FAILS, ID, LEAKED);
            runAll(calls, TIMEOUT_MS, Action.FAIL, Interposer.Call::canFail);
        }
    }

    @Test
    void theFirstCallOfAThreadHasNoMemory() throws Exception {
        try (EveryCall calls = everyCall("first-calls")) {
            calls.except(".*" + POSTS_AND_POLLS, FAILS, "")
                    .except(".*shim malloc .*", FAILS, "")
                    .except(".*", SUCCEEDS, NO_MESSAGES);
            calls.run(
                    new Session("OWN_CHANNELS", new RpmaSession(Kind.OWN_CHANNELS, TIMEOUT_MS), "", true),
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
                    .exceptWithLeaks(".* at server: rpma_ep_next_conn_req", TIMES_OUT, ID, "the event has an id")
                    .exceptWithLeaks("REJECTED: .*", TIMES_OUT, ID, LEAKED)
                    .except(
                            ".*librpma rdma_get_cm_event . at client: rpma_conn_next_event",
                            SUCCEEDS,
                            "TIMEWAIT_EXIT reports the end of the connection again")
                    .except(".*", TIMES_OUT, "");
            runAll(calls, LOST_TIMEOUT_MS, Action.LOSE, Interposer.Call::takesEvent);
        }
    }
}
