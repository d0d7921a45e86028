// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.testing;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;

/** Measures the heap allocation of a thread. */
public final class Allocation {
    private static final int ROUNDS = 1000;
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private Allocation() {}

    /** Checks that the calls allocate nothing after a warm-up. */
    public static void assertNone(Runnable calls) {
        run(calls);
        long self = Thread.currentThread().getId();
        long before = THREADS.getThreadAllocatedBytes(self);
        run(calls);
        assertThat(THREADS.getThreadAllocatedBytes(self) - before)
                .as("bytes in " + ROUNDS + " rounds")
                .isLessThan(ROUNDS);
    }

    private static void run(Runnable calls) {
        for (int i = 0; i < ROUNDS; i++) {
            calls.run();
        }
    }
}
