// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools.perf;

import io.rpma.RpmaException;
import io.rpma.RpmaObjects;
import io.rpma.RpmaPeer;
import io.rpma.support.Connector;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import org.HdrHistogram.Histogram;

/** Runs measurements, each on new connections. */
final class PerfRun implements AutoCloseable {
    private static final int DIGITS = 3;

    private final RpmaPeer peer;
    private final Connector connector;
    private final ExecutorService executor = Executors.newCachedThreadPool();

    PerfRun(RpmaPeer peer, Connector connector) {
        this.peer = peer;
        this.connector = connector;
    }

    /**
     * Runs a measurement.
     *
     * @param threads the number of threads, each with a connection of its own
     * @throws UnsupportedOperationException if the two sides can't carry out the operation
     */
    PerfResult run(PerfRequest request, PerfLoad load, int threads) throws IOException, InterruptedException {
        List<PerfEnd> connections = new ArrayList<>();
        try {
            for (int i = 0; i < threads; i++) {
                connections.add(open(request, load));
            }
            runAll(connections, load.warmUp());
            return result(request, threads, load.list(), runAll(connections, load));
        } finally {
            close(connections);
        }
    }

    private PerfEnd open(PerfRequest request, PerfLoad load) throws IOException, InterruptedException {
        return request.operation().isRdmacm()
                ? PerfRdmaConnection.open(connector.atNextPort(), request, load.list(), load.timeout())
                : PerfConnection.open(peer, connector, request, load.list(), load.timeout());
    }

    /** Closes connections together, because the close of one takes seconds if the server's host is dead. */
    private static void close(List<? extends PerfEnd> connections) {
        try {
            RpmaObjects.closeAll(connections.stream().flatMap(PerfEnd::objects).toList());
        } catch (RpmaException e) {
            // The connections are closed nevertheless.
        }
    }

    /**
     * Runs a load on each connection, in a thread of its own. The first failure ends the other threads, which would
     * wait for their own timeouts.
     */
    List<PerfLoad.Times> runAll(List<? extends PerfEnd> connections, PerfLoad load)
            throws IOException, InterruptedException {
        BlockingQueue<Future<PerfLoad.Times>> ended = new LinkedBlockingQueue<>();
        Semaphore idle = new Semaphore(0);
        List<Future<PerfLoad.Times>> tasks = new ArrayList<>();
        try {
            for (PerfEnd connection : connections) {
                FutureTask<PerfLoad.Times> task = new FutureTask<>(() -> load.run(connection)) {
                    @Override
                    protected void done() {
                        ended.add(this);
                    }
                };
                executor.execute(() -> {
                    try {
                        task.run();
                    } finally {
                        idle.release();
                    }
                });
                tasks.add(task);
            }
            List<PerfLoad.Times> times = new ArrayList<>();
            while (times.size() < connections.size()) {
                times.add(ended.take().get());
            }
            return times;
        } catch (ExecutionException e) {
            throw failure(e.getCause());
        } finally {
            tasks.forEach(task -> task.cancel(true));
            // the caller closes the connections, also if this thread is interrupted
            idle.acquireUninterruptibly(tasks.size());
        }
    }

    private static IOException failure(Throwable cause) {
        if (cause instanceof RuntimeException exception) {
            throw exception;
        }
        if (cause instanceof Error error) {
            throw error;
        }
        return cause instanceof IOException exception ? exception : new IOException(cause);
    }

    private static PerfResult result(PerfRequest request, int threads, int list, List<PerfLoad.Times> times) {
        Histogram all = new Histogram(DIGITS);
        times.forEach(one -> all.add(one.histogram()));
        long begin = times.stream().mapToLong(PerfLoad.Times::begin).min().orElseThrow();
        long end = times.stream().mapToLong(PerfLoad.Times::end).max().orElseThrow();
        return new PerfResult(
                request.operation(),
                request.size(),
                request.depth(),
                threads,
                list,
                request.events(),
                (end - begin) / 1e9,
                all);
    }

    @Override
    public void close() {
        executor.shutdownNow();
    }
}
