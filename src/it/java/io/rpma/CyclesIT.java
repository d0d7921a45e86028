// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rpma.programs.CyclesProgram;
import io.rpma.testing.Jvm;
import io.rpma.testing.TestDevice;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Connections and rejected requests leak no memory. */
@Tag("soak")
@Tag("processes")
class CyclesIT {
    private static final boolean LONG = Boolean.getBoolean("rpma.long");
    private static final int CYCLES = Integer.getInteger("rpma.cycles", LONG ? 10_000 : 1000);

    /** A sanitizer delays the reuse of freed memory, which looks like growth. */
    private static final boolean SANITIZED = System.getenv("LD_PRELOAD") != null;

    private static void assertNoGrowth(CyclesProgram.Kind kind) throws InterruptedException {
        long growth = growth(kind, CYCLES);
        assertTrue(growth < 100 || SANITIZED, growth + " bytes leak with each " + kind);
    }

    private static long growth(CyclesProgram.Kind kind, int cycles) throws InterruptedException {
        // interpreted, because the allocations of the JIT compilers would hide a leak
        Jvm.Finished end = Jvm.likeThis()
                .options("-Xms64m", "-Xmx64m", "-XX:+AlwaysPreTouch", "-XX:+UseSerialGC", "-Xint")
                .run(
                        CyclesProgram.class,
                        kind.name(),
                        TestDevice.address(),
                        Integer.toString(TestDevice.port()),
                        Integer.toString(cycles));
        assertEquals(0, end.status(), end.toString());
        String growth = end.out()
                .lines()
                .filter(line -> line.startsWith(CyclesProgram.GROWTH))
                .findAny()
                .orElseThrow();
        System.out.println(cycles + " times " + kind + ": " + growth);
        return Long.parseLong(growth.substring(CyclesProgram.GROWTH.length()));
    }

    @Test
    void connectionsLeaveNothing() throws InterruptedException {
        assertNoGrowth(CyclesProgram.Kind.CONNECT);
    }

    @Test
    void rejectedRequestsLeaveNothing() throws InterruptedException {
        assertNoGrowth(CyclesProgram.Kind.REJECT);
    }

    @Test
    void connectionsOfLibrdmacmLeaveNothing() throws InterruptedException {
        assertNoGrowth(CyclesProgram.Kind.RDMA_CONNECT);
    }

    @Test
    void rejectedRequestsOfLibrdmacmLeaveNothing() throws InterruptedException {
        assertNoGrowth(CyclesProgram.Kind.RDMA_REJECT);
    }
}
