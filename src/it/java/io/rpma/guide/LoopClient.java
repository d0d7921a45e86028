// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.guide;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaConn;
import io.rpma.RpmaConnCfg;
import io.rpma.RpmaConnReq;
import io.rpma.RpmaEventLoop;
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
import java.util.function.BooleanSupplier;

/** A client whose completions come in the thread of a loop. Only this thread changes the fields. */
final class LoopClient {
    /** Posts one operation with {@code F_COMPLETION_ALWAYS} and the context. */
    interface Operation {
        boolean post(RpmaConn conn, RpmaMrRemote remote, long context);
    }

    private final Map<Long, CompletableFuture<Void>> pending = new HashMap<>();
    private final Queue<BooleanSupplier> waiting = new ArrayDeque<>();
    private final RpmaEventLoop loop;
    private final Executor closer;
    private final RpmaConn conn;
    private final RpmaMrRemote remote;
    private final CompletableFuture<Void> closed = new CompletableFuture<>();
    private long contexts;
    private IOException failure;

    private LoopClient(RpmaEventLoop loop, Executor closer, RpmaConn conn) {
        this.loop = loop;
        this.closer = closer;
        this.conn = conn;
        remote = RpmaMrRemote.fromDescriptor(conn.getPrivateData());
    }

    /** Blocks, so don't call it in the thread of the loop. */
    static LoopClient connect(RpmaEventLoop loop, Executor closer, RpmaPeer peer, String server, int port)
            throws InterruptedException {
        try (RpmaConnCfg cfg = RpmaConnCfg.create().setSqSize(64).setRqSize(0).setCqSize(64)) {
            RpmaConn conn = RpmaConnReq.create(peer, server, port, cfg).connect(10, TimeUnit.SECONDS);
            boolean served = false;
            try {
                LoopClient client = new LoopClient(loop, closer, conn);
                client.serve();
                served = true;
                return client;
            } finally {
                if (!served) {
                    conn.close();
                }
            }
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
            if (failure != null) {
                result.completeExceptionally(failure);
                return;
            }
            long context = contexts++;
            pending.put(context, result);
            waiting.add(() -> tryPost(operation, context));
            postWaiting();
        });
        return result;
    }

    private boolean tryPost(Operation operation, long context) {
        try {
            return operation.post(conn, remote, context);
        } catch (RuntimeException e) {
            pending.remove(context).completeExceptionally(e);
            return true;
        }
    }

    private void postWaiting() {
        while (!waiting.isEmpty() && waiting.element().getAsBoolean()) {
            waiting.remove();
        }
    }

    private void complete(RpmaCompletions completions) {
        for (int i = 0; i < completions.count() && failure == null; i++) {
            if (!completions.isSuccess(i)) {
                end(completions.status(i).description());
                return;
            }
            pending.remove(completions.wrId(i)).complete(null);
        }
        postWaiting();
    }

    /** The result is complete when the connection is closed. */
    CompletableFuture<Void> close() {
        loop.execute(() -> end("closed"));
        return closed;
    }

    private void end(String reason) {
        if (failure == null) {
            failure = new IOException(reason);
            List<CompletableFuture<Void>> lost = List.copyOf(pending.values());
            waiting.clear();
            closer.execute(() -> {
                try {
                    conn.close();
                    remote.close();
                } finally {
                    lost.forEach(result -> result.completeExceptionally(failure));
                    closed.complete(null);
                }
            });
        }
    }
}
