// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.bench.cost;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaConn;
import io.rpma.RpmaConnReq;
import io.rpma.RpmaCq;
import io.rpma.RpmaDevice;
import io.rpma.RpmaMemory;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrRemote;
import io.rpma.RpmaMrUsage;
import io.rpma.RpmaPeer;
import io.rpma.RpmaSrq;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * The arguments of the operations, from a librpma that does nothing; the counterpart in C is {@code struct target} in
 * {@code cost.c}.
 */
@State(Scope.Thread)
public class NoopTarget {
    /** The system property with the path of this librpma. */
    static final String LIBRARY_PROPERTY = "io.rpma.bench.noop";

    static final int BATCH = 16;
    private static final int REGION_SIZE = 4096;

    RpmaPeer peer;
    RpmaMemory memory;
    RpmaConn conn;
    RpmaCq emptyCq;
    RpmaCq fullCq;
    RpmaSrq srq;
    RpmaCq srqCq;
    RpmaMrLocal local;
    RpmaMrRemote remote;
    RpmaCompletions completions;
    long offset;
    long length = 64;
    long opContext;
    int imm = 1;
    long value;

    /**
     * Loads the librpma that does nothing. The dynamic linker then uses it for the shim, because it has the name that
     * the shim requires.
     */
    static void loadLibrary() {
        System.load(System.getProperty(LIBRARY_PROPERTY));
    }

    /** Opens all objects. */
    @Setup(Level.Trial)
    public void open() {
        loadLibrary();
        peer = RpmaPeer.create(RpmaDevice.local("localhost"));
        memory = RpmaMemory.allocate(REGION_SIZE);
        local = peer.register(memory, RpmaMrUsage.values());
        remote = RpmaMrRemote.fromDescriptor(local.getDescriptor());
        conn = connect();
        emptyCq = conn.getCq();
        fullCq = conn.getRcq().orElseThrow();
        srq = RpmaSrq.create(peer, null);
        srqCq = srq.getRcq().orElseThrow();
        completions = RpmaCompletions.create(BATCH);
    }

    /** Opens a connection. */
    RpmaConn connect() {
        return RpmaConnReq.create(peer, "localhost", 7204, null).connect();
    }

    /** Closes everything. */
    @TearDown(Level.Trial)
    public void close() {
        srq.close();
        conn.close();
        remote.close();
        local.close();
        memory.close();
        peer.close();
    }
}
