package io.rpma;

import io.rpma.internal.NativeObject;
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
 * The life of one native object: open, closed, and which objects depend on it.
 *
 * <p>A handle stays reachable through its parents and never refers to its facade, unless an event loop serves it, so that a
 * facade which is dropped without {@code close()} can be noticed.
 */
final class Handle implements NativeObject {
    private static final boolean LEAK_SITES = Boolean.getBoolean("io.rpma.leakSites");
    private static final LazyCleaner LEAKS = new LazyCleaner();
    private static final AtomicLong COUNT = new AtomicLong();

    static {
        // initialised before there is a native object, which a failure for want of memory would leave behind
        Log.threshold();
    }

    private final String name;
    private final Handle[] parents;
    private final Handle whole;
    private final Set<Handle> children = new LinkedHashSet<>();
    private final Throwable site = LEAK_SITES ? new Throwable("created here") : null;

    /** Null for a part. */
    private final Cleaner.Cleanable leak;

    private Queue<Runnable> closings;
    private volatile Served<?> server;

    /** 0 until the native object is made. */
    private long id;

    /** Why the native object could not be made or freed, or null. */
    private String failure;

    private volatile boolean closed;

    /**
     * Of a native object that is to be made: {@link #begin} and {@link #made} follow, as in {@link #make}. All of its Java
     * objects exist by then, because a native object without them could never be closed.
     *
     * @param facade reported if it is collected before it is closed
     */
    Handle(Object facade, String type, Handle... parents) {
        Loader.ensureLoaded();
        name = type + "#" + COUNT.incrementAndGet();
        this.parents = parents;
        whole = this;
        leak = LEAKS.started().register(facade, new Leak());
    }

    /**
     * Takes a place among the parents' children, so that none of them can be closed while the native object is made.
     *
     * @throws IllegalStateException if a parent is closed
     */
    @Override
    public void begin() {
        boolean begun = false;
        try {
            for (Handle parent : parents) {
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

    private Handle(Handle whole, String type) {
        name = type + " of " + whole.name;
        parents = new Handle[] {};
        this.whole = whole;
        leak = null;
    }

    /**
     * Ends the making of the native object. Allocates nothing if it exists; {@link #checkMade} comes after it.
     *
     * @param result its native handle, an error, or {@link Natives#CLOSED} where the native did not return
     */
    @Override
    public void made(long result) {
        if (result >= 0) {
            id = result;
        } else {
            try {
                failure = Log.lastReasons();
            } finally {
                // whatever fails for want of memory: a parent with a child that is not there could never be closed
                abandon();
            }
        }
    }

    /**
     * Checks what {@link #made} was given. Delivers librpma's messages, so no lock may be held that a user's function could
     * want.
     *
     * @throws RpmaException if the result is an error
     */
    void checkMade(String operation, long result) {
        if (result < 0) {
            throw failure(operation, result, parents);
        }
        // what the facade has got since it was constructed is seen by whoever sees the facade, as final fields are
        VarHandle.releaseFence();
        Log.drain();
    }

    private RuntimeException failure(String operation, long result, Handle... handles) {
        return failure == null
                ? Call.failure(operation, result, handles)
                : Call.failure(operation, result, failure, handles);
    }

    /** As {@link #made} and {@link #checkMade}, for an object without parents. */
    void made(String operation, long result) {
        made(result);
        checkMade(operation, result);
    }

    /**
     * Makes the native object, without a lock of its own around it.
     *
     * @throws IllegalStateException if a parent is closed
     * @throws RpmaException if the native returns an error
     */
    @Override
    public void make(String operation, LongSupplier maker) {
        begin();
        long result = Natives.CLOSED;
        try {
            result = maker.getAsLong();
        } finally {
            made(result);
        }
        checkMade(operation, result);
    }

    /** Ends the making of the native object: it does not exist. */
    @Override
    public void abandon() {
        closed = true;
        leaveParents();
        leak.clean();
    }

    /** An object that belongs to this one and is closed with it, never by itself. */
    @Override
    public Handle part(String type) {
        return new Handle(this, type);
    }

    @Override
    public long id() {
        return id;
    }

    @Override
    public boolean isClosed() {
        return whole.closed;
    }

    @Override
    public void checkOpen() {
        if (isClosed()) {
            throw new IllegalStateException(name + " is closed");
        }
    }

    /**
     * Closes the native object, once.
     *
     * @return whether this call has closed it
     * @throws IllegalStateException if other objects depend on this one; it stays open
     * @throws RpmaException if librpma says that it failed; closed all the same, since librpma has freed it
     */
    @Override
    public boolean close(String operation, LongUnaryOperator delete) {
        if (!disown()) {
            return false;
        }
        freed(operation, free(delete));
        return true;
    }

    /**
     * Frees the native object that {@link #disown()} has marked closed.
     *
     * @return what the native returned, for {@link #freed}
     */
    @Override
    public long free(LongUnaryOperator delete) {
        try {
            long result = delete.applyAsLong(id);
            if (result < 0) {
                failure = Log.lastReasons();
            }
            return result;
        } finally {
            leaveParents();
        }
    }

    /**
     * Ends the freeing of the native object with the result of the native that frees it. Delivers librpma's messages.
     *
     * @throws RpmaException if the result is an error
     */
    void freed(String operation, long result) {
        if (result < 0) {
            throw failure(operation, result, this);
        }
        Log.drain();
    }

    /**
     * Marks the object closed without freeing it: the caller has to, with {@link #free} or before {@link #leaveParents}.
     *
     * @return whether it was open
     */
    @Override
    public boolean disown() {
        if (!markClosed()) {
            return false;
        }
        endUses();
        return true;
    }

    /**
     * The first half of {@link #disown()}, which may be done under a lock.
     *
     * @return whether it was open: then {@link #endUses()} has to follow
     */
    synchronized boolean markClosed() {
        if (closed) {
            return false;
        }
        if (!children.isEmpty()) {
            throw new IllegalStateException(name + " can't be closed before "
                    + children.stream().map(Handle::toString).collect(Collectors.joining(", ")));
        }
        closed = true;
        return true;
    }

    /**
     * Ends what waits for the object and what serves it. That may call the user, so no lock may be held. Throws nothing: the
     * native object has to be freed.
     */
    void endUses() {
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
     * Has something done by the thread that closes the object, before the native object is freed.
     *
     * @return false if the object is closed
     */
    boolean beforeClose(Runnable closing) {
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

    /** Has it not done any more. */
    void notBeforeClose(Runnable closing) {
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
     * @throws IllegalStateException if one does already
     */
    synchronized void claim(Served<?> by) {
        if (server != null) {
            throw new IllegalStateException(name + " is served by " + server.loop());
        }
        server = by;
    }

    /** Gives a descriptor that has been claimed back. */
    synchronized void release() {
        server = null;
    }

    /**
     * Checks that threads may wait for the object.
     *
     * @throws IllegalStateException if an event loop serves it
     */
    void checkUnserved(String operation) {
        Served<?> by = server;
        if (by != null) {
            throw new IllegalStateException(operation + ": " + name + " is served by " + by.loop());
        }
    }

    void leaveParents() {
        for (Handle parent : parents) {
            parent.remove(this);
        }
    }

    private synchronized void add(Handle child) {
        checkOpen();
        children.add(child);
    }

    private synchronized void remove(Handle child) {
        children.remove(child);
    }

    /** Reports that the facade is gone. */
    private final class Leak implements Runnable {
        @Override
        public void run() {
            if (id != 0 && !closed) {
                Log.logger()
                        .log(
                                System.Logger.Level.WARNING,
                                name + " was dropped without close()"
                                        + (site == null ? "; -Dio.rpma.leakSites=true tells where it was created" : ""),
                                site);
            }
        }
    }

    @Override
    public String toString() {
        return name;
    }
}
