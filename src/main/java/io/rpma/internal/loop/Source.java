// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.internal.loop;

import io.rpma.internal.Resource;

/**
 * Takes items from one object, and calls the handler of the program with each. An event loop uses it. The objects of
 * both facades have sources.
 *
 * @param <T> the type of the items
 */
public abstract class Source<T> {
    private final Object object;
    private final Resource descriptor;

    /**
     * @param object the object of the program that failures are reported for
     * @param descriptor the object that has the descriptor
     */
    protected Source(Object object, Resource descriptor) {
        this.object = object;
        this.descriptor = descriptor;
    }

    /** {@return the object of the program that failures are reported for} */
    public final Object object() {
        return object;
    }

    /** {@return the object that has the descriptor} */
    public final Resource descriptor() {
        return descriptor;
    }

    /**
     * Takes an item without waiting. The loop does not call this method after the end of the registration, so that the
     * next user of the object finds the rest.
     *
     * @return the item, or null if there is none; the next item then makes the descriptor readable
     */
    public abstract T take();

    /**
     * Calls the handler.
     *
     * @param taken the item
     * @throws Exception if the handler fails
     */
    public abstract void call(T taken) throws Exception;

    /**
     * Claims the descriptor, so that nothing else waits for it.
     *
     * @param loop the loop
     * @throws IllegalStateException if another loop has claimed the descriptor, or a thread waits for it
     */
    public void claim(Object loop) {
        descriptor.claim(loop);
    }

    /** Ends the claim. */
    public void release() {
        descriptor.release();
    }

    /**
     * {@return whether the registration continues after this failure of {@link #take}}
     *
     * @param failure the failure
     */
    public boolean survives(Throwable failure) {
        return false;
    }

    /**
     * {@return whether the item of the last {@link #take} may still be in place, after a failure that the registration survives}
     *
     * <p>If it is, the descriptor stays readable, and an immediate retry would fail again.
     *
     * @param failure the failure
     */
    public boolean leavesItem(Throwable failure) {
        return false;
    }

    /**
     * {@return whether the last {@link #take} has found the object in a call of another thread, so that there may be an
     * item nevertheless}
     */
    public boolean isBusy() {
        return false;
    }

    /**
     * Ends the use of an item whose handler has failed.
     *
     * @param taken the item
     * @param failure the failure of the handler
     * @return whether the registration continues: by default only if the handler was interrupted
     */
    public boolean survivesCall(T taken, Throwable failure) {
        return failure instanceof InterruptedException;
    }
}
