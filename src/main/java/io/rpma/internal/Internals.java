package io.rpma.internal;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaMemory;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;

/**
 * What {@code io.rpma} keeps to itself and {@code io.rpma.rdmacm} needs too: the life of native objects, failures and
 * waits. This package is not exported.
 */
public abstract class Internals {
    private static final String IMPLEMENTATION = "io.rpma.SharedInternals";

    private static Internals instance;

    /** For the implementation. */
    protected Internals() {}

    /** Found when it is first asked for: {@code io.rpma} alone never loads it. */
    private static final class Holder {
        private static final Internals INTERNALS = find();
    }

    private static Internals find() {
        try {
            Class.forName(IMPLEMENTATION, true, Internals.class.getClassLoader());
        } catch (ClassNotFoundException e) {
            throw new LinkageError(IMPLEMENTATION + " is missing", e);
        }
        return instance;
    }

    /** {@return the implementation} */
    public static Internals get() {
        return Holder.INTERNALS;
    }

    /**
     * Called by the implementation when it is initialised.
     *
     * @param internals the implementation
     */
    protected static void set(Internals internals) {
        instance = internals;
    }

    /**
     * Registers the natives of {@code io.rpma.rdmacm}.
     *
     * @param natives the class that has them
     */
    public abstract void registerRdmacm(Class<?> natives);

    /**
     * {@return an object whose native one is to be made}
     *
     * @param facade reported if it is collected before it is closed
     * @param type named in messages
     * @param parents what must not be closed before it
     */
    public abstract NativeObject object(Object facade, String type, NativeObject... parents);

    /**
     * {@return the object of a memory}
     *
     * @param memory the memory
     */
    public abstract NativeObject object(RpmaMemory memory);

    /**
     * To be called before a memory is registered for a device that writes to it.
     *
     * @param memory the memory
     */
    public abstract void markWrittenByDevices(RpmaMemory memory);

    /**
     * Passes a good result of a native through.
     *
     * @param operation the C function
     * @param result what the native returned
     * @param objects the objects of the call
     * @return the result
     */
    public abstract long check(String operation, long result, NativeObject... objects);

    /**
     * {@return the exception for a failed call; called on its thread, before any other native}
     *
     * @param operation the C function
     * @param result what the native returned
     * @param objects the objects of the call
     */
    public abstract RuntimeException failure(String operation, long result, NativeObject... objects);

    /** Has this thread deliver no messages of librpma until {@link #deliver}; around a lock. */
    public abstract void withhold();

    /** Ends {@link #withhold}, and makes up for it. */
    public abstract void deliver();

    /**
     * {@return the exception for a failure that no native has returned}
     *
     * @param operation the C function
     * @param errno of the system
     * @param detail what happened
     */
    public abstract RuntimeException failure(String operation, int errno, String detail);

    /**
     * Checks bytes of a region.
     *
     * @param region which one it is, for the message
     * @param offset in bytes
     * @param length in bytes
     * @param size of the region, in bytes
     */
    public abstract void checkRange(String region, long offset, long length, long size);

    /**
     * Waits until the object's descriptor has something to read.
     *
     * @param operation the C function
     * @param object the object
     * @param nanos for how long, or {@link #forever()}
     * @return false if the time is up
     * @throws InterruptedException if the thread is interrupted before or meanwhile
     */
    public abstract boolean await(String operation, NativeObject object, long nanos) throws InterruptedException;

    /** {@return whether the current thread is a virtual one, which must not block} */
    public abstract boolean isVirtual();

    /** A native that blocks. */
    public interface Blocking {
        /**
         * Calls the native.
         *
         * @param wakeFd an eventfd that ends it for the interruption of the thread
         * @param nanos for how long it blocks, or {@link #forever()}
         * @return what it returned
         */
        int block(int wakeFd, long nanos);
    }

    /**
     * Blocks, and again when it is woken without an interruption.
     *
     * @param operation the C function
     * @param object whose close ends it
     * @param nanos for how long, or {@link #forever()}
     * @param blocking the native
     * @return what the native returned, no error
     * @throws InterruptedException if the thread is interrupted before or meanwhile
     */
    public abstract int block(String operation, NativeObject object, long nanos, Blocking blocking)
            throws InterruptedException;

    /** {@return a timeout that never ends} */
    public abstract long forever();

    /**
     * {@return a timeout in nanoseconds, checked}
     *
     * @param timeout not negative
     * @param unit of {@code timeout}
     */
    public abstract long nanos(long timeout, TimeUnit unit);

    /**
     * {@return what is left of a timeout}
     *
     * @param nanos the timeout
     * @param start when it started: {@link System#nanoTime()}
     */
    public abstract long left(long nanos, long start);

    /**
     * {@return the address of a direct buffer's first byte}
     *
     * @param buffer a direct buffer
     */
    public abstract long address(ByteBuffer buffer);

    /**
     * {@return the address of an array of completions}
     *
     * @param completions the array
     */
    public abstract long address(RpmaCompletions completions);

    /**
     * {@return the address of a completion that the array holds}
     *
     * @param completions the array
     * @param index of the completion
     */
    public abstract long address(RpmaCompletions completions, int index);

    /**
     * Says how many completions an array holds.
     *
     * @param completions the array
     * @param count how many
     */
    public abstract void filled(RpmaCompletions completions, int count);
}
