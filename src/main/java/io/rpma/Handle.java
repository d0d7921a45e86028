package io.rpma;

import io.rpma.internal.NativeObject;
import java.lang.ref.Cleaner;
import java.util.LinkedHashSet;
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

    private final String name;
    private final Handle[] parents;
    private final Handle whole;
    private final Set<Handle> children = new LinkedHashSet<>();
    private final Throwable site = LEAK_SITES ? new Throwable("created here") : null;
    private Set<Runnable> closings;
    private volatile Served<?> server;
    private Cleaner.Cleanable leak;
    private long id;

    /** Why the native object could not be made or freed, or null. */
    private String failure;

    private volatile boolean closed;

    /**
     * Takes a place among the parents' children, so that none of them can be closed while the native object is made.
     *
     * @throws IllegalStateException if a parent is closed
     */
    Handle(String type, Handle... parents) {
        Loader.ensureLoaded();
        // before there is a native object, which a failure would leave behind
        LEAKS.started();
        name = type + "#" + COUNT.incrementAndGet();
        this.parents = parents;
        whole = this;
        int added = 0;
        try {
            for (Handle parent : parents) {
                parent.add(this);
                added++;
            }
        } finally {
            if (added < parents.length) {
                for (int i = 0; i < added; i++) {
                    parents[i].remove(this);
                }
            }
        }
    }

    private Handle(Handle whole, String type, long nativeId) {
        name = type + " of " + whole.name;
        parents = new Handle[] {};
        this.whole = whole;
        id = nativeId;
    }

    /** Ends the making of the native object: it exists. */
    @Override
    public Handle opened(long nativeId) {
        id = nativeId;
        return this;
    }

    /**
     * Gives the place among the parents' children back if the native object was not made. {@link #opened(String, long)}
     * comes after it.
     *
     * @param result what the native returned, or {@link Natives#CLOSED} where it did not
     */
    void made(long result) {
        if (result < 0) {
            try {
                failure = Log.lastReasons();
            } finally {
                // whatever fails for want of memory: a parent with a child that is not there could never be closed
                abandon();
            }
        }
    }

    /**
     * Ends the making of the native object with the result of the native that makes it. Delivers librpma's messages, so
     * no lock may be held that a user's function could want.
     *
     * @throws RpmaException if the result is an error
     */
    Handle opened(String operation, long result) {
        return opened(check(operation, result, parents));
    }

    /** As {@link Call#check}, of a call whose messages may have been kept since. */
    private long check(String operation, long result, Handle... handles) {
        if (result < 0 && failure != null) {
            throw Call.failure(operation, result, failure, handles);
        }
        return Call.check(operation, result, handles);
    }

    /**
     * Makes the native object, without a lock of its own around it.
     *
     * @throws RpmaException if the native returns an error
     */
    @Override
    public Handle opened(String operation, LongSupplier maker) {
        long result = Natives.CLOSED;
        try {
            result = maker.getAsLong();
        } finally {
            made(result);
        }
        return opened(operation, result);
    }

    /** Ends the making of the native object: it does not exist. */
    @Override
    public void abandon() {
        closed = true;
        leaveParents();
    }

    /** An object that belongs to this one and is closed with it, never by itself. */
    @Override
    public Handle part(String type, long nativeId) {
        return new Handle(this, type, nativeId);
    }

    /** Reports the facade if it is collected before it is closed. */
    @Override
    public void watch(Object facade) {
        leak = LEAKS.started().register(facade, new Leak());
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
        check(operation, result, this);
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

    /** Ends what waits for the object and what serves it. That may call the user, so no lock may be held. */
    void endUses() {
        if (leak != null) {
            leak.clean();
        }
        for (Runnable closing : takeClosings()) {
            runClosing(closing);
        }
    }

    /** The native object has to be freed, whatever this throws. */
    private static void runClosing(Runnable closing) {
        try {
            closing.run();
        } catch (Throwable e) {
            Log.reportUncaught(e);
        }
    }

    private synchronized Set<Runnable> takeClosings() {
        Set<Runnable> taken = closings == null ? Set.of() : closings;
        closings = null;
        return taken;
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
            closings = new LinkedHashSet<>();
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
            if (!closed) {
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
