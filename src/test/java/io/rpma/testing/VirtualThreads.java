package io.rpma.testing;

import java.lang.reflect.Method;

/** Virtual threads, which came with JDK 21. */
public final class VirtualThreads {
    private VirtualThreads() {}

    /** Starts one. */
    public static Thread start(Runnable task) {
        try {
            Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
            return (Thread) start.invoke(null, task);
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }
}
