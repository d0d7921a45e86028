// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import io.rpma.internal.Call;
import io.rpma.internal.Natives;
import io.rpma.internal.Resource;
import io.rpma.internal.Waiter;
import java.lang.ref.Reference;
import java.util.concurrent.TimeUnit;

/**
 * A completion queue, which reports the operations that have ended.
 *
 * <pre>{@code
 * while (cq.await(completions, 1, TimeUnit.SECONDS) > 0) {
 *     for (int i = 0; i < completions.count(); i++) {
 *         System.out.println(completions.wrId(i) + ": " + completions.status(i));
 *     }
 * }
 * }</pre>
 *
 * <p>Safe for use by many threads, each with its own {@link RpmaCompletions}. A queue belongs to its connection or
 * shared receive queue, and is closed with it.
 *
 * <p>A queue that shares its completion channel ({@link RpmaConnCfg#setComplChannel}) can be polled. To wait for it,
 * call {@link RpmaConn#await}.
 *
 * <p>Manual pages: rpma_cq_get_wc(3), rpma_cq_wait(3), rpma_cq_get_fd(3).
 */
public final class RpmaCq {
    private static final String WAIT = "rpma_cq_wait";

    private final Object owner;
    private final Resource object;

    // set by made

    private long handle;

    /** Null if the connection's queues share one channel. */
    private RpmaCompletionWait channel;

    /**
     * @param owner the connection or shared receive queue
     * @param whole the native object of the owner, with which the queue is made and closed
     */
    RpmaCq(Object owner, Resource whole, String name) {
        this.owner = owner;
        object = whole.part(name);
        channel = new RpmaCompletionWait(WAIT, object, false, this, null);
    }

    /**
     * Takes the handle of the queue.
     *
     * @param sharesChannel whether only the connection can wait for the queue
     */
    void made(long queue, boolean sharesChannel) {
        object.madeWithWhole(queue);
        handle = queue;
        if (sharesChannel) {
            channel = null;
        }
    }

    /**
     * Takes completions without waiting.
     *
     * <p>Allocates nothing.
     *
     * @param completions receives the completions; its former content is lost
     * @return the number of completions taken, from 0 to the capacity
     * @throws IllegalStateException if this object is closed
     * @throws RpmaException if the device fails
     */
    public int poll(RpmaCompletions completions) {
        completions.clear();
        int result = Natives.cqGetWc(handle, completions.capacity(), completions.address());
        Reference.reachabilityFence(completions);
        if (result < 0) {
            throw Call.failure("rpma_cq_get_wc", result, object);
        }
        completions.filled(result);
        return result;
    }

    /**
     * Takes completions. If there are none, waits for the first completion, without a timeout.
     *
     * @param completions receives the completions; its former content is lost
     * @return the number of completions taken, from 1 to the capacity
     * @throws InterruptedException if the thread is interrupted before or during the wait
     * @throws IllegalStateException if this queue is closed before or during the wait, or served by an
     *     {@link RpmaEventLoop}
     * @throws RpmaException with {@link RpmaError#SHARED_CHANNEL} if the queue shares its completion channel; or if the
     *     device fails
     */
    public int await(RpmaCompletions completions) throws InterruptedException {
        completions.clear();
        checkOwnChannel();
        channel.await(completions, false, null, Waiter.FOREVER);
        return completions.count();
    }

    /**
     * Takes completions. If there are none, waits for the first completion.
     *
     * @param completions receives the completions; its former content is lost
     * @param timeout the maximum time to wait; 0 returns without waiting
     * @param unit the unit of {@code timeout}
     * @return the number of completions taken, from 1 to the capacity; 0 if the wait times out
     * @throws IllegalArgumentException if {@code timeout} is negative
     * @throws InterruptedException if the thread is interrupted before or during the wait
     * @throws IllegalStateException if this queue is closed before or during the wait, or served by an
     *     {@link RpmaEventLoop}
     * @throws RpmaException with {@link RpmaError#SHARED_CHANNEL} if the queue shares its completion channel; or if the
     *     device fails
     */
    public int await(RpmaCompletions completions, long timeout, TimeUnit unit) throws InterruptedException {
        long nanos = Waiter.nanos(timeout, unit);
        completions.clear();
        checkOwnChannel();
        channel.await(completions, false, null, nanos);
        return completions.count();
    }

    /**
     * Takes completions. If there are none, waits for the first completion, as long as the connection exists: the wait
     * also ends with an event that reports the end of the connection, such as {@link RpmaConnEvent#CLOSED}.
     *
     * <p>Completions that have arrived come first. Those of operations that the other side has executed can still come
     * after the event: {@link #await(RpmaCompletions, long, TimeUnit) await} waits for them. The wait takes the event,
     * unless another thread waits for events or a loop serves them; {@link RpmaConn#nextEvent()} still returns it
     * afterwards, but {@link RpmaConn#getEventFd} is not readable then. While another thread waits for this queue by
     * {@code await}, only the timeout ends this wait.
     *
     * @param completions receives the completions; its former content is lost
     * @param timeout the maximum time to wait; 0 returns without waiting
     * @param unit the unit of {@code timeout}
     * @return the number of completions taken, from 1 to the capacity; 0 if the wait times out
     * @throws IllegalArgumentException if {@code timeout} is negative
     * @throws InterruptedException if the thread is interrupted before or during the wait
     * @throws IllegalStateException if this queue is closed before or during the wait, served by an
     *     {@link RpmaEventLoop}, or belongs to a shared receive queue
     * @throws RpmaException with {@code ENOTCONN} and the event if the connection has ended and there are no
     *     completions, or with {@code ECONNREFUSED} or {@code EHOSTUNREACH} if it was never established; with
     *     {@link RpmaError#UNKNOWN} for an event that librpma does not know; with {@link RpmaError#SHARED_CHANNEL} if the queue
     *     shares its completion channel; or if the device fails
     */
    public int awaitWhileConnected(RpmaCompletions completions, long timeout, TimeUnit unit)
            throws InterruptedException {
        long nanos = Waiter.nanos(timeout, unit);
        completions.clear();
        checkOwnChannel();
        if (!(owner instanceof RpmaConn)) {
            throw new IllegalStateException(object + " has no connection: it belongs to " + owner);
        }
        channel.await(completions, false, ((RpmaConn) owner).events(), nanos);
        return completions.count();
    }

    /** Wakes the thread that waits for this queue and watches the connection. */
    void wakeWaits() {
        RpmaCompletionWait own = channel;
        if (own != null) {
            own.wake();
        }
    }

    /** The completion channel, which only this queue uses. */
    RpmaCompletionWait ownChannel() {
        checkOwnChannel();
        return channel;
    }

    private void checkOwnChannel() {
        if (channel == null) {
            throw RpmaCompletionWait.refusal(WAIT, object, 0, object);
        }
    }

    /**
     * {@return the file descriptor of the queue's completion channel, for epoll(7) and similar calls}
     *
     * <p>The descriptor is readable if a completion has arrived since the queue was last armed. The queue is armed when
     * it is created, and again by {@link #await}. To use the descriptor, call {@code await} with a timeout of 0 until
     * it takes nothing, and then wait for the descriptor to become readable. If the queue shares its channel, this
     * method returns the descriptor of the shared channel: see {@link RpmaConn#getComplFd()}.
     *
     * <p>The descriptor belongs to this queue. Do not close it, read from it, or use it after the queue is closed. It
     * is non-blocking.
     *
     * @throws IllegalStateException if this object is closed
     */
    public int getFd() {
        return (int) Call.check("rpma_cq_get_fd", Natives.cqGetFd(handle), object);
    }

    /** The connection or shared receive queue. */
    Object owner() {
        return owner;
    }

    Resource object() {
        return object;
    }

    @Override
    public String toString() {
        return object.describe();
    }
}
