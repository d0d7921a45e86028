// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools.perf;

/** The pause of a thread that polls. */
final class Spin {
    private static final boolean ONE_PROCESSOR = Runtime.getRuntime().availableProcessors() == 1;

    private Spin() {}

    /** Leaves a single processor to the other threads and processes. */
    static void pause() {
        if (ONE_PROCESSOR) {
            Thread.yield();
        } else {
            Thread.onSpinWait();
        }
    }
}
