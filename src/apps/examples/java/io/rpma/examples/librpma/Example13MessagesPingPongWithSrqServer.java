// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.librpma;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaConn;
import io.rpma.RpmaConnCfg;
import io.rpma.RpmaConnReq;
import io.rpma.RpmaCq;
import io.rpma.RpmaDevice;
import io.rpma.RpmaEp;
import io.rpma.RpmaPeer;
import io.rpma.RpmaSrq;
import io.rpma.RpmaWcOpcode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** Answers the messages of up to ten clients, which all use one shared receive queue. */
public final class Example13MessagesPingPongWithSrqServer implements AutoCloseable {
    private static final int CLIENTS = 10;
    private static final String TIMEOUT_S = "5";

    private final RpmaPeer peer;
    private final RpmaSrq srq;

    /** The memory of each receive. A message of any client arrives in the receive that was posted first. */
    private final List<Messages> messages = new ArrayList<>();

    private final List<RpmaConn> conns = new ArrayList<>();

    /**
     * The connections whose last message has not arrived, by the number of their queue pair, which completions contain.
     */
    private final Map<Integer, RpmaConn> playing = new HashMap<>();

    private Example13MessagesPingPongWithSrqServer(RpmaPeer peer, RpmaSrq srq) {
        this.peer = peer;
        this.srq = srq;
    }

    /**
     * Runs the example.
     *
     * @param args the address and the port to listen on, and the timeout for the next client, in seconds (default: 5)
     * @throws Exception if it fails
     */
    public static void main(String[] args) throws Exception {
        Common.start(args, 2, "13-messages-ping-pong-with-srq server <server_address> <port> [<timeout>]");
        long timeout = Common.number(Common.argument(args, 2, TIMEOUT_S));
        if (timeout <= 0) {
            Common.misused("<timeout> should be a positive number of seconds (" + timeout + " given)");
        }
        try (RpmaPeer peer = RpmaPeer.create(RpmaDevice.local(args[0]));
                RpmaSrq srq = RpmaSrq.create(peer, null);
                RpmaConnCfg cfg = RpmaConnCfg.create().setSrq(srq);
                RpmaEp ep = RpmaEp.listen(peer, args[0], Common.port(args[1]));
                Example13MessagesPingPongWithSrqServer server = new Example13MessagesPingPongWithSrqServer(peer, srq)) {
            Optional<RpmaConnReq> req = ep.nextConnReq(cfg, timeout, TimeUnit.SECONDS);
            while (req.isPresent()) {
                server.accept(req.get());
                req = ep.nextConnReq(cfg, timeout, TimeUnit.SECONDS);
            }
            Common.OUT.println("Server ended listening.");
            server.answerAll();
        }
    }

    private void accept(RpmaConnReq req) throws InterruptedException {
        if (conns.size() == CLIENTS) {
            System.err.println("No free slot for a new connection request.");
            req.close();
            return;
        }
        messages.add(new Messages(peer, PingPong.SIZE));
        recv(messages.size() - 1);
        RpmaConn conn = req.connect(Common.STARTING_S, TimeUnit.SECONDS);
        conns.add(conn);
        playing.put(conn.getQpNum(), conn);
        Common.OUT.println("The client #" + conns.size() + " has been connected.");
    }

    private void recv(int index) {
        messages.get(index).recv(srq, index);
    }

    private void answerAll() throws InterruptedException {
        RpmaCq rcq = srq.getRcq().orElseThrow();
        RpmaCompletions wc = RpmaCompletions.create(1);
        while (!playing.isEmpty()) {
            if (rcq.await(wc, 1, TimeUnit.SECONDS) > 0) {
                answer(wc);
            } else {
                checkConnected();
            }
        }
    }

    private void answer(RpmaCompletions wc) throws InterruptedException {
        if (!wc.isSuccess(0)) {
            throw new IllegalStateException(
                    "rpma_srq_recv() failed: " + wc.status(0).description());
        }
        int index = (int) wc.wrId(0);
        Messages received = messages.get(index);
        long value = PingPong.value(received.received(wc.byteLen(0)));
        RpmaConn conn = playing.get(wc.qpNum(0));
        if (conn == null) {
            System.err.println("A message after the last one of the connection [qp#" + wc.qpNum(0) + "]");
            recv(index); // the message took the receive of another client
            return;
        }
        if (value == PingPong.I_M_DONE) {
            playing.remove(wc.qpNum(0));
            return;
        }
        tell("received", value, wc.qpNum(0));
        recv(index);
        tell("sent", value + 1, wc.qpNum(0));
        received.send(conn, PingPong.bytes(value + 1));
        // The next message in this memory can be from another client, whose answer would overwrite this answer.
        Events.of(conn).await(RpmaWcOpcode.SEND);
    }

    private static void tell(String what, long value, int qpNum) {
        Common.OUT.println("[server] value " + what + ": " + Long.toUnsignedString(value) + " from the connection [qp#"
                + qpNum + "]");
    }

    /** Throws an exception if a client is gone, because no more messages come from it. */
    private void checkConnected() throws InterruptedException {
        for (RpmaConn conn : playing.values()) {
            if (conn.nextEvent(0, TimeUnit.SECONDS).isPresent()) {
                throw new IllegalStateException("Unable to receive data from all connections");
            }
        }
    }

    /** Disconnects the clients, each of which waits for the disconnection after its last message. */
    @Override
    public void close() {
        for (RpmaConn conn : conns) {
            conn.close();
        }
        for (Messages each : messages) {
            each.close();
        }
    }
}
