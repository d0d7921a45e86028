// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.programs;

import io.rpma.internal.Signal;
import io.rpma.internal.Waiter;
import io.rpma.testing.Limit;
import io.rpma.testing.VirtualThreads;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;

/** Many virtual threads that wait, each for its own object, on few carriers. */
public final class VirtualWaitsProgram {
    public static final String ALL_WOKEN = "all woken: ";

    private VirtualWaitsProgram() {}

    /**
     * @param arguments the number of threads
     */
    public static void main(String[] arguments) throws Exception {
        int count = Integer.parseInt(arguments[0]);
        List<Signal> signals = new ArrayList<>();
        List<FutureTask<Boolean>> waits = new ArrayList<>();
        CountDownLatch begun = new CountDownLatch(count);
        for (int i = 0; i < count; i++) {
            Signal signal = new Signal();
            signals.add(signal);
            FutureTask<Boolean> wait = new FutureTask<>(() -> {
                begun.countDown();
                return Waiter.await("test", signal.object(), Waiter.FOREVER);
            });
            waits.add(wait);
            VirtualThreads.start(wait);
        }
        if (!begun.await(Limit.WAIT_S, TimeUnit.SECONDS)) {
            throw new AssertionError(begun.getCount() + " have no carrier");
        }
        signals.forEach(Signal::set);
        int woken = 0;
        for (FutureTask<Boolean> wait : waits) {
            woken += wait.get(Limit.WAIT_S, TimeUnit.SECONDS) ? 1 : 0;
        }
        signals.forEach(Signal::close);
        System.out.println(ALL_WOKEN + woken);
    }
}
