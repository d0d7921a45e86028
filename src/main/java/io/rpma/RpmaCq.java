package io.rpma;

import io.rpma.internal.Call;
import io.rpma.internal.NativeObject;
import io.rpma.internal.Natives;
import io.rpma.internal.Waiter;
import java.lang.ref.Reference;
import java.util.concurrent.TimeUnit;

/**
 * A completion queue: tells which operations are done.
 *
 * <p>Safe for use by many threads, each with its own {@link RpmaCompletions}. It belongs to its connection or
 * shared receive queue and is closed with it.
 *
 * <p>A queue that shares its completion channel ({@link RpmaConnCfg#setComplChannel}) can be polled, but is waited for by
 * {@link RpmaConn#await}.
 *
 * <p>Manual pages: rpma_cq_get_wc(3), rpma_cq_wait(3), rpma_cq_get_fd(3).
 */
public final class RpmaCq {
    private static final String WAIT = "rpma_cq_wait";

    private final Object owner;
    private final NativeObject object;

    // set by made

    private long handle;

    /** Null if the connection's queues share one. */
    private ComplChannel channel;

    /**
     * @param owner the connection or shared receive queue
     * @param whole the owner's handle, with which it is made and closed
     */
    RpmaCq(Object owner, NativeObject whole, String name) {
        this.owner = owner;
        object = whole.part(name);
        channel = new ComplChannel(WAIT, object, false, this, null);
    }

    /**
     * Takes the handle of the queue.
     *
     * @param sharesChannel whether only its connection can wait for it
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
     * @param completions where to; what it had before is gone
     * @return how many were taken, from 0 to the capacity
     * @throws IllegalStateException if closed
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
     * Takes completions, and waits without end for the first one.
     *
     * @param completions where to; what it had before is gone
     * @return how many were taken, from 1 to the capacity
     * @throws InterruptedException if the thread is interrupted before or while waiting
     * @throws IllegalStateException if closed, before or while waiting, or served by an {@link RpmaEventLoop}
     * @throws RpmaException with {@link RpmaError#SHARED_CHANNEL} if the queue shares its completion channel; or if the
     *     device fails
     */
    public int await(RpmaCompletions completions) throws InterruptedException {
        completions.clear();
        checkOwnChannel();
        channel.await(completions, false, Waiter.FOREVER);
        return completions.count();
    }

    /**
     * Takes completions, and waits for the first one if there is none.
     *
     * @param completions where to; what it had before is gone
     * @param timeout how long to wait; 0 does not wait
     * @param unit the unit of {@code timeout}
     * @return how many were taken, from 1 to the capacity; 0 if the time is up
     * @throws IllegalArgumentException if {@code timeout} is negative
     * @throws InterruptedException if the thread is interrupted before or while waiting
     * @throws IllegalStateException if closed, before or while waiting, or served by an {@link RpmaEventLoop}
     * @throws RpmaException with {@link RpmaError#SHARED_CHANNEL} if the queue shares its completion channel; or if the
     *     device fails
     */
    public int await(RpmaCompletions completions, long timeout, TimeUnit unit) throws InterruptedException {
        long nanos = Waiter.nanos(timeout, unit);
        completions.clear();
        checkOwnChannel();
        channel.await(completions, false, nanos);
        return completions.count();
    }

    /** The completion channel, which is this queue's own. */
    ComplChannel ownChannel() {
        checkOwnChannel();
        return channel;
    }

    private void checkOwnChannel() {
        if (channel == null) {
            throw Call.failure(WAIT, Natives.cqWait(handle), object);
        }
    }

    /**
     * {@return the descriptor on which completions can be waited for with epoll(7) and the like; of the shared channel if
     * the queue has none of its own}
     *
     * <p>It is readable when something has completed since the queue was last armed, which making it and {@link #await}
     * do: take completions by {@code await} with a timeout of 0 until there is none, then wait again.
     *
     * <p>It is borrowed: never close it or read from it, and use it no more once this queue is closed. It does not block.
     *
     * @throws IllegalStateException if closed
     */
    public int getFd() {
        return (int) Call.check("rpma_cq_get_fd", Natives.cqGetFd(handle), object);
    }

    /** The connection or shared receive queue. */
    Object owner() {
        return owner;
    }

    NativeObject object() {
        return object;
    }

    @Override
    public String toString() {
        return object.toString();
    }
}
