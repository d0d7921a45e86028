// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.internal;

import java.util.Arrays;
import java.util.Collection;

/**
 * A close of many objects. It ends the uses of all objects in one native call, which waits once for the calls under
 * way.
 *
 * <p>Each object that this close has marked as closed is freed, even if memory runs out: no step after the mark can
 * fail for lack of memory. No code of the user runs meanwhile, so that no close runs inside another close.
 */
final class Closing {
    /** Newest first: most objects are made after their parents, so that few objects must be marked in a second turn. */
    private final Resource[] objects;

    /**
     * The objects that this close has marked, children before their parents; then the objects that wait for their
     * children; then the objects that this close does not close.
     */
    private final Resource[] order;

    private int marked;
    private int pending;

    /** The handles of the marked objects. */
    private final long[] handles;

    /** Thrown at the end. */
    private Throwable failure;

    /** The failure of an action of {@link Resource#beforeClose}, which does not fail the close. */
    private Throwable actionFailure;

    Closing(Collection<Resource> objects) {
        this.objects = objects.toArray(new Resource[0]);
        Arrays.sort(this.objects, Resource.NEWEST_FIRST);
        order = this.objects.clone();
        pending = order.length;
        handles = new long[order.length];
    }

    /**
     * Closes the objects that are open.
     *
     * @throws IllegalStateException if another object depends on one of the objects
     */
    void run() {
        Stack.reserve();
        for (Resource object : objects) {
            object.checkChildren(this);
        }
        markAll();
        try {
            endUses();
        } finally {
            freeAll();
        }
        awaitOthers();
        if (actionFailure != null) {
            Log.reportUncaught(actionFailure);
        }
        if (failure instanceof Error) {
            throw (Error) failure;
        }
        if (failure != null) {
            throw (RuntimeException) failure;
        }
    }

    /** Whether the object, or the object that it is a part of, is one of the objects. */
    boolean contains(Resource object) {
        return Arrays.binarySearch(objects, object.whole(), Resource.NEWEST_FIRST) >= 0;
    }

    private void markAll() {
        int before;
        do {
            before = pending - marked;
            markOnce();
        } while (pending > marked && pending - marked < before);
        if (marked < pending && failure == null) {
            // the facades can't make such objects
            failed(new IllegalStateException(order[marked] + " and another object depend on each other"));
        }
    }

    /** An object is marked after its children. */
    private void markOnce() {
        for (int i = marked; i < pending; i++) {
            Resource object = order[i];
            boolean later = false;
            try {
                if (object.markClosed(this)) {
                    order[i] = order[marked];
                    order[marked] = object;
                    marked++;
                    continue;
                }
                later = !object.isClosed();
            } catch (Throwable e) {
                failed(e);
            }
            if (!later) {
                pending--;
                order[i] = order[pending];
                order[pending] = object;
                i--;
            }
        }
    }

    private void endUses() {
        for (int i = 0; i < marked; i++) {
            actionFailure = joined(actionFailure, order[i].endUses());
            handles[i] = order[i].handle();
        }
        Natives.handleEndUses(handles, marked);
    }

    private void freeAll() {
        for (int i = 0; i < marked; i++) {
            try {
                order[i].awaitChildren();
                order[i].free();
            } catch (Throwable e) {
                failed(e);
            }
        }
    }

    /** Waits for the objects that other threads are closing. */
    private void awaitOthers() {
        for (int i = marked; i < order.length; i++) {
            order[i].awaitFreed();
        }
    }

    private void failed(Throwable e) {
        failure = joined(failure, e);
    }

    /**
     * {@return the first failure, which gets the next one as a suppressed exception if there is memory; either can be null}
     */
    static Throwable joined(Throwable first, Throwable next) {
        if (first == null) {
            return next;
        }
        if (next != null && next != first) {
            try {
                first.addSuppressed(next);
            } catch (OutOfMemoryError lost) {
                // the remaining objects must be freed
                return first;
            }
        }
        return first;
    }
}
