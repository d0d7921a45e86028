// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.bench.cost;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaMemory;
import io.rpma.rdmacm.RdmaAccess;
import io.rpma.rdmacm.RdmaId;
import io.rpma.rdmacm.RdmaInlineData;
import io.rpma.rdmacm.RdmaMr;
import io.rpma.rdmacm.RdmaPortSpace;
import io.rpma.rdmacm.RdmaQp;
import io.rpma.rdmacm.RdmaQpInitAttr;
import io.rpma.rdmacm.RdmaSgeList;
import java.net.InetSocketAddress;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * The arguments of librdmacm's operations, on a device that does nothing; {@code struct target} in {@code cost.c}
 * includes them.
 */
@State(Scope.Thread)
public class RdmaNoopTarget {
    private static final int REGION_SIZE = 4096;
    private static final int INLINE_SIZE = 64;
    private static final int PARTS = 4;

    private RdmaId id;
    private RpmaMemory memory;

    RdmaQp qp;
    RdmaMr mr;
    RdmaInlineData inlineData;
    RdmaSgeList parts;
    RpmaCompletions completions;
    long offset;
    int length = INLINE_SIZE;
    long remoteAddr;
    int rkey;
    int imm = 1;
    long add = 1;
    long context;

    /** Makes an id that can post. */
    @Setup(Level.Trial)
    public void open() {
        NoopTarget.loadLibrary();
        id = RdmaId.create(RdmaPortSpace.TCP);
        id.bindAddr(new InetSocketAddress("127.0.0.1", 0));
        qp = id.createQp(new RdmaQpInitAttr().maxSendSge(PARTS).maxInlineData(INLINE_SIZE));
        memory = RpmaMemory.allocate(REGION_SIZE);
        mr = RdmaMr.reg(id, memory, RdmaAccess.values());
        inlineData = RdmaInlineData.create(INLINE_SIZE);
        parts = RdmaSgeList.create(PARTS);
        for (int i = 0; i < PARTS; i++) {
            parts.add(mr, (long) i * length, length);
        }
        completions = RpmaCompletions.create(NoopTarget.BATCH);
    }

    /** Closes everything. */
    @TearDown(Level.Trial)
    public void close() {
        mr.close();
        memory.close();
        id.close();
    }
}
