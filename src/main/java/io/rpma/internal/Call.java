// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.internal;

import java.util.concurrent.locks.Lock;
import java.util.function.LongSupplier;

/** Converts the results of native methods to values or exceptions. */
public final class Call {
    private Call() {}

    /**
     * Returns the result of a call, or throws an exception if it is an error.
     *
     * @param operation the C function
     * @param result the result of the native method
     * @param objects the objects of the call
     * @return the result
     * @throws IllegalStateException if one of the objects is closed
     * @throws io.rpma.RpmaException if the call failed
     */
    public static long check(String operation, long result, Resource... objects) {
        if (result < 0) {
            throw failure(operation, result, objects);
        }
        Log.deliver();
        return result;
    }

    /**
     * As {@link #check(String, long, Resource...)}, for one object. Allocates nothing if the call succeeded, so
     * that a lack of memory can't lose the result.
     *
     * @param operation the C function
     * @param result the result of the native method
     * @param object the object of the call
     * @return the result
     */
    public static long check(String operation, long result, Resource object) {
        if (result < 0) {
            throw failure(operation, result, object);
        }
        Log.deliver();
        return result;
    }

    /**
     * {@return the exception for a failed call}
     *
     * <p>The thread of the call must use this method before it calls another native method and before it can park: the
     * shim keeps librpma's messages for the operating-system thread, which is the carrier of a virtual thread.
     *
     * @param operation the C function
     * @param result the result of the native method
     * @param objects the objects of the call
     */
    public static RuntimeException failure(String operation, long result, Resource... objects) {
        if (result == Result.CLOSED) {
            return closed(operation, objects);
        }
        if (result == Result.NO_DEVICE) {
            return new IllegalStateException(operation + ": " + objects[0]
                    + " has no device yet: resolve the other side's address, or bind it to that of a device");
        }
        int errno = Result.errno(result);
        if (errno != 0) {
            String hint = Hint.of(operation, Result.PROVIDER, errno, "", objects);
            return exception(operation, Result.PROVIDER, errno, Errno.message(errno), hint);
        }
        errno = Natives.lastErrno();
        String messages = Log.lastReasons();
        Log.deliver();
        int code = (int) result;
        String hint = Hint.of(operation, code, errno, messages, objects);
        return exception(operation, code, messages.contains(Errno.FAILED) ? errno : 0, messages, hint);
    }

    /**
     * {@return the exception for a failure that is not the result of a native method}
     *
     * @param operation the C function
     * @param errno the error of the system
     * @param detail the description of the failure
     */
    public static RuntimeException failure(String operation, int errno, String detail) {
        String hint = Hint.of(operation, Result.PROVIDER, errno, "");
        return exception(operation, Result.PROVIDER, errno, detail, hint);
    }

    /**
     * Makes a call under a lock, for a C function that several threads must not call concurrently.
     *
     * @param lock the lock
     * @param call the call
     * @return the result of the call
     */
    public static long locked(Lock lock, LongSupplier call) {
        lock.lock();
        try {
            return call.getAsLong();
        } finally {
            lock.unlock();
        }
    }

    private static RuntimeException exception(String operation, int code, int errno, String detail, String hint) {
        return Access.get().exception(operation, code, errno, detail, hint);
    }

    private static RuntimeException closed(String operation, Resource... objects) {
        for (Resource object : objects) {
            if (object.isClosed()) {
                return new IllegalStateException(operation + ": " + object + " is closed");
            }
        }
        return new IllegalStateException(operation + ": an object of the call is closed");
    }
}
