package io.rpma.internal;

import java.lang.ref.Cleaner;

/**
 * A cleaner whose thread starts with its first use. A start that fails, for want of memory or threads, is tried again by the
 * next use, where a cleaner of a static field would end its class for good.
 */
final class LazyCleaner {
    private Cleaner cleaner;

    /**
     * Starts the thread, unless it runs: for whoever must not fail later.
     *
     * @throws OutOfMemoryError if the system has no memory or thread for it
     */
    synchronized Cleaner started() {
        if (cleaner == null) {
            cleaner = Cleaner.create();
        }
        return cleaner;
    }
}
