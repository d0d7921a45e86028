// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaMemory;
import io.rpma.RpmaWcStatus;
import io.rpma.rdmacm.RdmaAccess;
import io.rpma.rdmacm.RdmaAddrInfo;
import io.rpma.rdmacm.RdmaAh;
import io.rpma.rdmacm.RdmaConnParam;
import io.rpma.rdmacm.RdmaEvent;
import io.rpma.rdmacm.RdmaEventType;
import io.rpma.rdmacm.RdmaId;
import io.rpma.rdmacm.RdmaMr;
import io.rpma.rdmacm.RdmaPortSpace;
import io.rpma.rdmacm.RdmaQp;
import io.rpma.rdmacm.RdmaSrq;
import io.rpma.testing.EveryCall.Outcome;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;

/** Sessions of {@code io.rpma.rdmacm} in which both sides use all objects and kinds of operations. */
public final class RdmaSession implements Steps.Session {
    /** What the sides do. */
    public enum Kind {
        /** The client resolves the address by calls, and each side has its own receive queue. */
        OWN_QUEUES,
        /** The client is made from the information about the address, and the server has a shared receive queue. */
        SHARED_QUEUE,
        /** The server rejects the client. */
        REJECTED,
        /** The client sends datagrams. */
        DATAGRAMS
    }

    private static final int SIZE = 4096;
    private static final int SIGNALED = RdmaQp.F_SIGNALED;

    private static final String NO_MAXIMUM = "the largest message of the device is unknown, so lengths are not checked";

    private static final String RECEIVED = "rdma_get_recv_comp|ibv_poll_cq";

    private static final int RESOLUTION_MS = (int) TimeUnit.SECONDS.toMillis(Limit.WAIT_S);

    private final Kind kind;
    private Steps steps;

    public RdmaSession(Kind kind) {
        this.kind = kind;
    }

    /** Lists the outcomes of failures that are not the usual outcome. */
    public static EveryCall listFailures(EveryCall calls) {
        return calls.except(".*shim mmap .* at mmap", Outcome.OUT_OF_MEMORY, "documented for a mapping")
                .except(".*shim rdma_ack_cm_event .*", Outcome.SUCCEEDS, "librdmacm fails only without an event")
                .except(".*shim ibv_query_(device|port) .* at .*ibv_reg_mr", Outcome.SUCCEEDS, NO_MAXIMUM)
                .except(".*device poll_cq .*", Outcome.FAILS_WITHOUT_CAUSE, "the result of a poll is not an errno");
    }

    /** Makes a connection, and writes once. */
    public static AutoCloseable connect() throws Exception {
        RdmaPair pair = RdmaPair.connect();
        Pair.assertPosted(pair.client
                .qp()
                .postWrite(pair.clientMr, 0, 8, RdmaQp.F_SIGNALED, pair.serverMr.address(), pair.serverMr.rkey(), 1));
        RdmaPair.sent(pair.client.qp(), 1);
        return pair;
    }

    @Override
    public void run(Steps of) throws Exception {
        steps = of;
        int port = TestDevice.port();
        RdmaId listener = listener(port);
        RdmaId client = kind == Kind.SHARED_QUEUE ? made(port) : resolved(port);
        steps.make("client: rdma_connect", () -> client.connect(new RdmaConnParam()));
        RdmaId server = steps.open(
                "server: rdma_get_request",
                "server: rdma_destroy_id",
                () -> steps.awaitOne(ms -> listener.getRequest(ms, TimeUnit.MILLISECONDS), "no request"));
        if (kind == Kind.REJECTED) {
            steps.make("server: rdma_reject", () -> server.reject(new byte[] {1}));
            event("client: ", client, RdmaEventType.REJECTED);
            return;
        }
        RdmaSrq shared =
                kind == Kind.SHARED_QUEUE ? steps.take("server: rdma_create_srq", () -> server.createSrq(4, 1)) : null;
        steps.take(
                "server: rdma_create_qp", () -> server.createQp(RdmaPair.attr().srq(shared)));
        RdmaMr local = region("client: ", client);
        RdmaMr target = region("server: ", server);
        if (shared == null) {
            steps.make(
                    "server: rdma_post_recv",
                    () -> Pair.assertPosted(server.qp().postRecv(target, 0, 128, 1)));
        } else {
            steps.make("server: rdma_post_recv", () -> Pair.assertPosted(shared.postRecv(target, 0, 128, 1)));
        }
        steps.make("server: rdma_accept", () -> server.accept(new RdmaConnParam()));
        RdmaEvent established = event("client: ", client, RdmaEventType.ESTABLISHED);
        if (kind == Kind.DATAGRAMS) {
            datagram(client, server, local, target, established);
            return;
        }
        event("server: ", server, RdmaEventType.ESTABLISHED);
        transfer(client, server, local, target);
        steps.make("client: rdma_disconnect", client::disconnect);
        event("server: ", server, RdmaEventType.DISCONNECTED);
        steps.make("server: rdma_disconnect", server::disconnect);
        event("client: ", client, RdmaEventType.DISCONNECTED);
    }

    private RdmaPortSpace portSpace() {
        return kind == Kind.DATAGRAMS ? RdmaPortSpace.UDP : RdmaPortSpace.TCP;
    }

    private RdmaId listener(int port) throws Exception {
        RdmaId listener =
                steps.open("server: rdma_create_id", "server: rdma_destroy_id", () -> RdmaId.create(portSpace()));
        steps.make("server: rdma_set_option", () -> listener.setReuseAddr(false));
        steps.make("server: rdma_bind_addr", () -> listener.bindAddr(RdmaPair.address(port)));
        steps.make("server: rdma_listen", () -> listener.listen(0));
        return listener;
    }

    private RdmaId resolved(int port) throws Exception {
        RdmaId client =
                steps.open("client: rdma_create_id", "client: rdma_destroy_id", () -> RdmaId.create(portSpace()));
        steps.make("client: rdma_resolve_addr", () -> client.resolveAddr(null, RdmaPair.address(port), RESOLUTION_MS));
        event("client: ", client, RdmaEventType.ADDR_RESOLVED);
        steps.make("client: rdma_resolve_route", () -> client.resolveRoute(RESOLUTION_MS));
        event("client: ", client, RdmaEventType.ROUTE_RESOLVED);
        steps.take("client: rdma_create_qp", () -> client.createQp(RdmaPair.attr()));
        return client;
    }

    private RdmaId made(int port) throws Exception {
        RdmaAddrInfo info = steps.open(
                "client: rdma_getaddrinfo",
                "client: rdma_freeaddrinfo",
                () -> RdmaAddrInfo.active(TestDevice.address(), port, portSpace()));
        return steps.open(
                "client: rdma_create_ep|rdma_create_qp",
                "client: rdma_destroy_id",
                () -> RdmaId.createEp(info, RdmaPair.attr()));
    }

    private RdmaMr region(String side, RdmaId id) throws Exception {
        RpmaMemory memory = steps.open("mmap", "munmap", () -> RpmaMemory.allocate(SIZE));
        return steps.open(
                side + "ibv_reg_mr", side + "rdma_dereg_mr", () -> RdmaMr.reg(id, memory, RdmaAccess.values()));
    }

    private RdmaEvent event(String side, RdmaId id, RdmaEventType expected) throws Exception {
        return steps.take(side + "rdma_get_cm_event", () -> {
            RdmaEvent event = steps.awaitOne(ms -> id.nextEvent(ms, TimeUnit.MILLISECONDS), "no event");
            assertEquals(expected, event.type());
            return event;
        });
    }

    private void transfer(RdmaId client, RdmaId server, RdmaMr local, RdmaMr target) throws Exception {
        RdmaQp qp = client.qp();
        long address = target.address();
        int key = target.rkey();
        steps.make(
                "client: rdma_post_write|ibv_post_send",
                () -> Pair.assertPosted(qp.postWrite(local, 0, 64, SIGNALED, address, key, 2)));
        sent("client: ", qp, 2);
        steps.make(
                "client: rdma_post_read|ibv_post_send",
                () -> Pair.assertPosted(qp.postRead(local, 0, 64, SIGNALED, address, key, 3)));
        sent("client: ", qp, 3);
        steps.make(
                "client: ibv_post_send",
                () -> Pair.assertPosted(qp.postFetchAndAdd(local, 0, SIGNALED, address, key, 1, 4)));
        sent("client: ", qp, 4);
        // the completion arrives while a thread waits for its event
        Callable<RpmaCompletions> received = steps.beginWait("server: " + RECEIVED, () -> takeReceived(server.qp(), 1));
        steps.make(
                "client: rdma_post_send|ibv_post_send", () -> Pair.assertPosted(qp.postSend(local, 0, 8, SIGNALED, 5)));
        sent("client: ", qp, 5);
        received.call();
        steps.make("client: rdma_post_recv", () -> Pair.assertPosted(qp.postRecv(local, 0, 64, 6)));
        steps.make(
                "server: rdma_post_send|ibv_post_send",
                () -> Pair.assertPosted(server.qp().postSend(target, 0, 8, SIGNALED, 7)));
        sent("server: ", server.qp(), 7);
        received("client: ", qp, 6);
        steps.make("client: rdma_post_recv", () -> Pair.assertPosted(qp.postRecv(local, 0, 64, 8)));
    }

    private void datagram(RdmaId client, RdmaId server, RdmaMr local, RdmaMr target, RdmaEvent established)
            throws Exception {
        RdmaAh there =
                steps.open("client: ibv_create_ah", "client: ibv_destroy_ah", () -> client.createAh(established));
        steps.make(
                "client: rdma_post_ud_send|ibv_post_send",
                () -> Pair.assertPosted(client.qp().postUdSend(local, 0, 8, SIGNALED, there, established.qpNum(), 2)));
        sent("client: ", client.qp(), 2);
        RpmaCompletions received = received("server: ", server.qp(), 1);
        steps.open(
                "server: ibv_create_ah_from_wc",
                "server: ibv_destroy_ah",
                () -> server.createAh(received, 0, target, 0));
    }

    private RpmaCompletions sent(String side, RdmaQp qp, long context) throws Exception {
        return steps.take(side + "rdma_get_send_comp|ibv_poll_cq", () -> {
            RpmaCompletions completions = RpmaCompletions.create(1);
            steps.await(ms -> qp.getSendComp(completions, ms, TimeUnit.MILLISECONDS) != 0);
            return checked(completions, context);
        });
    }

    private RpmaCompletions received(String side, RdmaQp qp, long context) throws Exception {
        return steps.take(side + RECEIVED, () -> takeReceived(qp, context));
    }

    private RpmaCompletions takeReceived(RdmaQp qp, long context) throws InterruptedException {
        RpmaCompletions completions = RpmaCompletions.create(1);
        steps.await(ms -> qp.getRecvComp(completions, ms, TimeUnit.MILLISECONDS) != 0);
        return checked(completions, context);
    }

    private static RpmaCompletions checked(RpmaCompletions completions, long context) {
        assertEquals(1, completions.count(), "no completion");
        assertEquals(context, completions.wrId(0));
        assertEquals(RpmaWcStatus.SUCCESS, completions.status(0));
        return completions;
    }
}
