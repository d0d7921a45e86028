// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.bench.cost;

import io.rpma.RpmaMemory;
import io.rpma.RpmaMemoryPool;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** Buffers of a pool that all threads share; {@code cost.c} has a list of buffers that only one thread may use. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class PoolCostBenchmark {
    private static final int BUFFERS = 64;
    private static final int LENGTH = 4096;
    private static final int HELD = 4;

    private RpmaMemory memory;
    private RpmaMemoryPool pool;

    /** The tickets that a thread holds. */
    @State(Scope.Thread)
    public static class Held {
        private final long[] tickets = new long[HELD];
    }

    /** Creates the pool. */
    @Setup(Level.Trial)
    public void open() {
        NoopTarget.loadLibrary();
        memory = RpmaMemory.allocate(BUFFERS * LENGTH);
        pool = RpmaMemoryPool.create(memory, LENGTH);
    }

    /** Closes the pool and its memory. */
    @TearDown(Level.Trial)
    public void close() {
        pool.close();
        memory.close();
    }

    /** A buffer is taken, its offset is read as for a post, and it is given back. */
    @Benchmark
    public long poolTakeGiveBack() {
        long ticket = pool.take();
        long offset = pool.offset(ticket);
        pool.giveBack(ticket);
        return offset;
    }

    /** Each of several buffers that are taken at the same time. */
    @Benchmark
    @OperationsPerInvocation(HELD)
    public long poolOf4(Held held) {
        long offsets = 0;
        for (int i = 0; i < HELD; i++) {
            long ticket = pool.take();
            offsets += pool.offset(ticket);
            held.tickets[i] = ticket;
        }
        for (int i = 0; i < HELD; i++) {
            pool.giveBack(held.tickets[i]);
        }
        return offsets;
    }
}
