package io.rpma.internal;

import java.lang.invoke.VarHandle;
import java.lang.ref.Cleaner;
import java.util.ArrayDeque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.LongUnaryOperator;
import java.util.stream.Collectors;

/**
 * The life cycle of one native object, which C identifies by a handle, and the objects that depend on it.
 *
 * <pre>
 *   constructed --begin--&gt; being made --made--&gt; open --markClosed--&gt; closed --endUses--&gt; unused --free--&gt; freed
 *                              |                 |                                                       ^
 *                              | (failed)        +-------------------------- close ----------------------+
 *                              v
 *                            closed
 * </pre>
 *
 * <p>An object that is being made or open is a child of its parents. {@code markClosed} refuses to close a parent before its
 * children. A part has no life cycle of its own: it is closed with its whole.
 *
 * <p>A {@code NativeObject} stays reachable through its parents. It does not refer to its facade, so that the garbage collector
 * can detect a facade that was dropped without {@code close()}. Exception: while an event loop serves the object, the object
 * refers to its facade.
 */
public final class NativeObject {
    private static final boolean LEAK_SITES = Boolean.getBoolean("io.rpma.leakSites");
    private static final LazyCleaner LEAKS = new LazyCleaner();
    private static final AtomicLong COUNT = new AtomicLong();

    static {
        // initialise Log before the first native object exists: if the initialisation failed later for lack of memory,
        // nothing could close that object
        Log.threshold();
    }

    private final String name;
    private final NativeObject[] parents;
    private final NativeObject whole;
    private final Set<NativeObject> children = new LinkedHashSet<>();
    private final Throwable site = LEAK_SITES ? new Throwable("created here") : null;

    /** Reports a leak; null for a part. */
    private final Cleaner.Cleanable leak;

    /** Closes the object together with its parent, or null. Does not refer to the facade. */
    private Consumer<NativeObject> closer;

    private Queue<Runnable> closings;
    private volatile Object server;

    /** 0 before the native object is made. */
    private long handle;

    private volatile boolean closed;

    /**
     * Creates an object for {@link #make}, or for {@link #begin}, {@link #made} and {@link #endMaking}. All Java objects that
     * belong to the native object must exist before these calls. Otherwise a lack of memory could leave a native object that
     * nothing can close.
     *
     * @param facade the object whose collection before {@code close()} is reported
     * @param type the name of the type, for messages
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
     * {@return a part of this object, which is closed with this object; {@link #madeWithWhole} sets the handle of the part}
     *
     * @param type the name of the type, for messages
     */
    public NativeObject part(String type) {
        return new NativeObject(this, type);
    }

    /**
     * Lets {@link #closeChildren} of a parent close this object.
     *
     * @param close closes the object that it gets; does not refer to the facade
     * @return this object
     */
    public NativeObject closedWithParent(Consumer<NativeObject> close) {
        closer = close;
        return this;
    }

    /**
     * Makes this object a child of its parents, so that no parent can be closed while the native object is made. The caller
     * must then call {@link #made} if it makes the native object, and {@link #endMaking} in any case. An object without parents
     * needs {@link #made} only.
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
                // leave all parents, even the one whose add() failed: a set that failed to grow can contain the child
                leaveParents();
            }
        }
    }

    /**
     * Takes the result of the native method that makes the native object. Allocates nothing if the result is a handle.
     *
     * @param operation the C function
     * @param result the handle, or an error
     * @throws IllegalStateException if an object of the call is closed
     * @throws io.rpma.RpmaException if the native method failed
     */
    public void made(String operation, long result) {
        if (result < 0) {
            throw Call.failure(operation, result, parents);
        }
        handle = result;
        // a thread that sees the facade also sees the fields that were set after its construction,
        // as if they were final
        VarHandle.releaseFence();
        Log.deliver();
    }

    /**
     * Takes the handle of this part, which is made and closed with its whole.
     *
     * @param part the handle
     */
    public void madeWithWhole(long part) {
        handle = part;
    }

    /** Ends the making. If there is no native object, closes this object and removes it from its parents. */
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
     * @throws io.rpma.RpmaException if the native method failed
     */
    public void make(String operation, LongSupplier maker) {
        begin();
        try {
            made(operation, maker.getAsLong());
        } finally {
            endMaking();
        }
    }

    /** {@return the handle of the native object; 0 before it is made} */
    public long handle() {
        return handle;
    }

    /** {@return whether the object is closed} */
    public boolean isClosed() {
        return whole.closed;
    }

    /** Throws {@link IllegalStateException} if the object is closed. */
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
     * @return true if this call has closed the object, false if it was already closed
     * @throws IllegalStateException if other objects depend on this object, which stays open
     * @throws io.rpma.RpmaException if the native method failed; it has freed the native object nevertheless, and this object
     *     is closed
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
     * Closes the open children that have {@link #closedWithParent}. Continues after a failure. If memory is exhausted, children
     * stay open, and {@link #markClosed} reports them.
     *
     * @param failure gets the failures as suppressed exceptions
     */
    public void closeChildren(Throwable failure) {
        try {
            for (NativeObject child : openChildren()) {
                child.closeAfter(failure);
            }
        } catch (OutOfMemoryError e) {
            failure.addSuppressed(e);
        }
    }

    private void closeAfter(Throwable failure) {
        try {
            closer.accept(this);
        } catch (RuntimeException e) {
            failure.addSuppressed(e);
        }
    }

    private synchronized List<NativeObject> openChildren() {
        return children.stream()
                .filter(child -> child.closer != null && child.handle != 0)
                .collect(Collectors.toList());
    }

    /**
     * Starts to close the object. The caller can hold a lock.
     *
     * @return true if the object was open; {@link #endUses} and {@link #free} must then follow
     * @throws IllegalStateException if other objects depend on this object, which stays open
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
     * Ends the waits for the closed object and its registrations with event loops. The caller must not hold a lock, because
     * this method takes locks. Throws nothing, because {@link #free} must follow.
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
     * @throws io.rpma.RpmaException if the native method failed
     */
    public void free(String operation, LongUnaryOperator delete) {
        try {
            Call.check(operation, delete.applyAsLong(handle), this);
        } finally {
            leaveParents();
        }
    }

    /**
     * Registers an action, which the closing thread runs before it frees the native object.
     *
     * @param closing the action
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
     * Removes an action of {@link #beforeClose}.
     *
     * @param closing the action
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
     * Reserves the descriptor of the object for an event loop.
     *
     * @param loop the loop
     * @throws IllegalStateException if a loop has already reserved the descriptor
     */
    public synchronized void claim(Object loop) {
        if (server != null) {
            throw new IllegalStateException(name + " is served by " + server);
        }
        server = loop;
    }

    /** Ends the reservation of {@link #claim}. */
    public synchronized void release() {
        server = null;
    }

    /**
     * Checks that threads may wait for the object.
     *
     * @param operation the C function of the call
     * @throws IllegalStateException if an event loop serves it
     */
    public void checkUnclaimed(String operation) {
        Object loop = server;
        if (loop != null) {
            throw new IllegalStateException(operation + ": " + name + " is served by " + loop);
        }
    }

    /** Removes this object from its parents, after the native object is freed. {@link #free} includes this call. */
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

    /** Reports that the facade was collected before it was closed. */
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
