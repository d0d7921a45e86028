package io.rpma.internal;

import java.util.function.LongSupplier;
import java.util.function.LongUnaryOperator;

/**
 * The life of one native object, and of those that depend on it: {@code io.rpma.Handle}, as the other packages of the
 * module see it.
 */
public interface NativeObject {
    /** {@return the native handle} */
    long id();

    /** Takes a place among the children of its parents, which can't be closed before it any more. */
    void begin();

    /**
     * Makes the native object, when all of its Java objects exist.
     *
     * @param operation the C function
     * @param maker returns the native handle, or an error
     */
    void make(String operation, LongSupplier maker);

    /**
     * Ends the making of a native object that another way than {@link #make} has made. Allocates nothing if it exists.
     *
     * @param result its native handle, or an error
     */
    void made(long result);

    /**
     * An object that belongs to this one and is closed with it, never by itself; {@link #made} follows.
     *
     * @param type named in messages
     * @return the object
     */
    NativeObject part(String type);

    /** {@return whether it is closed} */
    boolean isClosed();

    /** Throws {@link IllegalStateException} if it is closed. */
    void checkOpen();

    /** Gives its place among the children of its parents back: the native object does not exist, or not any more. */
    void abandon();

    /**
     * Marks it closed without freeing the native object.
     *
     * @return whether it was open
     */
    boolean disown();

    /**
     * Frees the native object that {@link #disown()} has marked closed.
     *
     * @param delete calls the native
     * @return the native's result
     */
    long free(LongUnaryOperator delete);

    /**
     * Closes the native object, once.
     *
     * @param operation the C function
     * @param delete calls the native
     * @return whether this call has closed it
     */
    boolean close(String operation, LongUnaryOperator delete);
}
