// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.bench.cost;

import static io.rpma.RpmaConn.F_COMPLETION_ALWAYS;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaFlushType;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.infra.Blackhole;

/** Single posts and polls; {@code cost.c} has the same functions. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class CostBenchmark {
    /** {@code rpma_read}. */
    @Benchmark
    public boolean read(NoopTarget t) {
        return t.conn.read(t.local, t.offset, t.remote, t.offset, t.length, F_COMPLETION_ALWAYS, t.opContext);
    }

    /** {@code rpma_write}. */
    @Benchmark
    public boolean write(NoopTarget t) {
        return t.conn.write(t.remote, t.offset, t.local, t.offset, t.length, F_COMPLETION_ALWAYS, t.opContext);
    }

    /** {@code rpma_write_with_imm}. */
    @Benchmark
    public boolean writeWithImm(NoopTarget t) {
        return t.conn.writeWithImm(
                t.remote, t.offset, t.local, t.offset, t.length, F_COMPLETION_ALWAYS, t.imm, t.opContext);
    }

    /** {@code rpma_atomic_write}. */
    @Benchmark
    public boolean atomicWrite(NoopTarget t) {
        return t.conn.atomicWrite(t.remote, t.offset, t.value, F_COMPLETION_ALWAYS, t.opContext);
    }

    /** {@code rpma_flush}. */
    @Benchmark
    public boolean flush(NoopTarget t) {
        return t.conn.flush(t.remote, t.offset, t.length, RpmaFlushType.VISIBILITY, F_COMPLETION_ALWAYS, t.opContext);
    }

    /** {@code rpma_send}. */
    @Benchmark
    public boolean send(NoopTarget t) {
        return t.conn.send(t.local, t.offset, t.length, F_COMPLETION_ALWAYS, t.opContext);
    }

    /** {@code rpma_send_with_imm}. */
    @Benchmark
    public boolean sendWithImm(NoopTarget t) {
        return t.conn.sendWithImm(t.local, t.offset, t.length, F_COMPLETION_ALWAYS, t.imm, t.opContext);
    }

    /** {@code rpma_recv}. */
    @Benchmark
    public boolean recv(NoopTarget t) {
        return t.conn.recv(t.local, t.offset, t.length, t.opContext);
    }

    /** {@code rpma_cq_get_wc} of an empty queue. */
    @Benchmark
    public int emptyPoll(NoopTarget t) {
        return t.emptyCq.poll(t.completions);
    }

    /** {@code rpma_cq_get_wc} of an empty queue, {@code rpma_cq_wait} and a second poll: a wait with the timeout 0. */
    @Benchmark
    public int emptyWait(NoopTarget t) throws InterruptedException {
        return t.emptyCq.await(t.completions, 0, TimeUnit.NANOSECONDS);
    }

    /** {@code rpma_srq_recv}, and a wait until another thread completes the receive. */
    @Benchmark
    public int receive(NoopTarget t) throws InterruptedException {
        t.srq.recv(t.local, t.offset, t.length, t.opContext);
        return t.srqCq.await(t.completions);
    }

    /** {@code rpma_cq_get_wc} of 16 completions, and reads of the context and status of each completion. */
    @Benchmark
    @OperationsPerInvocation(NoopTarget.BATCH)
    public void pollOf16(NoopTarget t, Blackhole blackhole) {
        RpmaCompletions completions = t.completions;
        int taken = t.fullCq.poll(completions);
        for (int i = 0; i < taken; i++) {
            blackhole.consume(completions.wrId(i));
            blackhole.consume(completions.status(i));
        }
    }
}
