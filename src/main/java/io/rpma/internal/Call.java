package io.rpma.internal;

import java.util.concurrent.locks.Lock;
import java.util.function.LongSupplier;

/** The one place where the result of a native becomes a value or an exception. */
public final class Call {
    private Call() {}

    /**
     * Passes a good result of a call through.
     *
     * @param operation the C function
     * @param result what the native returned
     * @param objects the objects of the call
     * @return the result
     * @throws IllegalStateException if one of the objects is closed
     * @throws io.rpma.RpmaException if the call failed
     */
    public static long check(String operation, long result, NativeObject... objects) {
        if (result < 0) {
            throw failure(operation, result, objects);
        }
        Log.deliver();
        return result;
    }

    /**
     * As the other one, for one object: a call that has succeeded allocates nothing, where its result must not be lost.
     *
     * @param operation the C function
     * @param result what the native returned
     * @param object the object of the call
     * @return the result
     */
    public static long check(String operation, long result, NativeObject object) {
        if (result < 0) {
            throw failure(operation, result, object);
        }
        Log.deliver();
        return result;
    }

    /**
     * {@return the exception for a failed call}
     *
     * <p>To be called on the thread of the call, before any other native and before what may park a virtual thread: librpma's
     * messages are kept by the carrier.
     *
     * @param operation the C function
     * @param result what the native returned
     * @param objects the objects of the call
     */
    public static RuntimeException failure(String operation, long result, NativeObject... objects) {
        if (result == Result.CLOSED) {
            return closed(operation, objects);
        }
        if (result == Result.NO_DEVICE) {
            return new IllegalStateException(operation + ": " + objects[0]
                    + " has no device yet: resolve the other side's address, or bind it to that of a device");
        }
        if (Result.isErrno(result)) {
            int errno = (int) (Result.ERRNO - result);
            String message = Errno.message(errno);
            return exception(operation, Result.PROVIDER, errno, message, Hint.of(operation, Result.PROVIDER, message));
        }
        String messages = Log.lastReasons();
        Log.deliver();
        int code = (int) result;
        return exception(operation, code, 0, messages, Hint.of(operation, code, messages));
    }

    /**
     * {@return the exception for a failure that no native has returned}
     *
     * @param operation the C function
     * @param errno of the system
     * @param detail what happened
     */
    public static RuntimeException failure(String operation, int errno, String detail) {
        return exception(operation, Result.PROVIDER, errno, detail, "");
    }

    /**
     * Makes a call under a lock, for a function of C that several threads must not call at once.
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

    private static RuntimeException closed(String operation, NativeObject... objects) {
        for (NativeObject object : objects) {
            if (object.isClosed()) {
                return new IllegalStateException(operation + ": " + object + " is closed");
            }
        }
        return new IllegalStateException(operation + ": an object of the call is closed");
    }
}
