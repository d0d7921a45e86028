package io.rpma.internal;

import java.lang.invoke.VarHandle;
import java.lang.ref.Cleaner;
import java.util.ArrayDeque;
import java.util.LinkedHashSet;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.function.LongUnaryOperator;
import java.util.stream.Collectors;

/**
 * The life of one native object, which C names by a handle, and the objects that depend on it.
 *
 * <pre>
 *   constructed --begin--&gt; being made --made--&gt; open --markClosed--&gt; closed --endUses--&gt; unused --free--&gt; freed
 *                              |                 |                                                       ^
 *                              | (failed)        +-------------------------- close ----------------------+
 *                              v
 *                            closed
 * </pre>
 *
 * <p>An object being made or open is a child of its parents, which {@code markClosed} refuses to close before it. A part has
 * no life of its own: it is closed with the object that it is a part of.
 *
 * <p>A native object stays reachable through its parents and never refers to its facade, unless an event loop serves it, so
 * that a facade which is dropped without {@code close()} can be noticed.
 */
public final class NativeObject {
    private static final boolean LEAK_SITES = Boolean.getBoolean("io.rpma.leakSites");
    private static final LazyCleaner LEAKS = new LazyCleaner();
    private static final AtomicLong COUNT = new AtomicLong();

    static {
        // initialised before there is a native object, which a failure for want of memory would leave behind
        Log.threshold();
    }

    private final String name;
    private final NativeObject[] parents;
    private final NativeObject whole;
    private final Set<NativeObject> children = new LinkedHashSet<>();
    private final Throwable site = LEAK_SITES ? new Throwable("created here") : null;

    /** Null for a part. */
    private final Cleaner.Cleanable leak;

    private Queue<Runnable> closings;
    private volatile Object server;

    /** 0 until the native object is made. */
    private long handle;

    private volatile boolean closed;

    /**
     * To be made by {@link #make}, or by {@link #begin}, {@link #made} and {@link #endMaking}. All Java objects of the native
     * object exist before these calls: a native object without them could never be closed.
     *
     * @param facade reported if it is collected before it is closed
     * @param type named in messages
     * @param parents the objects that must not be closed before this one
     */
    public NativeObject(Object facade, String type, NativeObject... parents) {
        Loader.ensureLoaded();
        name = type + "#" + COUNT.incrementAndGet();
        this.parents = parents;
        whole = this;
        leak = LEAKS.started().register(facade, new Leak());
    }

    private NativeObject(NativeObject whole, String type) {
        name = type + " of " + whole.name;
        parents = new NativeObject[] {};
        this.whole = whole;
        leak = null;
    }

    /**
     * {@return an object that belongs to this one and is closed with it; to be made by {@link #madeWithWhole}}
     *
     * @param type named in messages
     */
    public NativeObject part(String type) {
        return new NativeObject(this, type);
    }

    /**
     * Makes this a child of its parents, so that none of them can be closed while the native object is made. Followed by
     * {@link #made}, and in any case by {@link #endMaking}. An object without parents needs {@link #made} alone.
     *
     * @throws IllegalStateException if a parent is closed
     */
    public void begin() {
        boolean begun = false;
        try {
            for (NativeObject parent : parents) {
                parent.add(this);
            }
            begun = true;
        } finally {
            if (!begun) {
                // all: a set that can't grow any more has the child already
                leaveParents();
            }
        }
    }

    /**
     * Takes the result of the native that makes the native object. Allocates nothing if it exists.
     *
     * @param operation the C function
     * @param result the handle, or an error
     * @throws IllegalStateException if an object of the call is closed
     * @throws io.rpma.RpmaException if the native failed
     */
    public void made(String operation, long result) {
        if (result < 0) {
            throw Call.failure(operation, result, parents);
        }
        handle = result;
        // what the facade has got since it was constructed is seen by whoever sees the facade, as final fields are
        VarHandle.releaseFence();
        Log.deliver();
    }

    /**
     * Takes the handle of a part, which is made and closed with its whole.
     *
     * @param part the handle
     */
    public void madeWithWhole(long part) {
        handle = part;
    }

    /** Ends the making: without a native object this one is closed, and no child of its parents any more. */
    public void endMaking() {
        if (handle == 0 && !closed) {
            closed = true;
            try {
                leaveParents();
            } finally {
                leak.clean();
            }
        }
    }

    /**
     * Makes the native object.
     *
     * @param operation the C function
     * @param maker returns the handle, or an error
     * @throws IllegalStateException if a parent is closed
     * @throws io.rpma.RpmaException if the native failed
     */
    public void make(String operation, LongSupplier maker) {
        begin();
        try {
            made(operation, maker.getAsLong());
        } finally {
            endMaking();
        }
    }

    /** {@return what C calls the native object} */
    public long handle() {
        return handle;
    }

    /** {@return whether it is closed} */
    public boolean isClosed() {
        return whole.closed;
    }

    /** Throws {@link IllegalStateException} if it is closed. */
    public void checkOpen() {
        if (isClosed()) {
            throw new IllegalStateException(name + " is closed");
        }
    }

    /**
     * Closes the native object, once.
     *
     * @param operation the C function
     * @param delete frees the native object of the handle
     * @return whether this call has closed it
     * @throws IllegalStateException if other objects depend on this one; it stays open
     * @throws io.rpma.RpmaException if the native failed; closed all the same, because it has freed the object
     */
    public boolean close(String operation, LongUnaryOperator delete) {
        if (!markClosed()) {
            return false;
        }
        endUses();
        free(operation, delete);
        return true;
    }

    /**
     * Begins to close the object; may be called under a lock.
     *
     * @return whether it was open: then {@link #endUses} and {@link #free} have to follow
     * @throws IllegalStateException if other objects depend on this one; it stays open
     */
    public synchronized boolean markClosed() {
        if (closed) {
            return false;
        }
        if (!children.isEmpty()) {
            throw new IllegalStateException(name + " can't be closed before "
                    + children.stream().map(NativeObject::toString).collect(Collectors.joining(", ")));
        }
        closed = true;
        return true;
    }

    /**
     * Ends the waits for the closed object and the registrations with event loops. They take locks, so no lock may be held.
     * Throws nothing: the native object has to be freed.
     */
    public void endUses() {
        leak.clean();
        Runnable closing = takeClosing();
        while (closing != null) {
            try {
                closing.run();
            } catch (Throwable e) {
                Log.reportUncaught(e);
            }
            closing = takeClosing();
        }
    }

    private synchronized Runnable takeClosing() {
        return closings == null ? null : closings.poll();
    }

    /**
     * Frees the native object of the closed object.
     *
     * @param operation the C function
     * @param delete frees the native object of the handle
     * @return the native's result
     * @throws io.rpma.RpmaException if the native failed
     */
    public long free(String operation, LongUnaryOperator delete) {
        try {
            return Call.check(operation, delete.applyAsLong(handle), this);
        } finally {
            leaveParents();
        }
    }

    /**
     * Has the thread that closes the object do something before the native object is freed.
     *
     * @param closing what it does
     * @return false if the object is closed
     */
    public boolean beforeClose(Runnable closing) {
        return whole.addClosing(closing);
    }

    private synchronized boolean addClosing(Runnable closing) {
        if (closed) {
            return false;
        }
        if (closings == null) {
            closings = new ArrayDeque<>();
        }
        closings.add(closing);
        return true;
    }

    /**
     * Takes {@link #beforeClose} back.
     *
     * @param closing the same object
     */
    public void notBeforeClose(Runnable closing) {
        whole.removeClosing(closing);
    }

    private synchronized void removeClosing(Runnable closing) {
        if (closings != null) {
            closings.remove(closing);
        }
    }

    /**
     * Lets an event loop alone listen to the object's descriptor.
     *
     * @param loop the loop
     * @throws IllegalStateException if one does already
     */
    public synchronized void claim(Object loop) {
        if (server != null) {
            throw new IllegalStateException(name + " is served by " + server);
        }
        server = loop;
    }

    /** Takes {@link #claim} back. */
    public synchronized void release() {
        server = null;
    }

    /**
     * Checks that threads may wait for the object.
     *
     * @throws IllegalStateException if an event loop serves it
     */
    void checkUnclaimed(String operation) {
        Object loop = server;
        if (loop != null) {
            throw new IllegalStateException(operation + ": " + name + " is served by " + loop);
        }
    }

    /** Ends to be a child of the parents: the native object is freed. {@link #free} includes it. */
    public void leaveParents() {
        for (NativeObject parent : parents) {
            parent.remove(this);
        }
    }

    private synchronized void add(NativeObject child) {
        checkOpen();
        children.add(child);
    }

    private synchronized void remove(NativeObject child) {
        children.remove(child);
    }

    /** Reports that the facade is gone. */
    private final class Leak implements Runnable {
        @Override
        public void run() {
            if (handle != 0 && !closed) {
                Log.logger()
                        .log(
                                System.Logger.Level.WARNING,
                                name + " was dropped without close()"
                                        + (site == null
                                                ? "; -Dio.rpma.leakSites=true reports where it was created"
                                                : ""),
                                site);
            }
        }
    }

    @Override
    public String toString() {
        return name;
    }
}
