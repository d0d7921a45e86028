// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.internal;

import java.lang.ref.Cleaner;

/**
 * A cleaner whose thread starts with its first use. If the start fails for lack of memory or threads, the next use
 * tries again. With a cleaner in a static field, such a failure would make the class of the field unusable for the life
 * of the JVM.
 */
final class LazyCleaner {
    private Cleaner cleaner;

    /**
     * Starts the thread unless it runs, and returns the cleaner. A caller that must not fail later calls this method
     * first.
     *
     * @throws OutOfMemoryError if the system has no memory or no thread left
     */
    synchronized Cleaner started() {
        if (cleaner == null) {
            try {
                cleaner = Cleaner.create();
            } catch (OutOfMemoryError e) {
                throw Daemon.explained(e);
            }
        }
        return cleaner;
    }
}
