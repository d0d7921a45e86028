// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.programs;

import io.rpma.internal.Poller;
import io.rpma.internal.Signal;
import io.rpma.internal.Waiter;

/** Waits for an object repeatedly, as virtual threads do, each time with a new watch. */
public final class WatchProgram {
    private WatchProgram() {}

    /** Takes the number of waits. */
    public static void main(String[] arguments) {
        try (Signal signal = new Signal()) {
            Poller poller = new Poller("WatchProgram").open();
            signal.set();
            for (int i = Integer.parseInt(arguments[0]); i > 0; i--) {
                boolean[] ready = new boolean[1];
                Poller.Watch watch = poller.watch(signal.object(), () -> ready[0] = true, true);
                if (watch.arm() != 0) {
                    throw new AssertionError("not watched");
                }
                poller.poll(Waiter.FOREVER);
                watch.end();
                if (!ready[0]) {
                    throw new AssertionError("not ready");
                }
            }
            poller.close();
        }
    }
}
