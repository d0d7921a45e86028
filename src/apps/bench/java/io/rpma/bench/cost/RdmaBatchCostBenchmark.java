// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.bench.cost;

import static io.rpma.rdmacm.RdmaQp.F_SIGNALED;

import io.rpma.rdmacm.RdmaBatch;
import io.rpma.rdmacm.RdmaPreparedBatch;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/** Chains of posts in one downcall. The counterpart in C fills a chain and posts it. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@State(Scope.Thread)
public class RdmaBatchCostBenchmark {
    private RdmaBatch batch;
    private RdmaPreparedBatch one;
    private RdmaPreparedBatch sixteen;
    private long number;

    /** Makes the batches. The target is a parameter because it must load its librdmacm before them. */
    @Setup
    public void create(RdmaNoopTarget target) {
        batch = RdmaBatch.create(NoopTarget.BATCH);
        record(target, 1);
        one = batch.prepare();
        record(target, NoopTarget.BATCH);
        sixteen = batch.prepare();
    }

    private void record(RdmaNoopTarget t, int count) {
        for (int i = 0; i < count; i++) {
            long offset = t.offset + i * t.length;
            batch.write(t.qp, t.mr, offset, t.length, F_SIGNALED, t.remoteAddr + offset, t.rkey, t.context);
        }
    }

    /** A chain of writes, filled and posted. */
    @Benchmark
    @OperationsPerInvocation(NoopTarget.BATCH)
    public int rdmaBatchOf16(RdmaNoopTarget t) {
        record(t, NoopTarget.BATCH);
        return batch.post();
    }

    /** A prepared write. */
    @Benchmark
    public boolean rdmaPreparedWrite(RdmaNoopTarget t) {
        return one.post();
    }

    /** A prepared write whose bytes, remote address and context change before each post. */
    @Benchmark
    public boolean rdmaPreparedChanged(RdmaNoopTarget t) {
        long offset = t.offset + number % NoopTarget.BATCH * t.length;
        one.setRange(0, offset, t.length);
        one.setRemoteAddr(0, t.remoteAddr + offset);
        one.setContext(0, number++);
        return one.post();
    }

    /** A prepared chain of writes. */
    @Benchmark
    @OperationsPerInvocation(NoopTarget.BATCH)
    public boolean rdmaPreparedOf16(RdmaNoopTarget t) {
        return sixteen.post();
    }
}
