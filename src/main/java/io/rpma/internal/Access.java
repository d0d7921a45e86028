// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.internal;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaEventLoop;
import io.rpma.RpmaMemory;
import io.rpma.internal.loop.PeerProbe;
import io.rpma.internal.loop.Source;
import java.lang.reflect.Constructor;
import java.util.concurrent.TimeUnit;

/** Gives the other packages of the module access to the package-private members of {@code io.rpma}. */
public abstract class Access {
    private static final String IMPLEMENTATION = "io.rpma.FacadeAccess";

    /** Null until the first use. A program that uses only {@code io.rpma} needs the instance only for an exception. */
    private static volatile Access instance;

    /** For the implementation, which is a class of {@code io.rpma}. */
    protected Access() {}

    /** {@return the implementation} */
    public static Access get() {
        if (instance == null) {
            // not in a static initialiser: a failure there, for lack of memory, would be permanent
            instance = make();
        }
        return instance;
    }

    private static Access make() {
        return make(Access.class, IMPLEMENTATION);
    }

    /**
     * {@return a new object of a class that is not public}
     *
     * @param type the type of the result
     * @param implementation the name of the class
     */
    static <T> T make(Class<T> type, String implementation) {
        try {
            Constructor<?> constructor = Class.forName(implementation).getDeclaredConstructor();
            constructor.setAccessible(true);
            return type.cast(constructor.newInstance());
        } catch (ReflectiveOperationException e) {
            throw new LinkageError(implementation + " can't be used", e);
        }
    }

    /**
     * {@return an {@code RpmaException}}
     *
     * @param operation the C function that failed
     * @param code the error code of librpma
     * @param errno the error of the system, or 0
     * @param detail the messages of librpma, or the text of errno
     * @param hint the remedy, or an empty text
     */
    public abstract RuntimeException exception(String operation, int code, int errno, String detail, String hint);

    /**
     * {@return the native object of a memory}
     *
     * @param memory the memory
     */
    public abstract Resource object(RpmaMemory memory);

    /**
     * {@return the native object of a facade, or null if the object is not a facade of a native object}
     *
     * @param facade the object
     */
    public abstract Resource object(AutoCloseable facade);

    /**
     * Marks a memory as written by devices, before it is registered for such writes.
     *
     * @param memory the memory
     */
    public abstract void markWrittenByDevices(RpmaMemory memory);

    /**
     * {@return the address of an array of completions}
     *
     * @param completions the array
     */
    public abstract long address(RpmaCompletions completions);

    /**
     * {@return the address of a completion in the array}
     *
     * @param completions the array
     * @param index the index of the completion
     */
    public abstract long address(RpmaCompletions completions, int index);

    /**
     * Sets the number of completions in an array.
     *
     * @param completions the array
     * @param count the number
     */
    public abstract void filled(RpmaCompletions completions, int count);

    /**
     * Removes the completion of a probe from an array.
     *
     * @param completions the array, with at least one completion
     * @param probe the probes
     * @return whether completions are left
     */
    public abstract boolean removeProbe(RpmaCompletions completions, PeerProbe probe);

    /**
     * Registers a source with an event loop.
     *
     * @param loop the loop
     * @param source the source
     * @return the registration
     */
    public abstract RpmaEventLoop.Registration register(RpmaEventLoop loop, Source<?> source);

    /**
     * Registers a check of the other side with an event loop.
     *
     * @param <T> the type of {@code source}
     * @param loop the loop
     * @param probe the probes of the connection
     * @param source the object for the handler and for failures
     * @param period the time between checks
     * @param limit the time after a probe within which an operation must complete
     * @param unit the unit of both
     * @param handler called when the other side is lost
     * @return the registration
     */
    public abstract <T> RpmaEventLoop.Registration check(
            RpmaEventLoop loop,
            PeerProbe probe,
            T source,
            long period,
            long limit,
            TimeUnit unit,
            RpmaEventLoop.Handler<? super T> handler);
}
