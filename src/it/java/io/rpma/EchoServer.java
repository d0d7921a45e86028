// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rpma.testing.Limit;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The server that the guide and the Javadoc of {@link RpmaEventLoop} show: the thread that calls {@link #serve} serves
 * all clients.
 */
final class EchoServer implements AutoCloseable {
    static final int SIZE = 8;

    private final RpmaMemory memory;
    private final RpmaMrLocal region;
    private final AtomicInteger clients = new AtomicInteger();
    private final Set<RpmaConn> conns = ConcurrentHashMap.newKeySet();
    private final ExecutorService closer = Executors.newSingleThreadExecutor();
    private final List<Throwable> failures = new CopyOnWriteArrayList<>();

    /**
     * @param most the largest number of clients in the whole life of the server: a place is not used again
     */
    EchoServer(RpmaPeer peer, int most) {
        memory = RpmaMemory.allocate((long) SIZE * most);
        region = peer.register(memory, RpmaMrUsage.RECV, RpmaMrUsage.SEND);
    }

    /** Serves until the thread is interrupted, then closes the connections that are left. */
    void serve(RpmaEp ep, RpmaConnCfg cfg) throws InterruptedException {
        try (RpmaEventLoop loop = RpmaEventLoop.create()) {
            loop.onFailure(this::failed);
            loop.onRequest(ep, cfg, request -> {
                RpmaConn conn = accept(request);
                loop.onEvent(conn, event -> {
                    if (event != RpmaConnEvent.ESTABLISHED) {
                        end(conn);
                    }
                });
                loop.onCompletion(conn.getCq(), 16, (cq, completions) -> answer(conn, completions));
            });
            loop.run();
        } finally {
            RpmaObjects.closeAll(conns);
        }
    }

    /** The operation context is the offset of the client's message. */
    private RpmaConn accept(RpmaConnReq request) {
        long place = (long) SIZE * clients.getAndIncrement();
        request.recv(region, place, SIZE, place);
        RpmaConn conn = request.connect();
        conns.add(conn);
        return conn;
    }

    private void failed(Object source, Throwable failure) {
        failures.add(failure);
        if (source instanceof RpmaConn) {
            end((RpmaConn) source);
        }
    }

    private void end(RpmaConn conn) {
        if (conns.remove(conn)) {
            closer.execute(conn::close);
        }
    }

    /** Returns the exceptions that handlers threw. */
    List<Throwable> failures() {
        return failures;
    }

    private void answer(RpmaConn conn, RpmaCompletions completions) {
        for (int i = 0; i < completions.count(); i++) {
            if (!completions.isSuccess(i)) {
                end(conn);
                return;
            }
            long place = completions.wrId(i);
            boolean posted = completions.opcode(i) == RpmaWcOpcode.RECV
                    ? conn.send(region, place, SIZE, RpmaConn.F_COMPLETION_ALWAYS, place)
                    : conn.recv(region, place, SIZE, place);
            if (!posted) {
                end(conn);
                return;
            }
        }
    }

    @Override
    public void close() {
        closer.shutdown();
        boolean closed = false;
        try {
            closed = closer.awaitTermination(Limit.WAIT_S, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        assertTrue(closed, "connections are not closed");
        region.close();
        memory.close();
    }
}
