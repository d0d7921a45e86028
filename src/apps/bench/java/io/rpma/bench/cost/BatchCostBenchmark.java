// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.bench.cost;

import static io.rpma.RpmaConn.F_COMPLETION_ALWAYS;

import io.rpma.RpmaBatch;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/** Many posts in one downcall. The counterpart in C is a loop of posts. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@State(Scope.Thread)
public class BatchCostBenchmark {
    private RpmaBatch batch;

    /**
     * Makes the batch, which loads the library. The target is a parameter because it must load its librpma before that.
     */
    @Setup
    public void create(NoopTarget target) {
        batch = RpmaBatch.create(NoopTarget.BATCH);
    }

    private void record(NoopTarget t, int count) {
        for (int i = 0; i < count; i++) {
            long offset = t.offset + i * t.length;
            batch.write(t.conn, t.remote, offset, t.local, offset, t.length, F_COMPLETION_ALWAYS, t.opContext);
        }
    }

    /** A batch of {@code rpma_write}, filled and posted. */
    @Benchmark
    @OperationsPerInvocation(NoopTarget.BATCH)
    public int batchOf16(NoopTarget t) {
        record(t, NoopTarget.BATCH);
        return batch.post();
    }
}
