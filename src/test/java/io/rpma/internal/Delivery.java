// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.internal;

import io.rpma.testing.Eventually;

/** Waits for the thread that delivers librpma's messages. */
public final class Delivery {
    private Delivery() {}

    /** Waits until all messages of the calls that have ended are delivered. */
    public static void settle() {
        Log.deliver();
        Eventually.become("all messages are delivered", Log::isSettled);
    }
}
