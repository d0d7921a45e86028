// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.guide;

import io.rpma.RpmaEventLoop;

/** A server of the guide that a signal stops. */
public final class StopProgram {
    private StopProgram() {}

    public static void main(String[] arguments) throws InterruptedException {
        try (RpmaEventLoop loop = RpmaEventLoop.create()) {
            loop.execute(() -> System.out.println("serving"));
            ServerSamples.runUntilSignal(loop);
        }
        System.out.println("closed");
    }
}
