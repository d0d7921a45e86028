// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.internal;

/** Starts the threads of the library, which end with the JVM. */
final class Daemon {
    private Daemon() {}

    /**
     * Starts a daemon thread. It keeps neither the class loader nor the inheritable thread locals of the current thread
     * reachable.
     *
     * @throws OutOfMemoryError if the system has no memory or no thread left
     */
    static Thread start(String name, Runnable task) {
        Thread thread = new Thread(null, task, name, 0, false);
        thread.setContextClassLoader(null);
        thread.setDaemon(true);
        try {
            thread.start();
        } catch (OutOfMemoryError e) {
            throw explained(e);
        }
        return thread;
    }

    /** Returns the failure to start a thread with the limits that can be its cause. */
    static OutOfMemoryError explained(OutOfMemoryError failure) {
        String message = failure.getMessage();
        if (message == null || !message.contains("native thread")) {
            return failure; // no memory in the heap
        }
        OutOfMemoryError explained = new OutOfMemoryError(message + "; " + Hint.threads());
        explained.initCause(failure);
        return explained;
    }
}
