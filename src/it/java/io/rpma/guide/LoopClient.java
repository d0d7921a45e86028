// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.guide;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaConn;
import io.rpma.RpmaConnCfg;
import io.rpma.RpmaConnReq;
import io.rpma.RpmaEventLoop;
import io.rpma.RpmaException;
import io.rpma.RpmaMrRemote;
import io.rpma.RpmaPeer;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/** A client whose completions come in the thread of a loop. Only this thread changes the fields. */
final class LoopClient {
    private static final int DEPTH = 64;

    /** Posts one operation with {@code F_COMPLETION_ALWAYS} and the context. */
    interface Operation {
        boolean post(RpmaConn conn, RpmaMrRemote remote, long context);
    }

    private final Map<Long, CompletableFuture<Void>> pending = new HashMap<>();
    private final Queue<Runnable> waiting = new ArrayDeque<>();
    private final CompletableFuture<Void> closed = new CompletableFuture<>();
    private final RpmaEventLoop loop;
    private final Executor closer;
    private final RpmaConn conn;
    private final RpmaMrRemote remote;
    private long contexts;
    private IOException failure;

    private LoopClient(RpmaEventLoop loop, Executor closer, RpmaConn conn, RpmaMrRemote remote) {
        this.loop = loop;
        this.closer = closer;
        this.conn = conn;
        this.remote = remote;
    }

    /** Blocks, so don't call it in the thread of the loop. */
    static LoopClient connect(RpmaEventLoop loop, Executor closer, RpmaPeer peer, String server, int port)
            throws InterruptedException {
        // one more for the check of the server
        try (RpmaConnCfg cfg = RpmaConnCfg.create().setSqSize(DEPTH + 1).setCqSize(DEPTH + 1)) {
            RpmaConn conn = RpmaConnReq.create(peer, server, port, cfg).connect(10, TimeUnit.SECONDS);
            RpmaMrRemote remote = null;
            boolean made = false;
            try {
                remote = RpmaMrRemote.fromDescriptor(conn.getPrivateData());
                LoopClient client = new LoopClient(loop, closer, conn, remote);
                loop.execute(client::begin);
                made = true;
                return client;
            } finally {
                if (!made) {
                    close(conn, remote);
                }
            }
        }
    }

    private void begin() {
        try {
            serve();
        } catch (RpmaException | IllegalStateException e) {
            end(e.getMessage());
        }
    }

    private void serve() {
        loop.onCompletion(conn.getCq(), 16, (cq, completions) -> complete(completions));
        loop.onEvent(conn, event -> end("the connection is " + event));
        loop.onPeerLost(conn, 1, 5, TimeUnit.SECONDS, lost -> end("no answer"));
    }

    /** Any thread may call this. */
    CompletableFuture<Void> post(Operation operation) {
        CompletableFuture<Void> result = new CompletableFuture<>();
        loop.execute(() -> {
            waiting.add(() -> post(operation, result));
            postWaiting();
        });
        return result;
    }

    private void postWaiting() {
        while (!waiting.isEmpty() && (pending.size() < DEPTH || failure != null)) {
            waiting.remove().run();
        }
    }

    private void post(Operation operation, CompletableFuture<Void> result) {
        try {
            if (failure != null) {
                throw failure;
            }
            if (!operation.post(conn, remote, contexts)) {
                throw new IllegalStateException("more than " + DEPTH + " operations");
            }
            pending.put(contexts++, result);
        } catch (IOException | RuntimeException e) {
            result.completeExceptionally(e);
        }
    }

    private void complete(RpmaCompletions completions) {
        for (int i = 0; i < completions.count() && failure == null; i++) {
            if (completions.isSuccess(i)) {
                pending.remove(completions.wrId(i)).complete(null);
            } else {
                end(completions.status(i).description());
            }
        }
        postWaiting();
    }

    private static void close(RpmaConn conn, RpmaMrRemote remote) {
        try (remote;
                conn) {
            // the connection first
        }
    }

    /** The result is complete when the connection is closed. Until then, the loop must run. */
    CompletableFuture<Void> close() {
        loop.execute(() -> end("closed"));
        return closed;
    }

    private void end(String reason) {
        if (failure == null) {
            failure = new IOException(reason);
            postWaiting();
            List<CompletableFuture<Void>> lost = List.copyOf(pending.values());
            closer.execute(() -> {
                try {
                    close(conn, remote);
                } finally {
                    lost.forEach(result -> result.completeExceptionally(failure));
                    closed.complete(null);
                }
            });
        }
    }
}
