package io.rpma;

import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A connection: posts operations on the other side's memory, and tells what happens to the connection.
 *
 * <p>Safe for use by many threads. It can be closed while others post, poll or wait: they finish first, or get an
 * {@link IllegalStateException}.
 *
 * <p>Posting ({@link #read}, {@link #write}, {@link #atomicWrite}, {@link #flush}) never blocks and allocates nothing.
 * An operation that is posted is not done: its completion comes through {@link #getCq()}, with the operation context
 * that it was posted with. Operations are carried out in the order in which they are posted. The local memory must be
 * left alone until then.
 *
 * <p>A post returns {@code false} if the send queue has no room: poll completions and post again. Room is given back
 * only by a completion that is polled, so of the operations that fit into the queue ({@link RpmaConnCfg#setSqSize}) at
 * least one has to be posted with {@link #F_COMPLETION_ALWAYS}.
 *
 * <p>The side that connects has to take {@link RpmaConnEvent#ESTABLISHED} by {@link #nextEvent()} for the handshake to
 * go on: the accepting side gets its own only afterwards.
 *
 * <p>A single failed operation breaks the connection (see {@link RpmaWcStatus}). No event tells of that.
 *
 * <p>Manual pages: rpma_read(3), rpma_write(3), rpma_atomic_write(3), rpma_flush(3), rpma_conn_next_event(3),
 * rpma_conn_get_private_data(3), rpma_conn_apply_remote_peer_cfg(3), rpma_conn_disconnect(3), rpma_conn_delete(3).
 */
public final class RpmaConn implements AutoCloseable {
    /** Completion only if the operation fails. */
    public static final int F_COMPLETION_ON_ERROR = 1;

    /** Completion in any case. */
    public static final int F_COMPLETION_ALWAYS = 3;

    /** An emulated flush reads so many bytes, wherever it is. */
    private static final long FLUSH_LENGTH = 8;

    private static final String NEXT_EVENT = "rpma_conn_next_event";
    private static final String DESTINATION = "destination";
    private static final String SOURCE = "source";

    private final RpmaPeer peer;
    private final Handle handle;
    private final long id;
    private final long cqId;
    private final RpmaCq cq;

    /** librpma stores the private data when it reads an event, without a lock. */
    private final ReentrantLock events = new ReentrantLock();

    RpmaConn(RpmaPeer peer, Handle handle, long cqId) {
        this.peer = peer;
        this.handle = handle;
        this.id = handle.id();
        this.cqId = cqId;
        this.cq = new RpmaCq(this, cqId);
        handle.watch(this);
    }

    /**
     * Posts a read: copies bytes of the other side's memory into this side's.
     *
     * @param dst where to, registered for {@link RpmaMrUsage#READ_DST}
     * @param dstOffset in bytes
     * @param src where from, registered for {@link RpmaMrUsage#READ_SRC}
     * @param srcOffset in bytes
     * @param length in bytes, 0 to 2^31
     * @param flags {@link #F_COMPLETION_ALWAYS} or {@link #F_COMPLETION_ON_ERROR}
     * @param opContext comes back as {@link RpmaCompletions#wrId}
     * @return whether it is posted; false if the send queue is full
     * @throws IndexOutOfBoundsException if bytes are outside of a region
     * @throws IllegalArgumentException if a region is not registered for this, or the length or the flags are wrong
     * @throws IllegalStateException if the connection or a region is closed
     * @throws RpmaException if librpma fails, for example because the connection is not established
     */
    public boolean read(
            RpmaMrLocal dst, long dstOffset, RpmaMrRemote src, long srcOffset, long length, int flags, long opContext) {
        Check.flags(flags);
        long dstId = dst.use(RpmaMrUsage.READ_DST, DESTINATION, dstOffset, length);
        long srcId = src.use(RpmaMrUsage.READ_SRC, SOURCE, srcOffset, length);
        int result = Natives.connRead(id, dstId, dstOffset, srcId, srcOffset, length, flags, opContext);
        return result == 0 || isRoomFor("rpma_read", result, dst.handle(), src.handle());
    }

    /**
     * Posts a write: copies bytes of this side's memory into the other side's.
     *
     * <p>Its completion tells that the bytes have been received, not that they are visible or persistent there: that
     * takes a {@link #flush}.
     *
     * @param dst where to, registered for {@link RpmaMrUsage#WRITE_DST}
     * @param dstOffset in bytes
     * @param src where from, registered for {@link RpmaMrUsage#WRITE_SRC}
     * @param srcOffset in bytes
     * @param length in bytes, 0 to 2^31
     * @param flags {@link #F_COMPLETION_ALWAYS} or {@link #F_COMPLETION_ON_ERROR}
     * @param opContext comes back as {@link RpmaCompletions#wrId}
     * @return whether it is posted; false if the send queue is full
     * @throws IndexOutOfBoundsException if bytes are outside of a region
     * @throws IllegalArgumentException if a region is not registered for this, or the length or the flags are wrong
     * @throws IllegalStateException if the connection or a region is closed
     * @throws RpmaException if librpma fails, for example because the connection is not established
     */
    public boolean write(
            RpmaMrRemote dst, long dstOffset, RpmaMrLocal src, long srcOffset, long length, int flags, long opContext) {
        Check.flags(flags);
        long dstId = dst.use(RpmaMrUsage.WRITE_DST, DESTINATION, dstOffset, length);
        long srcId = src.use(RpmaMrUsage.WRITE_SRC, SOURCE, srcOffset, length);
        int result = Natives.connWrite(id, dstId, dstOffset, srcId, srcOffset, length, flags, opContext);
        return result == 0 || isRoomFor("rpma_write", result, dst.handle(), src.handle());
    }

    /**
     * Posts an atomic write: sets 8 bytes of the other side's memory, so that nobody sees a part of them.
     *
     * <p>It is carried out after the flushes that were posted before it.
     *
     * @param dst where to, registered for {@link RpmaMrUsage#WRITE_DST}
     * @param dstOffset in bytes; the address there must be a multiple of 8
     * @param value stored in the byte order of this machine
     * @param flags {@link #F_COMPLETION_ALWAYS} or {@link #F_COMPLETION_ON_ERROR}
     * @param opContext comes back as {@link RpmaCompletions#wrId}
     * @return whether it is posted; false if the send queue is full
     * @throws IndexOutOfBoundsException if bytes are outside of the region
     * @throws IllegalArgumentException if the region is not registered for this, the address is not a multiple of 8 or
     *     the flags are wrong
     * @throws IllegalStateException if the connection or the region is closed
     * @throws RpmaException if librpma fails, for example because the connection is not established
     */
    public boolean atomicWrite(RpmaMrRemote dst, long dstOffset, long value, int flags, long opContext) {
        Check.flags(flags);
        long dstId = dst.use(RpmaMrUsage.WRITE_DST, DESTINATION, dstOffset, Long.BYTES);
        dst.checkAligned(dstOffset);
        int result = Natives.connAtomicWrite(id, dstId, dstOffset, value, flags, opContext);
        return result == 0 || isRoomFor("rpma_atomic_write", result, dst.handle());
    }

    /**
     * Posts a flush: its completion tells that what was written before through this connection is visible or persistent
     * on the other side.
     *
     * <p>Where the device has no native flush, librpma emulates it by a read of 8 bytes at {@code dstOffset}. So there
     * must be 8 bytes, whatever the length.
     *
     * @param dst what to flush, registered for {@link RpmaMrUsage#FLUSH_TYPE_PERSISTENT} or
     *     {@link RpmaMrUsage#FLUSH_TYPE_VISIBILITY}
     * @param dstOffset in bytes; at least 8 bytes before the end of the region
     * @param length in bytes, 0 to 2^31
     * @param type how deep; {@link RpmaFlushType#PERSISTENT} needs {@link #applyRemotePeerCfg} with direct write to
     *     persistent memory
     * @param flags {@link #F_COMPLETION_ALWAYS} or {@link #F_COMPLETION_ON_ERROR}
     * @param opContext comes back as {@link RpmaCompletions#wrId}
     * @return whether it is posted; false if the send queue is full
     * @throws IndexOutOfBoundsException if bytes, or the 8 bytes at {@code dstOffset}, are outside of the region
     * @throws IllegalArgumentException if the length or the flags are wrong
     * @throws IllegalStateException if the connection or the region is closed
     * @throws RpmaException with {@link RpmaError#NOSUPP} if the region or the connection is not made for this type; or
     *     if librpma fails, for example because the connection is not established
     */
    public boolean flush(RpmaMrRemote dst, long dstOffset, long length, RpmaFlushType type, int flags, long opContext) {
        Check.flags(flags);
        dst.use(DESTINATION, dstOffset, length);
        long dstId = dst.use(DESTINATION, dstOffset, FLUSH_LENGTH);
        int result = Natives.connFlush(id, dstId, dstOffset, length, type.ordinal(), flags, opContext);
        return result == 0 || isRoomFor("rpma_flush", result, dst.handle());
    }

    /** Turns the result of a post that is not posted into an answer or an exception. */
    private boolean isRoomFor(String operation, int result, Handle... regions) {
        if (result == Natives.QUEUE_FULL) {
            return false;
        }
        if (handle.isClosed()) {
            throw Call.failure(operation, result, handle);
        }
        throw Call.failure(operation, result, regions);
    }

    /** {@return the queue of this connection's completions; it is closed with the connection} */
    public RpmaCq getCq() {
        return cq;
    }

    /**
     * Waits without end for the next event.
     *
     * @return the event
     * @throws InterruptedException if the thread is interrupted
     * @throws IllegalStateException if the connection is closed, before or while waiting
     * @throws RpmaException with {@link RpmaError#UNKNOWN} for an event that librpma has no name for, after which the
     *     connection can still be used; or if librpma fails
     */
    public RpmaConnEvent nextEvent() throws InterruptedException {
        return next(Waiter.FOREVER);
    }

    /**
     * Waits for the next event.
     *
     * @param timeout how long to wait; 0 does not wait
     * @param unit the unit of {@code timeout}
     * @return the event; empty if the time is up
     * @throws InterruptedException if the thread is interrupted
     * @throws IllegalStateException if the connection is closed, before or while waiting
     * @throws RpmaException with {@link RpmaError#UNKNOWN} for an event that librpma has no name for, after which the
     *     connection can still be used; or if librpma fails
     */
    public Optional<RpmaConnEvent> nextEvent(long timeout, TimeUnit unit) throws InterruptedException {
        return Optional.ofNullable(next(Waiter.nanos(timeout, unit)));
    }

    private RpmaConnEvent next(long nanos) throws InterruptedException {
        long start = System.nanoTime();
        while (Waiter.await(NEXT_EVENT, handle, Waiter.left(nanos, start))) {
            int result = takeEvent();
            if (result != RpmaError.NO_EVENT.code()) {
                return RpmaConnEvent.of((int) Call.check(NEXT_EVENT, result, handle));
            }
        }
        return null;
    }

    private int takeEvent() {
        events.lock();
        try {
            return Natives.connNextEvent(id);
        } finally {
            events.unlock();
        }
    }

    /**
     * {@return the private data that the other side sent with its request or its answer}
     *
     * <p>On the side that connects it is there once {@link RpmaConnEvent#ESTABLISHED} has been taken, and empty before.
     * On InfiniBand and RoCE it always has 56 bytes (of a request) or 196 bytes (of an answer), filled up with zeroes,
     * also when nothing was sent: put a length or a mark into it.
     *
     * @throws IllegalStateException if closed
     */
    public byte[] getPrivateData() {
        byte[] data;
        events.lock();
        try {
            data = Natives.connGetPrivateData(id);
        } finally {
            events.unlock();
        }
        if (data == null) {
            throw Call.failure("rpma_conn_get_private_data", Natives.CLOSED, handle);
        }
        return data;
    }

    /**
     * Tells this connection about the other side's platform, which persistent flushes need.
     *
     * @param cfg what the other side sent; may be closed afterwards
     * @throws IllegalStateException if the connection or {@code cfg} is closed
     */
    public void applyRemotePeerCfg(RpmaPeerCfg cfg) {
        Call.check(
                "rpma_conn_apply_remote_peer_cfg",
                Natives.connApplyRemotePeerCfg(id, cfg.handle().id()),
                handle,
                cfg.handle());
    }

    /**
     * Disconnects, without waiting for the other side: {@link RpmaConnEvent#CLOSED} comes on both sides.
     *
     * <p>All outstanding operations end at once with {@link RpmaWcStatus#WR_FLUSH_ERR}: wait for the last completion
     * before.
     *
     * @throws IllegalStateException if closed
     * @throws RpmaException if librpma fails, for example because the connection is lost
     */
    public void disconnect() {
        Call.check("rpma_conn_disconnect", Natives.connDisconnect(id), handle);
    }

    Handle handle() {
        return handle;
    }

    /**
     * Closes the connection in any state; does nothing if it is closed already.
     *
     * <p>Wakes the threads that wait here or at {@link #getCq()}, and waits for posts and polls under way. The other
     * side of an established connection gets {@link RpmaConnEvent#CLOSED}.
     *
     * @throws RpmaException if librpma reports a failure; the connection is closed all the same
     */
    @Override
    public void close() {
        handle.close("rpma_conn_delete", conn -> Natives.connDelete(conn, cqId));
    }

    @Override
    public String toString() {
        return handle + " of " + peer;
    }
}
