package io.rpma;

import java.util.concurrent.locks.Lock;
import java.util.function.LongSupplier;

/** The one place where the result of a native becomes a value or an exception. */
final class Call {
    /** The natives of librdmacm return an errno as this minus it; so does Java of what fails in the system. */
    static final int ERRNO = -1000;

    private static final int LAST_ERRNO = ERRNO - 4095;

    private Call() {}

    /**
     * Passes a good result of a call through.
     *
     * @param operation the C function
     * @param result what the native returned
     * @param handles the objects of the call
     * @throws IllegalStateException if one of the objects is closed
     * @throws RpmaException if librpma failed
     */
    static long check(String operation, long result, Handle... handles) {
        if (result >= 0) {
            Log.drain();
            return result;
        }
        throw failure(operation, result, handles);
    }

    /**
     * The exception for a failed call; called on its thread, before any other native, and before what may park a virtual
     * thread: the messages are those of its carrier.
     */
    static RuntimeException failure(String operation, long result, Handle... handles) {
        return failure(operation, result, Log.lastReasons(), handles);
    }

    /** The exception for a failed call of which librpma has logged these messages. */
    static RuntimeException failure(String operation, long result, String messages, Handle... handles) {
        if (result == Natives.CLOSED) {
            return closed(operation, handles);
        }
        if (result < ERRNO && result >= LAST_ERRNO) {
            return errnoFailure(operation, (int) (ERRNO - result));
        }
        Log.drain();
        RpmaError error = RpmaError.of((int) result);
        return new RpmaException(operation, error, messages, Hint.of(operation, error, messages));
    }

    private static RpmaException errnoFailure(String operation, int errno) {
        String message = Errno.message(errno);
        return new RpmaException(operation, errno, message, Hint.of(operation, RpmaError.PROVIDER, message));
    }

    /** Makes a call that librpma does not allow several threads to make at once. */
    static long locked(Lock lock, LongSupplier call) {
        lock.lock();
        try {
            return call.getAsLong();
        } finally {
            lock.unlock();
        }
    }

    private static RuntimeException closed(String operation, Handle... handles) {
        for (Handle handle : handles) {
            if (handle.isClosed()) {
                return new IllegalStateException(operation + ": " + handle + " is closed");
            }
        }
        return new IllegalStateException(operation + ": an object of the call is closed");
    }
}
