// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.bench.cost;

import static io.rpma.RpmaConn.F_COMPLETION_ALWAYS;

import io.rpma.RpmaConnCfg;
import io.rpma.RpmaConnReq;
import io.rpma.RpmaMrUsage;
import io.rpma.RpmaPeer;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;

/** The operations of {@link Threads} that {@link CostBenchmark} does not have; {@code cost.c} has the same functions. */
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class ThreadsBenchmark {
    /** {@code rpma_write} on a connection of all threads. */
    @Benchmark
    public boolean writeShared(SharedTarget t) {
        return t.conn.write(t.remote, t.offset, t.local, t.offset, t.length, F_COMPLETION_ALWAYS, t.opContext);
    }

    /** {@code rpma_cq_get_wc} of an empty queue of all threads. */
    @Benchmark
    public int emptyPollShared(SharedTarget shared, NoopTarget own) {
        return shared.emptyCq.poll(own.completions);
    }

    /** {@code rpma_conn_cfg_new} and {@code rpma_conn_cfg_delete}: an object that depends on no other object. */
    @Benchmark
    public void openAndClose(NoopTarget t) {
        RpmaConnCfg.create().close();
    }

    /** {@code rpma_mr_reg} and {@code rpma_mr_dereg}, with a peer of the thread. */
    @Benchmark
    public void registerAndClose(NoopTarget t) {
        register(t.peer, t);
    }

    /** {@code rpma_mr_reg} and {@code rpma_mr_dereg}, with a peer of all threads. */
    @Benchmark
    public void registerAndCloseShared(SharedTarget shared, NoopTarget own) {
        register(shared.peer, own);
    }

    private static void register(RpmaPeer peer, NoopTarget own) {
        peer.register(own.memory, RpmaMrUsage.READ_DST).close();
    }

    /**
     * {@code rpma_conn_req_new}, {@code rpma_conn_req_connect} and {@code rpma_conn_delete}, with a peer of the thread.
     */
    @Benchmark
    public void connectAndClose(NoopTarget t) {
        connect(t.peer);
    }

    /** The same as {@link #connectAndClose}, with a peer of all threads. */
    @Benchmark
    public void connectAndCloseShared(SharedTarget t) {
        connect(t.peer);
    }

    private static void connect(RpmaPeer peer) {
        RpmaConnReq.create(peer, "localhost", 7204, null).connect().close();
    }
}
