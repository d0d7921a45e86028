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
        thread.start();
        return thread;
    }
}
