// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.bench.cost;

import static io.rpma.rdmacm.RdmaQp.F_SIGNALED;

import io.rpma.RpmaCompletions;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.infra.Blackhole;

/** Posts and polls of librdmacm's queue pairs; {@code cost.c} has the same functions. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class RdmaCostBenchmark {
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

    /** {@code rdma_post_writev} of four parts. */
    @Benchmark
    public boolean rdmaWritev(RdmaNoopTarget t) {
        return t.qp.postWritev(t.parts, F_SIGNALED, t.remoteAddr, t.rkey, t.context);
    }

    /** {@code ibv_post_send} of {@code IBV_WR_RDMA_WRITE_WITH_IMM}. */
    @Benchmark
    public boolean rdmaWriteWithImm(RdmaNoopTarget t) {
        return t.qp.postWriteWithImm(t.mr, t.offset, t.length, F_SIGNALED, t.remoteAddr, t.rkey, t.imm, t.context);
    }

    /** {@code rdma_post_read}. */
    @Benchmark
    public boolean rdmaRead(RdmaNoopTarget t) {
        return t.qp.postRead(t.mr, t.offset, t.length, F_SIGNALED, t.remoteAddr, t.rkey, t.context);
    }

    /** {@code ibv_post_send} of {@code IBV_WR_ATOMIC_FETCH_AND_ADD}. */
    @Benchmark
    public boolean rdmaFetchAndAdd(RdmaNoopTarget t) {
        return t.qp.postFetchAndAdd(t.mr, t.offset, F_SIGNALED, t.remoteAddr, t.rkey, t.add, t.context);
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

    /** {@code rdma_post_recv}. */
    @Benchmark
    public boolean rdmaRecv(RdmaNoopTarget t) {
        return t.qp.postRecv(t.mr, t.offset, t.length, t.context);
    }

    /** {@code ibv_poll_cq} of an empty queue. */
    @Benchmark
    public int rdmaEmptyPoll(RdmaNoopTarget t) {
        return t.qp.pollSendComp(t.completions);
    }

    /** Two {@code ibv_poll_cq}, and {@code ibv_get_cq_event} and {@code ibv_req_notify_cq} between them: a wait with the timeout 0. */
    @Benchmark
    public int rdmaEmptyWait(RdmaNoopTarget t) throws InterruptedException {
        return t.qp.getSendComp(t.completions, 0, TimeUnit.NANOSECONDS);
    }

    /** {@code ibv_poll_cq} of 16 completions, and reads of the context and status of each completion. */
    @Benchmark
    @OperationsPerInvocation(NoopTarget.BATCH)
    public void rdmaPollOf16(RdmaNoopTarget t, Blackhole blackhole) {
        RpmaCompletions completions = t.completions;
        int taken = t.qp.pollRecvComp(completions);
        for (int i = 0; i < taken; i++) {
            blackhole.consume(completions.wrId(i));
            blackhole.consume(completions.status(i));
        }
    }
}
