package io.rpma;

import java.util.concurrent.atomic.AtomicInteger;

/** The server that the README shows: all its clients are served by the thread that calls {@link #serve}. */
final class EchoServer implements AutoCloseable {
    static final int SIZE = 8;

    private final RpmaMemory memory;
    private final RpmaMrLocal region;
    private final AtomicInteger clients = new AtomicInteger();

    /**
     * @param most how many clients come
     */
    EchoServer(RpmaPeer peer, int most) {
        memory = RpmaMemory.allocate((long) SIZE * most);
        region = peer.register(memory, RpmaMrUsage.RECV, RpmaMrUsage.SEND);
    }

    /** Serves until the thread is interrupted. */
    void serve(RpmaEp ep, RpmaConnCfg cfg) {
        try (RpmaEventLoop loop = RpmaEventLoop.create()) {
            loop.onRequest(ep, cfg, request -> {
                RpmaConn conn = accept(request);
                loop.onEvent(conn, event -> {
                    if (event != RpmaConnEvent.ESTABLISHED) {
                        conn.close();
                    }
                });
                loop.onCompletion(conn.getCq(), 16, (cq, completions) -> answer(conn, completions));
            });
            loop.run();
        }
    }

    /** The operation context says where the client's message is. */
    private RpmaConn accept(RpmaConnReq request) {
        long place = (long) SIZE * clients.getAndIncrement();
        request.recv(region, place, SIZE, place);
        return request.connect();
    }

    private void answer(RpmaConn conn, RpmaCompletions completions) {
        for (int i = 0; i < completions.count(); i++) {
            if (!completions.isSuccess(i)) {
                continue;
            }
            long place = completions.wrId(i);
            if (completions.opcode(i) == RpmaWcOpcode.RECV) {
                Pair.assertPosted(conn.send(region, place, SIZE, RpmaConn.F_COMPLETION_ALWAYS, place));
            } else {
                Pair.assertPosted(conn.recv(region, place, SIZE, place));
            }
        }
    }

    @Override
    public void close() {
        region.close();
        memory.close();
    }
}
