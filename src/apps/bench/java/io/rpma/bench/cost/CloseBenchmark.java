// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.bench.cost;

import io.rpma.RpmaConnCfg;
import io.rpma.RpmaMrUsage;
import io.rpma.RpmaObjects;
import java.util.ArrayList;
import java.util.List;
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

/** The closes of many objects in {@link Threads}, one by one and at once; {@code cost.c} has the same names. */
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@OperationsPerInvocation(CloseBenchmark.MANY)
public class CloseBenchmark {
    static final int MANY = 1000;

    /** Open memory regions of one peer. */
    @State(Scope.Thread)
    public static class Regions {
        final List<AutoCloseable> open = new ArrayList<>();

        /** Opens all regions, outside of the measured time. */
        @Setup(Level.Invocation)
        public void open(NoopTarget t) {
            open.clear();
            for (int i = 0; i < MANY; i++) {
                open.add(t.peer.register(t.memory, RpmaMrUsage.READ_DST));
            }
        }
    }

    /** Open objects that depend on no other object. */
    @State(Scope.Thread)
    public static class Cfgs {
        final List<AutoCloseable> open = new ArrayList<>();

        /**
         * Opens all objects, outside of the measured time.
         *
         * @param t has loaded the librpma that does nothing
         */
        @Setup(Level.Invocation)
        public void open(NoopTarget t) {
            open.clear();
            for (int i = 0; i < MANY; i++) {
                open.add(RpmaConnCfg.create());
            }
        }
    }

    /** Open connections of one peer. */
    @State(Scope.Thread)
    public static class Conns {
        final List<AutoCloseable> open = new ArrayList<>();

        /** Opens all connections, outside of the measured time. */
        @Setup(Level.Invocation)
        public void open(NoopTarget t) {
            open.clear();
            for (int i = 0; i < MANY; i++) {
                open.add(t.connect());
            }
        }
    }

    @Benchmark
    public void closeRegions(Regions regions) throws Exception {
        closeOneByOne(regions.open);
    }

    @Benchmark
    public void closeRegionsAtOnce(Regions regions) {
        RpmaObjects.closeAll(regions.open);
    }

    @Benchmark
    public void closeRegionsBesideWrite(Regions regions, Poster poster) throws Exception {
        closeOneByOne(regions.open);
    }

    @Benchmark
    public void closeRegionsAtOnceBesideWrite(Regions regions, Poster poster) {
        RpmaObjects.closeAll(regions.open);
    }

    @Benchmark
    public void closeCfgs(Cfgs cfgs) throws Exception {
        closeOneByOne(cfgs.open);
    }

    @Benchmark
    public void closeCfgsAtOnce(Cfgs cfgs) {
        RpmaObjects.closeAll(cfgs.open);
    }

    @Benchmark
    public void closeCfgsBesideWrite(Cfgs cfgs, Poster poster) throws Exception {
        closeOneByOne(cfgs.open);
    }

    @Benchmark
    public void closeCfgsAtOnceBesideWrite(Cfgs cfgs, Poster poster) {
        RpmaObjects.closeAll(cfgs.open);
    }

    @Benchmark
    public void closeConns(Conns conns) throws Exception {
        closeOneByOne(conns.open);
    }

    @Benchmark
    public void closeConnsAtOnce(Conns conns) {
        RpmaObjects.closeAll(conns.open);
    }

    @Benchmark
    public void closeConnsBesideWrite(Conns conns, Poster poster) throws Exception {
        closeOneByOne(conns.open);
    }

    @Benchmark
    public void closeConnsAtOnceBesideWrite(Conns conns, Poster poster) {
        RpmaObjects.closeAll(conns.open);
    }

    private static void closeOneByOne(List<AutoCloseable> objects) throws Exception {
        for (AutoCloseable object : objects) {
            object.close();
        }
    }
}
