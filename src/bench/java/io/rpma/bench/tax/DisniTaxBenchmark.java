// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.bench.tax;

import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.IbvSendWR;
import com.ibm.disni.verbs.IbvWC;
import com.ibm.disni.verbs.SVCPollCq;
import com.ibm.disni.verbs.SVCPostSend;
import com.ibm.disni.verbs.impl.NatIbvCQ;
import com.ibm.disni.verbs.impl.NatIbvQP;
import io.rpma.bench.Disni;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.infra.Blackhole;

/** Prepared calls of DiSNI, another library for RDMA in Java, with the queues of the device that does nothing. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@State(Scope.Thread)
public class DisniTaxBenchmark {
    private static final int LENGTH = 64;
    private static final int ADDRESS = 4096;

    private SVCPostSend one;
    private SVCPostSend sixteen;
    private final IbvWC[] completions = Disni.completions(NoopTarget.BATCH);
    private SVCPollCq empty;
    private SVCPollCq full;
    private long number;

    /** Returns the address of a queue pair. */
    private static native long qp();

    /** Returns the address of a completion queue that is always empty. */
    private static native long emptyCq();

    /** Returns the address of a completion queue that is always full. */
    private static native long fullCq();

    /** Prepares the calls. */
    @Setup
    public void create() throws IOException {
        NoopTarget.loadLibrary();
        IbvQP qp = new NatIbvQP(qp(), null);
        one = qp.postSend(writes(1), null);
        sixteen = qp.postSend(writes(NoopTarget.BATCH), null);
        empty = poll(emptyCq());
        full = poll(fullCq());
    }

    private static List<IbvSendWR> writes(int count) {
        List<IbvSendWR> writes = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            long address = ADDRESS + (long) i * LENGTH;
            writes.add(Disni.operation(IbvSendWR.IBV_WR_RDMA_WRITE, address, LENGTH, 0, address, 0));
        }
        return writes;
    }

    private SVCPollCq poll(long cq) throws IOException {
        return new NatIbvCQ(cq, null, null, 0).poll(completions, NoopTarget.BATCH);
    }

    /** The counterpart of {@code rdmaPreparedWrite}. */
    @Benchmark
    public SVCPostSend disniPreparedWrite() throws IOException {
        return one.execute();
    }

    /** The counterpart of {@code rdmaPreparedChanged}. */
    @Benchmark
    public SVCPostSend disniPreparedChanged() throws IOException {
        long address = ADDRESS + number % NoopTarget.BATCH * LENGTH;
        SVCPostSend.SendWRMod write = one.getWrMod(0);
        write.getSgeMod(0).setAddr(address);
        write.getSgeMod(0).setLength(LENGTH);
        write.getRdmaMod().setRemote_addr(address);
        write.setWr_id(number++);
        return one.execute();
    }

    /** The counterpart of {@code rdmaPreparedOf16}. */
    @Benchmark
    @OperationsPerInvocation(NoopTarget.BATCH)
    public SVCPostSend disniPreparedOf16() throws IOException {
        return sixteen.execute();
    }

    /** The counterpart of {@code rdmaEmptyPoll}. */
    @Benchmark
    public int disniEmptyPoll() throws IOException {
        return empty.execute().getPolls();
    }

    /** The counterpart of {@code rdmaPollOf16}. */
    @Benchmark
    @OperationsPerInvocation(NoopTarget.BATCH)
    public void disniPollOf16(Blackhole blackhole) throws IOException {
        int taken = full.execute().getPolls();
        for (int i = 0; i < taken; i++) {
            blackhole.consume(completions[i].getWr_id());
            blackhole.consume(completions[i].getStatus());
        }
    }
}
