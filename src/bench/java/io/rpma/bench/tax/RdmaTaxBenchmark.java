package io.rpma.bench.tax;

import static io.rpma.rdmacm.RdmaQp.F_SIGNALED;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;

/** Posts and polls of librdmacm's queue pairs; the functions of {@code tax.c}. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class RdmaTaxBenchmark {
    /** {@code rdma_post_write}. */
    @Benchmark
    public boolean rdmaWrite(RdmaNoopTarget t) {
        return t.qp.postWrite(t.mr, t.offset, t.length, F_SIGNALED, t.remoteAddr, t.rkey, t.context);
    }

    /** {@code rdma_post_write} with {@code IBV_SEND_INLINE}. */
    @Benchmark
    public boolean rdmaWriteInline(RdmaNoopTarget t) {
        return t.qp.postWriteInline(t.inlineData, t.length, F_SIGNALED, t.remoteAddr, t.rkey, t.context);
    }

    /** {@code rdma_post_send}. */
    @Benchmark
    public boolean rdmaSend(RdmaNoopTarget t) {
        return t.qp.postSend(t.mr, t.offset, t.length, F_SIGNALED, t.context);
    }

    /** {@code rdma_post_send} with {@code IBV_SEND_INLINE}. */
    @Benchmark
    public boolean rdmaSendInline(RdmaNoopTarget t) {
        return t.qp.postSendInline(t.inlineData, t.length, F_SIGNALED, t.context);
    }

    /** {@code ibv_poll_cq} of an empty queue. */
    @Benchmark
    public int rdmaEmptyPoll(RdmaNoopTarget t) {
        return t.qp.pollSendComp(t.completions);
    }
}
