// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.internal.loop;

/** An object that a loop serves, or a task that it runs. */
public interface Entry {
    /** Ends it. Has no effect if it has already ended. */
    void cancel();

    /** {@return whether it has not ended; for a task, whether it has not begun} */
    boolean isActive();
}
