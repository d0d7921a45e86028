// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.internal;

import java.util.concurrent.locks.Lock;

/**
 * The part of a close that depends on the kind of the object. It must not refer to the facade, because a facade that
 * its parents reach is never reported as dropped.
 */
public abstract class ObjectKind {
    private final String operation;
    private final Lock lock;

    /** @param operation the C function that frees the native object */
    protected ObjectKind(String operation) {
        this(operation, null);
    }

    /**
     * @param operation the C function that frees the native object
     * @param lock held while the object is marked as closed; or null
     */
    protected ObjectKind(String operation, Lock lock) {
        this.operation = operation;
        this.lock = lock;
    }

    String operation() {
        return operation;
    }

    void lock() {
        if (lock != null) {
            lock.lock();
        }
    }

    void unlock() {
        if (lock != null) {
            lock.unlock();
        }
    }

    /**
     * Locks a lock for {@link #delete}, which must not fail. On JDK 17 to 20, a lock that is held by another thread
     * fails if there is no memory.
     *
     * @param guard the lock
     */
    protected static void lock(Lock guard) {
        while (true) {
            try {
                guard.lock();
                return;
            } catch (OutOfMemoryError e) {
                Thread.yield();
            }
        }
    }

    /**
     * Frees the native object. Called without a lock.
     *
     * @param object the object, which is marked as closed
     * @return the result of the native method
     */
    protected abstract long delete(Resource object);

    /**
     * Returns the limits of the device of an object that has one of its own, for the message of an exception.
     *
     * @param object the object
     * @return the name of the device and its limits, such as {@code rxe0 max_qp=16 max_cq=32}; null if there is no
     *     device, or if the device does not report its limits
     */
    protected byte[] deviceLimits(Resource object) {
        return null;
    }
}
