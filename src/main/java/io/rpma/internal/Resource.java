// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.internal;

import java.lang.invoke.VarHandle;
import java.lang.ref.Cleaner;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.StringJoiner;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The life cycle of an object that must be closed, and the objects that depend on it: a native object, which C
 * identifies by a handle, a memory or a pool.
 *
 * <pre>
 *   constructed --begin--&gt; being made --made--&gt; open --markClosed--&gt; closed --endUses--&gt; unused --free--&gt; freed
 *                              |                 |                                                       ^
 *                              | (failed)        +-------------------- close, closeAll ------------------+
 *                              v
 *                            closed
 * </pre>
 *
 * <p>An object that is being made or open is a child of its parents. {@code markClosed} refuses to close a parent
 * before its children. A part has no life cycle of its own: it is closed with its whole.
 *
 * <p>A {@code Resource} stays reachable through its parents. It does not refer to its facade, so that the garbage
 * collector can detect a facade that was dropped without {@code close()}. Exception: while an event loop serves the
 * object, the object refers to its facade.
 */
public final class Resource {
    private static final boolean LEAK_SITES = Boolean.getBoolean("io.rpma.leakSites");
    static final LazyCleaner CLEANER = new LazyCleaner();
    private static final AtomicLong COUNT = new AtomicLong();

    /** The time between two looks of a virtual thread at a close of another thread, in nanoseconds. */
    private static final long PAUSE = 1_000_000;

    static final Comparator<Resource> NEWEST_FIRST = new NewestFirst();

    static {
        // initialise Log before the first native object exists: if the initialisation failed later for lack of memory,
        // nothing could close that object
        Log.threshold();
        // a process without free descriptors can't load the class during its first wait
        FlightEvents.isRecording();
    }

    /** The handle of an object without an entry in the table of handles. No open handle has this value. */
    public static final long WITHOUT_ENTRY = 1;

    private final long number;
    private final String name;
    private final Resource[] parents;
    private final Resource whole;
    private final Set<Resource> children = new LinkedHashSet<>();
    private final Throwable site = LEAK_SITES ? new Throwable("created here") : null;

    /** Reports a leak; null for a part. */
    private final Cleaner.Cleanable leak;

    /** Null for a part. */
    final ObjectKind kind;

    /** The last part that has parents, and the one before a part; or null. Set under the monitor of the whole. */
    private Resource part;

    /** Run before the object is freed; or null. */
    private Queue<Runnable> actions;

    /** Whether {@link #free} follows. Set before {@link #closed}, and read after it. */
    private boolean closing;

    /** The thread between {@link #markClosed} and the end of {@link #free}, or null. */
    private Thread closer;

    private volatile Object server;

    /** 0 before the native object is made. */
    private long handle;

    private long size;

    private volatile boolean closed;

    /**
     * Creates an object for {@link #make}, or for {@link #begin}, {@link #made} and {@link #endMaking}. All Java
     * objects that belong to the native object must exist before these calls. Otherwise a lack of memory could leave a
     * native object that nothing can close.
     *
     * @param facade the object whose collection before {@code close()} is reported
     * @param type the name of the type, for messages
     * @param kind frees the native object
     * @param parents the objects that must not be closed before this one
     */
    public Resource(Object facade, String type, ObjectKind kind, Resource... parents) {
        Loader.ensureLoaded();
        number = COUNT.incrementAndGet();
        name = type + "#" + number;
        this.kind = kind;
        this.parents = parents;
        whole = this;
        leak = CLEANER.started().register(facade, new Leak());
    }

    private Resource(Resource whole, String type, Resource... parents) {
        number = whole.number;
        name = type + " of " + whole.name;
        this.parents = parents;
        this.whole = whole;
        kind = null;
        leak = null;
    }

    /**
     * {@return a part of this object, which is closed with this object; {@link #madeWithWhole} sets the handle of the part}
     *
     * @param type the name of the type, for messages
     * @param parents the objects that must not be closed before this object, if the part has some of its own
     */
    public Resource part(String type, Resource... parents) {
        return new Resource(this, type, parents);
    }

    /**
     * Makes this object a child of its parents, so that no parent can be closed while the native object is made. The
     * caller must then call {@link #made} if it makes the native object, and {@link #endMaking} in any case. An object
     * without parents needs {@link #made} only.
     *
     * @throws IllegalStateException if a parent is closed
     */
    public void begin() {
        Stack.reserve();
        boolean begun = false;
        try {
            for (Resource parent : parents) {
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
            Resource[] objects = Arrays.copyOf(parents, parents.length + 1);
            objects[parents.length] = this;
            throw Call.failure(operation, result, objects);
        }
        synchronized (this) {
            handle = result;
        }
        // a thread that sees the facade also sees the fields that were set after its construction,
        // as if they were final
        VarHandle.releaseFence();
        Log.deliver();
    }

    /**
     * Takes the handle of this part, which is made and closed with its whole.
     *
     * @param handleOfPart the handle; 0 if the part has none
     */
    public void madeWithWhole(long handleOfPart) {
        handle = handleOfPart;
        if (parents.length > 0) {
            whole.link(this);
        }
    }

    private synchronized void link(Resource made) {
        made.part = part;
        part = made;
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

    /** Sets the size of a region in bytes, which a limit can exclude. */
    public void setSize(long bytes) {
        size = bytes;
    }

    /** Returns the size of a region; 0 for another object. */
    long size() {
        return size;
    }

    /** {@return the handle of the native object; 0 before it is made} */
    public long handle() {
        return handle;
    }

    /**
     * Returns the limits of the device of this object or of a parent, as {@link ObjectKind#deviceLimits} does; or null.
     */
    byte[] deviceLimits() {
        byte[] limits = whole.kind.deviceLimits(whole);
        for (int i = 0; limits == null && i < whole.parents.length; i++) {
            limits = whole.parents[i].deviceLimits();
        }
        return limits;
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
     * Closes the native object, once. If another thread is closing it, waits until it is freed. Needs no memory if no
     * thread contends for a lock, so that an object can be closed after an {@link OutOfMemoryError}. Otherwise it can
     * fail before the object is closed, as it does if there is no room on the stack.
     *
     * @return true if this call has closed the object, false if it was already closed
     * @throws IllegalStateException if other objects depend on this object, which stays open
     * @throws io.rpma.RpmaException if the native method failed; it has freed the native object nevertheless, and this
     *     object is closed
     */
    public boolean close() {
        Stack.reserve();
        if (!markClosed(null)) {
            awaitFreed();
            return false;
        }
        Throwable actionFailure = null;
        try {
            actionFailure = endUses();
        } finally {
            freeAndReport(actionFailure);
        }
        return true;
    }

    /**
     * Closes objects, children before their parents. Skips objects that are closed.
     *
     * @param objects the objects, in any order
     * @throws IllegalStateException if an object that is not in {@code objects} depends on one of them; nothing is
     *     closed, unless another thread has made the object during the call
     * @throws io.rpma.RpmaException if a native method failed; all objects are closed nevertheless
     */
    public static void closeAll(Collection<Resource> objects) {
        new Closing(objects).run();
    }

    /**
     * Closes this object and all objects that depend on it, as {@link #closeAll} does. Closes nothing if one of these
     * objects is being made, or if a part of another object depends on one of them.
     */
    public void closeTree() {
        Set<Resource> objects = new LinkedHashSet<>();
        Queue<Resource> next = new ArrayDeque<>();
        next.add(this);
        while (!next.isEmpty()) {
            Resource object = next.remove();
            if (objects.add(object)) {
                object.addChildren(next);
            }
        }
        closeAll(objects);
    }

    private synchronized void addChildren(Collection<Resource> to) {
        for (Resource child : children) {
            if (child.whole == child && child.isMade()) {
                to.add(child);
            }
        }
    }

    private synchronized boolean isMade() {
        return handle != 0;
    }

    /**
     * Closes an object whose native object the caller then hands over to a native method. {@link #leaveParents} must
     * follow.
     *
     * @return false if the object was already closed
     * @throws IllegalStateException if other objects depend on this object, which stays open
     */
    public synchronized boolean markClosed() {
        if (closed) {
            return false;
        }
        checkNoChildren(null);
        closed = true;
        leak.clean();
        return true;
    }

    /**
     * As {@link #markClosed()}, but {@link #endUses} and {@link #free} must follow, and children that the close
     * contains can remain if they are closed.
     *
     * @param by the close of many objects, or null
     * @return false if the object was already closed, or such a child is still open
     */
    boolean markClosed(Closing by) {
        kind.lock();
        try {
            return markClosedIn(by);
        } finally {
            kind.unlock();
        }
    }

    private synchronized boolean markClosedIn(Closing by) {
        if (closed) {
            return false;
        }
        checkNoChildren(by);
        if (!children.isEmpty() && !areClosing(by)) {
            return false;
        }
        closing = true;
        closer = Thread.currentThread();
        closed = true;
        return true;
    }

    private boolean areClosing(Closing by) {
        for (Resource child : children) {
            if (!child.isClosed()) {
                return false;
            }
            if (!child.whole.closing) {
                // free() would wait for a native method of another thread, which can take long
                throw hasChildren(by);
            }
        }
        return true;
    }

    /** Throws an exception if the object is open and has children that the close does not contain. */
    void checkChildren(Closing by) {
        kind.lock();
        try {
            checkChildrenIn(by);
        } finally {
            kind.unlock();
        }
    }

    private synchronized void checkChildrenIn(Closing by) {
        if (!closed) {
            checkNoChildren(by);
        }
    }

    private void checkNoChildren(Closing by) {
        if (children.isEmpty()) {
            // an iterator would need memory
            return;
        }
        for (Resource child : children) {
            if (by == null || !by.contains(child)) {
                throw hasChildren(by);
            }
        }
    }

    private IllegalStateException hasChildren(Closing by) {
        return new IllegalStateException(name + " can't be closed before "
                + children.stream()
                        .filter(child -> by == null || !by.contains(child) || child.isClosed() && !child.whole.closing)
                        .map(Resource::toString)
                        .collect(Collectors.joining(", ")));
    }

    /**
     * Ends the waits for the closed object and its registrations with event loops. The caller must not hold a lock,
     * because the actions take locks. Throws nothing, because {@link #free} must follow.
     *
     * @return the first failure of an action, which has the others as suppressed exceptions; or null
     */
    Throwable endUses() {
        leak.clean();
        Throwable failure = null;
        for (Runnable action = takeAction(); action != null; action = takeAction()) {
            try {
                action.run();
            } catch (Throwable e) {
                failure = Closing.joined(failure, e);
            }
        }
        return failure;
    }

    private synchronized Runnable takeAction() {
        return actions == null ? null : actions.poll();
    }

    /** Frees the native object, which has no children. */
    void free() {
        try {
            Call.check(kind.operation(), kind.delete(this), this);
        } finally {
            try {
                for (Resource one = part; one != null; one = one.part) {
                    one.leaveParents();
                }
                leaveParents();
            } finally {
                freed();
            }
        }
    }

    private void freeAndReport(Throwable actionFailure) {
        try {
            free();
        } finally {
            if (actionFailure != null) {
                Log.reportUncaught(actionFailure);
            }
        }
    }

    private synchronized void freed() {
        closer = null;
        notifyAll();
    }

    /** Waits until other threads have freed the children that the close of many objects has left. */
    synchronized void awaitChildren() {
        boolean interrupted = false;
        while (!children.isEmpty()) {
            interrupted |= isInterruptedWhileWaiting();
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Waits until another thread that is closing the object has freed it. */
    void awaitFreed() {
        boolean interrupted = false;
        if (Waiter.isVirtual()) {
            // in a monitor, the thread would keep its carrier, which the closing thread may need
            while (isBeingFreed()) {
                LockSupport.parkNanos(PAUSE);
                interrupted |= Thread.interrupted();
            }
        } else {
            interrupted = blockUntilFreed();
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private synchronized boolean blockUntilFreed() {
        boolean interrupted = false;
        while (isBeingFreed()) {
            interrupted |= isInterruptedWhileWaiting();
        }
        return interrupted;
    }

    private synchronized boolean isBeingFreed() {
        return closer != null && closer != Thread.currentThread();
    }

    private boolean isInterruptedWhileWaiting() {
        try {
            wait();
            return false;
        } catch (InterruptedException | OutOfMemoryError e) {
            // an interruption without the memory for its exception
            return true;
        }
    }

    Resource whole() {
        return whole;
    }

    /**
     * Registers an action, which the closing thread runs before it frees the native object.
     *
     * @param action the action
     * @return false if the object is closed
     */
    public boolean beforeClose(Runnable action) {
        return whole.addAction(action);
    }

    private synchronized boolean addAction(Runnable action) {
        if (closed) {
            return false;
        }
        if (actions == null) {
            actions = new ArrayDeque<>();
        }
        actions.add(action);
        return true;
    }

    /**
     * Removes an action of {@link #beforeClose}.
     *
     * @param action the action
     */
    public void notBeforeClose(Runnable action) {
        whole.removeAction(action);
    }

    private synchronized void removeAction(Runnable action) {
        if (actions != null) {
            actions.remove(action);
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

    /** Returns whether an event loop has reserved the descriptor. */
    boolean isClaimed() {
        return server != null;
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
        for (Resource parent : parents) {
            parent.remove(this);
        }
    }

    private synchronized void add(Resource child) {
        checkOpen();
        children.add(child);
    }

    private synchronized void remove(Resource child) {
        children.remove(child);
        notifyAll();
    }

    /** The order of creation, reversed. */
    private static final class NewestFirst implements Comparator<Resource> {
        @Override
        public int compare(Resource one, Resource other) {
            return Long.compare(other.number, one.number);
        }
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

    /**
     * Returns the text for {@code toString} of the facade: the name, the parents, the facts, and whether the object is
     * closed. Messages have {@link #toString} instead, so that they stay short.
     *
     * @param facts what identifies the object; null for an unknown fact
     */
    public String describe(Object... facts) {
        StringJoiner text = new StringJoiner(", ", name + "[", "]").setEmptyValue(name);
        Stream.of(parents, facts)
                .flatMap(Stream::of)
                .filter(Objects::nonNull)
                .forEach(fact -> text.add(fact.toString()));
        return (isClosed() ? text.add("closed") : text).toString();
    }

    /**
     * {@return a fact that only the native object has; null if the object is closed}
     *
     * @param fact calls the native object, and does not block
     */
    public Object whileOpen(Supplier<?> fact) {
        try {
            return isClosed() ? null : fact.get();
        } catch (RuntimeException e) {
            // another thread has closed the object
            return null;
        }
    }

    /** {@return the name, for messages} */
    @Override
    public String toString() {
        return name;
    }
}
