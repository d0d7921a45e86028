package io.rpma.internal;

/** Starts the library's own threads, which end with the JVM. */
final class Daemon {
    private Daemon() {}

    /**
     * Starts a thread that keeps nothing of the thread that needs it first: neither its class loader nor its thread locals.
     *
     * @throws OutOfMemoryError if the system has no memory or thread for it
     */
    static Thread start(String name, Runnable task) {
        Thread thread = new Thread(null, task, name, 0, false);
        thread.setContextClassLoader(null);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }
}
