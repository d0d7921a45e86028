// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaConn;
import io.rpma.RpmaConnCfg;
import io.rpma.RpmaConnEvent;
import io.rpma.RpmaConnReq;
import io.rpma.RpmaCq;
import io.rpma.RpmaDevice;
import io.rpma.RpmaEp;
import io.rpma.RpmaEventLoop;
import io.rpma.RpmaFlushType;
import io.rpma.RpmaMemory;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrRemote;
import io.rpma.RpmaPeer;
import io.rpma.RpmaSrq;
import io.rpma.RpmaSrqCfg;
import io.rpma.RpmaWcStatus;
import io.rpma.testing.EveryCall.Outcome;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;

/** Sessions of {@code io.rpma} in which both sides use all objects and operations. */
public final class RpmaSession implements Steps.Session {
    private static final int ALWAYS = RpmaConn.F_COMPLETION_ALWAYS;
    private static final int SIZE = 4096;
    private static final String EVENT = "rpma_conn_next_event";

    /** What the sides do. */
    public enum Kind {
        /** Each queue has its own channel. The client has its own receive queue, and the server a shared one. */
        OWN_CHANNELS,
        /** The queues of each side share a channel. */
        SHARED_CHANNEL,
        /** The server rejects the client. */
        REJECTED
    }

    private static final String IGNORED = "librpma ignores the failure";
    private static final String NO_CAUSE = "librpma does not report the cause";
    private static final String NO_MAXIMUM = "the largest message of the device is unknown, so lengths are not checked";
    private static final String NO_MESSAGES =
            "librpma's messages would be lost; the next call of the thread tries again";

    private final boolean shared;
    private final boolean rejected;
    private Steps steps;
    private RpmaPeer peer;
    private RpmaMrLocal local;
    private RpmaMrLocal target;
    private RpmaMrRemote remote;
    private RpmaSrq srq;

    public RpmaSession(Kind kind) {
        shared = kind == Kind.SHARED_CHANNEL;
        rejected = kind == Kind.REJECTED;
    }

    /** Lists the outcomes of failures that are not the usual outcome. */
    public static EveryCall listFailures(EveryCall calls) {
        return calls.except(".*librpma rdma_destroy_id .* at .*rpma_utils_get_ibv_context", Outcome.SUCCEEDS, IGNORED)
                .except(".*shim ibv_query_(device 3|port 1) .* at rpma_peer_new.*", Outcome.SUCCEEDS, NO_MAXIMUM)
                .except(".*shim mmap .* at mmap", Outcome.OUT_OF_MEMORY, "documented for a mapping")
                .except(".*shim calloc 1 in thread 2 .*", Outcome.SUCCEEDS, NO_MESSAGES)
                .except(".*device poll_cq .*", Outcome.FAILS_WITHOUT_CAUSE, NO_CAUSE)
                .except(
                        ".*shim rdma_destroy_id .* at server: rpma_conn_req_delete",
                        Outcome.SUCCEEDS,
                        "the request is gone")
                .except(".*librpma munmap .*", Outcome.FAILS_WITHOUT_CAUSE, NO_CAUSE);
    }

    /** Makes a connection, and writes once. */
    public static AutoCloseable connect() throws Exception {
        Pair pair = Pair.connect();
        try (Regions regions = new Regions(pair.peer, 4096)) {
            Pair.assertPosted(
                    pair.client.write(regions.remote, 0, regions.local, 0, 8, RpmaConn.F_COMPLETION_ALWAYS, 1));
            Pair.assertDone(pair.client, 1);
        }
        return pair;
    }

    @Override
    public void run(Steps of) throws Exception {
        steps = of;
        String address = TestDevice.address();
        RpmaDevice device = steps.take("rpma_utils_get_ibv_context", () -> RpmaDevice.local(address));
        if (!rejected) {
            steps.take("client: rpma_utils_get_ibv_context", () -> RpmaDevice.remote(address));
            steps.take("rpma_utils_ibv_context_is_odp_capable", device::isOdpCapable);
            steps.open("epoll_create1", "close", RpmaEventLoop::create);
        }
        peer = steps.open("rpma_peer_new|ibv_query_device_ex", "rpma_peer_delete", () -> RpmaPeer.create(device));
        if (!rejected) {
            describe(device);
            register();
        }
        int port = TestDevice.port();
        RpmaEp ep = steps.open(
                "server: rpma_ep_listen", "server: rpma_ep_shutdown", () -> RpmaEp.listen(peer, address, port));
        RpmaConnCfg cfg = cfg("client: ");
        RpmaConnReq outgoing = steps.open(
                "client: rpma_conn_req_new",
                "client: rpma_conn_req_delete",
                () -> RpmaConnReq.create(peer, address, port, cfg));
        if (!rejected) {
            steps.make("client: rpma_conn_req_recv", () -> Pair.assertPosted(outgoing.recv(local, 0, 8, 1)));
        }
        RpmaConn client = steps.open(
                "client: rpma_conn_req_connect", "client: rpma_conn_delete", () -> outgoing.connect(new byte[] {1}));
        RpmaConnCfg serverCfg = serverCfg();
        RpmaConnReq incoming = steps.open(
                "server: rpma_ep_next_conn_req",
                "server: rpma_conn_req_delete",
                () -> steps.awaitOne(ms -> ep.nextConnReq(serverCfg, ms, TimeUnit.MILLISECONDS), "no request"));
        if (rejected) {
            steps.make("server: rpma_conn_req_delete", incoming::close);
            event("client: ", client, RpmaConnEvent.REJECTED);
            return;
        }
        // the acceptance waits until the client has its answer
        Callable<RpmaConnEvent> established = steps.begin("client: " + EVENT, () -> next(client));
        RpmaConn server = steps.open(
                "server: rpma_conn_req_connect", "server: rpma_conn_delete", () -> incoming.connect(new byte[] {2}));
        assertEquals(RpmaConnEvent.ESTABLISHED, established.call());
        event("server: ", server, RpmaConnEvent.ESTABLISHED);
        transfer(client);
        exchange(client, server);
        disconnect(client, server);
    }

    private void describe(RpmaDevice device) throws Exception {
        steps.take("rdma_get_devices", RpmaDevice::list);
        steps.take("ibv_query_device_ex", device::limits);
        steps.take("ibv_query_device_ex|ibv_query_port|ibv_query_gid_table|rdma_bind_addr", device::ports);
    }

    private void register() throws Exception {
        RpmaMemory localMemory = steps.open("mmap", "munmap", () -> RpmaMemory.allocate(SIZE));
        RpmaMemory remoteMemory = steps.open("mmap", "munmap", () -> RpmaMemory.allocate(SIZE));
        local = steps.open("rpma_mr_reg", "rpma_mr_dereg", () -> peer.register(localMemory, Regions.ALL));
        target = steps.open("rpma_mr_reg", "rpma_mr_dereg", () -> peer.register(remoteMemory, Regions.ALL));
        remote = steps.open("rpma_mr_remote_from_descriptor", "rpma_mr_remote_delete", () -> Pair.remote(target));
        RpmaSrqCfg srqCfg = steps.open("rpma_srq_cfg_new", "rpma_srq_cfg_delete", RpmaSrqCfg::create);
        srqCfg.setRcqSize(shared ? 0 : 4);
        srq = steps.open("rpma_srq_new", "rpma_srq_delete", () -> RpmaSrq.create(peer, srqCfg));
    }

    private RpmaConnCfg cfg(String side) throws Exception {
        return steps.open(side + "rpma_conn_cfg_new", side + "rpma_conn_cfg_delete", RpmaConnCfg::create)
                .setRcqSize(4)
                .setComplChannel(shared);
    }

    private RpmaConnCfg serverCfg() throws Exception {
        RpmaConnCfg cfg = cfg("server: ");
        return rejected ? cfg : cfg.setSrq(srq);
    }

    private RpmaConnEvent next(RpmaConn conn) throws InterruptedException {
        return steps.awaitOne(ms -> conn.nextEvent(ms, TimeUnit.MILLISECONDS), "no event");
    }

    private void event(String side, RpmaConn conn, RpmaConnEvent expected) throws Exception {
        steps.take(side + EVENT, () -> {
            assertEquals(expected, next(conn));
            return null;
        });
    }

    /** Waits for one completion of the connection or, with its own channel, of a queue. */
    private void completion(String side, RpmaConn conn, RpmaCq cq, long wrId) throws Exception {
        steps.take(side + await(), () -> take(conn, cq, wrId));
    }

    private String await() {
        return (shared ? "rpma_conn_wait" : "rpma_cq_wait") + "|rpma_cq_get_wc";
    }

    private Void take(RpmaConn conn, RpmaCq cq, long wrId) throws InterruptedException {
        RpmaCompletions completions = RpmaCompletions.create(1);
        steps.await(ms -> {
            if (shared) {
                conn.await(completions, ms, TimeUnit.MILLISECONDS);
            } else {
                cq.await(completions, ms, TimeUnit.MILLISECONDS);
            }
            return completions.count() != 0;
        });
        assertEquals(1, completions.count(), "no completion");
        assertEquals(wrId, completions.wrId(0));
        assertEquals(RpmaWcStatus.SUCCESS, completions.status(0));
        return null;
    }

    private void transfer(RpmaConn client) throws Exception {
        RpmaCq cq = client.getCq();
        steps.make("client: rpma_write", () -> Pair.assertPosted(client.write(remote, 0, local, 0, 64, ALWAYS, 2)));
        completion("client: ", client, cq, 2);
        steps.make("client: rpma_read", () -> Pair.assertPosted(client.read(local, 0, remote, 0, 64, ALWAYS, 3)));
        completion("client: ", client, cq, 3);
        steps.make(
                "client: rpma_flush",
                () -> Pair.assertPosted(client.flush(remote, 0, 64, RpmaFlushType.VISIBILITY, ALWAYS, 4)));
        completion("client: ", client, cq, 4);
        steps.make("client: rpma_atomic_write", () -> Pair.assertPosted(client.atomicWrite(remote, 0, 42, ALWAYS, 5)));
        completion("client: ", client, cq, 5);
    }

    private void exchange(RpmaConn client, RpmaConn server) throws Exception {
        steps.make("server: rpma_srq_recv", () -> Pair.assertPosted(srq.recv(target, 0, 8, 6)));
        // the completion arrives while a thread waits for its event
        Callable<Void> received = steps.beginWait(
                "server: " + await(), () -> take(server, srq.getRcq().orElse(null), 6));
        steps.make("client: rpma_send", () -> Pair.assertPosted(client.send(local, 0, 8, ALWAYS, 7)));
        completion("client: ", client, client.getCq(), 7);
        received.call();
        steps.make(
                "server: rpma_send_with_imm", () -> Pair.assertPosted(server.sendWithImm(target, 0, 8, ALWAYS, 1, 8)));
        completion("server: ", server, server.getCq(), 8);
        completion("client: ", client, client.getRcq().orElseThrow(), 1);
        steps.make("client: rpma_recv", () -> Pair.assertPosted(client.recv(local, 0, 8, 9)));
    }

    private void disconnect(RpmaConn client, RpmaConn server) throws Exception {
        steps.make("client: rpma_conn_disconnect", client::disconnect);
        event("server: ", server, RpmaConnEvent.CLOSED);
        steps.make("server: rpma_conn_disconnect", server::disconnect);
        event("client: ", client, RpmaConnEvent.CLOSED);
    }
}
