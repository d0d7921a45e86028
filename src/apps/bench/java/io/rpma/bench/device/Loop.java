// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.bench.device;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaEventLoop;
import java.util.List;

/**
 * One event loop serves many connections. Each connection has one write under way, and posts the next when the write
 * completes. {@code src/apps/bench/c/loop.c} does the same.
 */
final class Loop {
    private static final int CAPACITY = 16;

    private final RpmaEventLoop loop = RpmaEventLoop.create();
    private final List<? extends End> connections;
    private final Operation operation;
    private final long[] postedAt;
    private final long[] samples;
    private int posted;
    private int done;

    /** The duration of the first look at all connections, which counts as a part of their registration. */
    private long firstLook;

    private long start;
    private long end;
    private Throwable failure;

    private Loop(List<? extends End> connections, Operation operation, long[] samples) {
        this.connections = connections;
        this.operation = operation;
        this.samples = samples;
        postedAt = new long[connections.size()];
        loop.onFailure((source, thrown) -> {
            failure = thrown;
            loop.close();
        });
    }

    /**
     * Runs a loop.
     *
     * @param connections the connections to serve
     * @param operation the write of these connections
     * @param samples gets the time from each post to the handling of its completion; its length is the number of
     *     operations
     * @return three numbers: the duration of the operations and the duration of the registration of the connections, in
     *     nanoseconds, and the growth of the heap by the registration, in bytes
     */
    static String run(List<? extends End> connections, Operation operation, long[] samples)
            throws InterruptedException {
        UsedMemory before = UsedMemory.now();
        long start = System.nanoTime();
        Loop loop = new Loop(connections, operation, samples);
        for (int place = 0; place < connections.size(); place++) {
            loop.register(place);
        }
        long registered = System.nanoTime() - start;
        long heap = UsedMemory.now().heap() - before.heap();
        return loop.run() + " " + (registered + loop.firstLook) + " " + heap;
    }

    private void register(int place) {
        connections.get(place).serve(loop, CAPACITY, completions -> handle(place, completions));
    }

    private long run() throws InterruptedException {
        long running = System.nanoTime();
        loop.execute(() -> loop.execute(() -> {
            firstLook = System.nanoTime() - running;
            begin();
        }));
        loop.run();
        if (failure != null) {
            throw new IllegalStateException("an operation failed", failure);
        }
        return end - start;
    }

    private void begin() {
        start = System.nanoTime();
        for (int place = 0; place < postedAt.length; place++) {
            post(place, System.nanoTime());
        }
    }

    private void handle(int place, RpmaCompletions completions) {
        int count = completions.count();
        for (int i = 0; i < count; i++) {
            if (!completions.isSuccess(i)) {
                throw new IllegalStateException("an operation failed: " + completions.status(i));
            }
            long now = System.nanoTime();
            samples[done] = now - postedAt[place];
            done++;
            if (posted < samples.length) {
                post(place, now);
            }
        }
        if (done == samples.length) {
            end = System.nanoTime();
            loop.close();
        }
    }

    private void post(int place, long now) {
        postedAt[place] = now;
        posted++;
        connections.get(place).post(operation, 0, Long.BYTES, 0);
    }
}
