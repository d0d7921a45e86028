// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.bench.cost;

import static io.rpma.RpmaConn.F_COMPLETION_ALWAYS;

import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** A thread that posts writes without a pause, with objects of its own, beside the measured threads. */
@State(Scope.Benchmark)
public class Poster extends NoopTarget {
    private static final int BLOCK = 1000;

    private volatile boolean ended;
    private Thread thread;

    /** Starts the thread. */
    @Setup(Level.Trial)
    public void start() {
        thread = new Thread(this::run, "poster");
        thread.start();
    }

    private void run() {
        while (!ended) {
            postBlock();
        }
    }

    private void postBlock() {
        for (int i = 0; i < BLOCK; i++) {
            conn.write(remote, offset, local, offset, length, F_COMPLETION_ALWAYS, opContext);
        }
    }

    /** Ends the thread. */
    @Override
    @TearDown(Level.Trial)
    public void close() {
        ended = true;
        try {
            thread.join();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        super.close();
    }
}
