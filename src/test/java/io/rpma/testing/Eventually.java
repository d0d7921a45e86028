// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.testing;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Waits for conditions that come true by themselves, for a bounded time. */
public final class Eventually {
    private static final long PAUSE = TimeUnit.MILLISECONDS.toNanos(1);

    private Eventually() {}

    /** Waits for the condition. */
    public static void become(String what, BooleanSupplier condition) {
        await(what, condition, () -> LockSupport.parkNanos(PAUSE));
    }

    /** Waits for the condition, which garbage collection makes true. */
    public static void becomeByGc(String what, BooleanSupplier condition) {
        await(what, condition, () -> {
            System.gc();
            LockSupport.parkNanos(10 * PAUSE);
        });
    }

    private static void await(String what, BooleanSupplier condition, Runnable pause) {
        long start = System.nanoTime();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - start > Limit.WAIT.toNanos()) {
                throw new AssertionError("not within " + Limit.WAIT + ": " + what);
            }
            pause.run();
        }
    }
}
