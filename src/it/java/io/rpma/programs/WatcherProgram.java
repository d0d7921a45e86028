// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.programs;

import io.rpma.RpmaConn;
import io.rpma.RpmaConnEvent;
import io.rpma.RpmaConnReq;
import io.rpma.RpmaEventLoop;
import io.rpma.RpmaPeer;
import io.rpma.rdmacm.RdmaConnParam;
import io.rpma.rdmacm.RdmaEventType;
import io.rpma.rdmacm.RdmaId;
import io.rpma.rdmacm.RdmaPortSpace;
import io.rpma.rdmacm.RdmaQpInitAttr;
import io.rpma.testing.Limit;
import io.rpma.testing.Pair;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;

/**
 * Connects to another host by librpma and by librdmacm, posts nothing, and prints when a loop notices that the host is
 * gone.
 */
public final class WatcherProgram {
    public static final String WATCHING = "watching";
    public static final String LOST = "lost: ";
    public static final String CLOSED = "closed after ";

    /** The maximum time until the loop notices that the other host is gone. */
    public static final long MOST_S = 6;

    private static final long PERIOD_S = 1;
    private static final long LIMIT_S = MOST_S - 2 * PERIOD_S;

    private static final int MILLIS = 20_000;

    private int lost;

    private WatcherProgram() {}

    /**
     * @param arguments the address, and the ports of two instances of {@link TargetProgram}
     */
    public static void main(String[] arguments) throws InterruptedException {
        String address = arguments[0];
        long closing;
        try (RpmaEventLoop loop = RpmaEventLoop.create();
                RpmaPeer peer = RpmaPeer.create(SurvivorProgram.deviceTo(address));
                RpmaConn conn = RpmaConnReq.create(peer, address, Integer.parseInt(arguments[1]), null)
                        .connect();
                RdmaId id = RdmaId.create(RdmaPortSpace.TCP)) {
            Pair.assertEvent(RpmaConnEvent.ESTABLISHED, conn);
            connect(id, new InetSocketAddress(address, Integer.parseInt(arguments[2])));
            new WatcherProgram().watch(loop, conn, id);
            closing = System.nanoTime();
        }
        System.out.println(CLOSED + TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - closing) + " ms");
    }

    private static void connect(RdmaId id, InetSocketAddress address) throws InterruptedException {
        id.resolveAddr(null, address, MILLIS);
        id.awaitEvent(RdmaEventType.ADDR_RESOLVED, Limit.WAIT_S, TimeUnit.SECONDS);
        id.resolveRoute(MILLIS);
        id.awaitEvent(RdmaEventType.ROUTE_RESOLVED, Limit.WAIT_S, TimeUnit.SECONDS);
        id.createQp(new RdmaQpInitAttr().maxSendWr(1).maxRecvWr(1));
        id.connect(new RdmaConnParam());
        id.awaitEvent(RdmaEventType.ESTABLISHED, Limit.WAIT_S, TimeUnit.SECONDS);
    }

    private void watch(RpmaEventLoop loop, RpmaConn conn, RdmaId id) throws InterruptedException {
        loop.onCompletion(conn.getCq(), 1, (cq, completions) -> unexpected(completions));
        id.qp().onSendComp(loop, 1, WatcherProgram::unexpected);
        loop.onPeerLost(conn, PERIOD_S, LIMIT_S, TimeUnit.SECONDS, source -> lost(loop, source));
        id.qp().onPeerLost(loop, PERIOD_S, LIMIT_S, TimeUnit.SECONDS, source -> lost(loop, source));
        // after this time, a check that gets no answers would have called its handler
        loop.schedule(() -> System.out.println(WATCHING), MOST_S, TimeUnit.SECONDS);
        loop.run();
    }

    private static void unexpected(Object completions) {
        throw new AssertionError(completions);
    }

    private void lost(RpmaEventLoop loop, Object source) {
        System.out.println(LOST + source);
        if (++lost == 2) {
            loop.stop();
        }
    }
}
