// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.librpma;

import io.rpma.RpmaConn;
import io.rpma.RpmaConnCfg;
import io.rpma.RpmaCq;
import io.rpma.RpmaDevice;
import io.rpma.RpmaEp;
import io.rpma.RpmaPeer;
import io.rpma.RpmaSrq;
import io.rpma.RpmaSrqCfg;

/** Answers messages from a shared receive queue, which only one connection uses here. */
public final class Example08srqSimpleMessagesPingPongWithSrqServer {
    /** Receives complete in the shared queue's own completion queue. */
    private static final String SHARED = "s";

    /** Receives complete in the connection's completion queue, like all operations. */
    private static final String MAIN = "m";

    /** Receives complete in the connection's completion queue for receives. */
    private static final String RECEIVE = "r";

    private static final int RCQ_SIZE = 10;

    private Example08srqSimpleMessagesPingPongWithSrqServer() {}

    /**
     * Runs the example.
     *
     * @param args the address and the port to listen on, and the completion queue of receives: "m" for the connection's
     *     main completion queue, "r" for its receive completion queue; default: the shared receive queue's completion
     *     queue
     * @throws Exception if it fails
     */
    public static void main(String[] args) throws Exception {
        Common.start(args, 2, "08srq-simple-messages-ping-pong-with-srq server <server_address> <port> [m|r]");
        String where = Common.argument(args, 2, SHARED);
        if (args.length > 2 && !where.equals(MAIN) && !where.equals(RECEIVE)) {
            Common.misused("The third parameter should be one of m or r (" + where + " given)");
        }
        try (RpmaPeer peer = RpmaPeer.create(RpmaDevice.local(args[0]));
                RpmaSrq srq = srq(peer, where);
                RpmaConnCfg cfg = RpmaConnCfg.create().setSrq(srq).setRcqSize(where.equals(RECEIVE) ? RCQ_SIZE : 0);
                RpmaEp ep = RpmaEp.listen(peer, args[0], Common.port(args[1]));
                Messages messages = new Messages(peer, PingPong.SIZE)) {
            messages.recv(srq, 0);
            try (RpmaConn conn = Common.accept(ep, cfg, new byte[0])) {
                Events events = Events.of(conn, receives(srq, conn));
                new PingPong("Value", conn, events, messages).serve(() -> messages.recv(srq, 0));
                conn.disconnect();
            }
        }
    }

    private static RpmaSrq srq(RpmaPeer peer, String where) {
        try (RpmaSrqCfg cfg = RpmaSrqCfg.create()) {
            return RpmaSrq.create(peer, where.equals(SHARED) ? cfg : cfg.setRcqSize(0));
        }
    }

    /** Returns the shared receive queue's completion queue if there is one, otherwise the connection's. */
    private static RpmaCq receives(RpmaSrq srq, RpmaConn conn) {
        return srq.getRcq().or(conn::getRcq).orElse(conn.getCq());
    }
}
