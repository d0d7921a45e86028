package io.rpma;

import io.rpma.internal.Call;
import io.rpma.internal.Check;
import io.rpma.internal.NativeObject;
import io.rpma.internal.Natives;
import io.rpma.internal.Result;
import io.rpma.internal.Waiter;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A connection: posts operations on the other side's memory, and tells what happens to the connection.
 *
 * <p>Safe for use by many threads. It can be closed while others post, poll or wait: they finish first, or get an
 * {@link IllegalStateException}.
 *
 * <p>Posting ({@code read}, {@code write}, {@code send} and their family, {@link #flush}) never blocks and allocates nothing.
 * An operation that is posted is not done: its completion comes through {@link #getCq()}, with the operation context
 * that it was posted with. The other side carries operations out in the order in which they are posted, but
 * the bytes of a read arrive only by its completion: what uses them is posted after that. The local memory must be left
 * alone until then.
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
 * <p>Manual pages: rpma_read(3), rpma_write(3), rpma_write_with_imm(3), rpma_atomic_write(3), rpma_flush(3), rpma_send(3),
 * rpma_send_with_imm(3), rpma_recv(3), rpma_conn_wait(3), rpma_conn_get_rcq(3), rpma_conn_get_compl_fd(3),
 * rpma_conn_get_event_fd(3), rpma_conn_get_qp_num(3), rpma_conn_next_event(3),
 * rpma_conn_get_private_data(3), rpma_conn_apply_remote_peer_cfg(3), rpma_conn_disconnect(3), rpma_conn_delete(3).
 */
public final class RpmaConn implements AutoCloseable {
    /** Completion only if the operation fails. */
    public static final int F_COMPLETION_ON_ERROR = 1;

    /** Completion in any case. */
    public static final int F_COMPLETION_ALWAYS = 3;

    /** The parts of a region in an operation. */
    /** librpma's length of it has 8 bits. */
    static final int MOST_PRIVATE_DATA = 255;

    static final String DESTINATION = "destination";

    static final String SOURCE = "source";

    private static final String WRITE_WITH_IMM = "rpma_write_with_imm";
    private static final String WAIT = "rpma_conn_wait";
    private static final String NEXT_EVENT = "rpma_conn_next_event";

    private final RpmaPeer peer;
    private final NativeObject object;
    private final RpmaCq cq;
    private final RpmaSrq srq;

    /** librpma stores the private data when it reads an event, without a lock. */
    private final ReentrantLock events = new ReentrantLock();

    // set by made

    private long handle;
    private long cqHandle;
    private long rcqHandle;

    /** Null if it has no completion queue for receives alone. */
    private RpmaCq rcq;

    /** Null if each of its queues has its own. */
    private ComplChannel channel;

    /**
     * With all that it may have; {@link #made} keeps what it has.
     *
     * @param srq the shared receive queue that it uses, or null
     */
    RpmaConn(RpmaPeer peer, RpmaSrq srq, NativeObject... parents) {
        this.peer = peer;
        this.srq = srq;
        object = new NativeObject(this, "RpmaConn", parents);
        cq = new RpmaCq(this, object, "RpmaCq");
        rcq = new RpmaCq(this, object, "receive RpmaCq");
        channel = new ComplChannel(WAIT, object, true, cq, rcq);
    }

    /**
     * Takes the result of the native that makes the connection, as {@link NativeObject#made}.
     *
     * @param recvQueue the native handle of the completion queue for receives, 0 if there is none
     */
    void made(String operation, long result, long queue, long recvQueue) {
        if (result >= 0) {
            setHandles(result, queue, recvQueue);
        }
        object.made(operation, result);
    }

    private void setHandles(long conn, long queue, long recvQueue) {
        handle = conn;
        cqHandle = queue;
        rcqHandle = recvQueue;
        boolean sharesChannel = Natives.connGetComplFd(handle) >= 0;
        cq.made(cqHandle, sharesChannel);
        if (rcqHandle == 0) {
            rcq = null;
        } else {
            rcq.made(rcqHandle, sharesChannel);
        }
        if (!sharesChannel) {
            channel = null;
        } else if (rcq == null) {
            channel.hasOneQueue();
        }
    }

    /**
     * Posts a read: copies bytes of the other side's memory into this side's.
     *
     * @param dst where to, registered for {@link RpmaMrUsage#READ_DST}
     * @param dstOffset in bytes
     * @param src where from, registered for {@link RpmaMrUsage#READ_SRC}
     * @param srcOffset in bytes
     * @param length in bytes, 0 to 2^31 - 1
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
        checkFlags(flags);
        long dstHandle = RpmaMrLocal.use(dst, RpmaMrUsage.READ_DST, DESTINATION, dstOffset, length);
        long srcHandle = RpmaMrRemote.use(src, RpmaMrUsage.READ_SRC, SOURCE, srcOffset, length);
        int result = Natives.connRead(handle, dstHandle, dstOffset, srcHandle, srcOffset, length, flags, opContext);
        if (result < 0) {
            throw Call.failure("rpma_read", result, object, dst.object(), src.object());
        }
        return result == Result.POSTED;
    }

    /**
     * Posts a read of no bytes, for which neither side needs a region: it completes once the other side has answered.
     *
     * @param flags {@link #F_COMPLETION_ALWAYS} or {@link #F_COMPLETION_ON_ERROR}
     * @param opContext comes back as {@link RpmaCompletions#wrId}
     * @return whether it is posted; false if the send queue is full
     * @throws IllegalArgumentException if the flags are wrong
     * @throws IllegalStateException if the connection is closed
     * @throws RpmaException if librpma fails, for example because the connection is not established
     */
    public boolean read(int flags, long opContext) {
        checkFlags(flags);
        int result = Natives.connRead(handle, 0, 0, 0, 0, 0, flags, opContext);
        if (result < 0) {
            throw Call.failure("rpma_read", result, object);
        }
        return result == Result.POSTED;
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
     * @param length in bytes, 0 to 2^31 - 1
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
        checkFlags(flags);
        long dstHandle = RpmaMrRemote.use(dst, RpmaMrUsage.WRITE_DST, DESTINATION, dstOffset, length);
        long srcHandle = RpmaMrLocal.use(src, RpmaMrUsage.WRITE_SRC, SOURCE, srcOffset, length);
        int result = Natives.connWrite(handle, dstHandle, dstOffset, srcHandle, srcOffset, length, flags, opContext);
        if (result < 0) {
            throw Call.failure("rpma_write", result, object, dst.object(), src.object());
        }
        return result == Result.POSTED;
    }

    /**
     * Posts a write of no bytes, for which neither side needs a region: it completes once the other side has answered.
     *
     * @param flags {@link #F_COMPLETION_ALWAYS} or {@link #F_COMPLETION_ON_ERROR}
     * @param opContext comes back as {@link RpmaCompletions#wrId}
     * @return whether it is posted; false if the send queue is full
     * @throws IllegalArgumentException if the flags are wrong
     * @throws IllegalStateException if the connection is closed
     * @throws RpmaException if librpma fails, for example because the connection is not established
     */
    public boolean write(int flags, long opContext) {
        checkFlags(flags);
        int result = Natives.connWrite(handle, 0, 0, 0, 0, 0, flags, opContext);
        if (result < 0) {
            throw Call.failure("rpma_write", result, object);
        }
        return result == Result.POSTED;
    }

    /**
     * Posts a write with immediate data: after the bytes are written, the other side gets a completion with the data.
     *
     * <p>Takes one of the receives that are posted on the other side. Without one it is tried again for ever, and what is
     * posted later waits.
     *
     * @param dst where to, registered for {@link RpmaMrUsage#WRITE_DST}
     * @param dstOffset in bytes
     * @param src where from, registered for {@link RpmaMrUsage#WRITE_SRC}
     * @param srcOffset in bytes
     * @param length in bytes, 0 to 2^31 - 1
     * @param flags {@link #F_COMPLETION_ALWAYS} or {@link #F_COMPLETION_ON_ERROR}
     * @param imm the immediate data: there {@link RpmaCompletions#immData}
     * @param opContext comes back as {@link RpmaCompletions#wrId}
     * @return whether it is posted; false if the send queue is full
     * @throws IndexOutOfBoundsException if bytes are outside of a region
     * @throws IllegalArgumentException if a region is not registered for this, or the length or the flags are wrong
     * @throws IllegalStateException if the connection or a region is closed
     * @throws RpmaException if librpma fails, for example because the connection is not established
     */
    public boolean writeWithImm(
            RpmaMrRemote dst,
            long dstOffset,
            RpmaMrLocal src,
            long srcOffset,
            long length,
            int flags,
            int imm,
            long opContext) {
        checkFlags(flags);
        long dstHandle = RpmaMrRemote.use(dst, RpmaMrUsage.WRITE_DST, DESTINATION, dstOffset, length);
        long srcHandle = RpmaMrLocal.use(src, RpmaMrUsage.WRITE_SRC, SOURCE, srcOffset, length);
        int result = Natives.connWriteWithImm(
                handle, dstHandle, dstOffset, srcHandle, srcOffset, length, flags, imm, opContext);
        if (result < 0) {
            throw Call.failure(WRITE_WITH_IMM, result, object, dst.object(), src.object());
        }
        return result == Result.POSTED;
    }

    /**
     * Posts a write of no bytes with immediate data, as {@link #writeWithImm(RpmaMrRemote, long, RpmaMrLocal, long, long,
     * int, int, long)}, for which neither side needs a region.
     *
     * @param flags {@link #F_COMPLETION_ALWAYS} or {@link #F_COMPLETION_ON_ERROR}
     * @param imm the immediate data: there {@link RpmaCompletions#immData}
     * @param opContext comes back as {@link RpmaCompletions#wrId}
     * @return whether it is posted; false if the send queue is full
     * @throws IllegalArgumentException if the flags are wrong
     * @throws IllegalStateException if the connection is closed
     * @throws RpmaException if librpma fails, for example because the connection is not established
     */
    public boolean writeWithImm(int flags, int imm, long opContext) {
        checkFlags(flags);
        int result = Natives.connWriteWithImm(handle, 0, 0, 0, 0, 0, flags, imm, opContext);
        if (result < 0) {
            throw Call.failure(WRITE_WITH_IMM, result, object);
        }
        return result == Result.POSTED;
    }

    /**
     * Posts an atomic write: sets 8 bytes of the other side's memory, so that nobody sees a part of them.
     *
     * <p>Flushes that were posted before it are carried out before it, with one exception: librpma 1.3.0 sets no fence
     * between an emulated flush and a native atomic write. On a device that has the second and not the first, post the atomic
     * write after the flush's completion.
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
        checkFlags(flags);
        long dstHandle = RpmaMrRemote.useAtomic(dst, dstOffset);
        int result = Natives.connAtomicWrite(handle, dstHandle, dstOffset, value, flags, opContext);
        if (result < 0) {
            throw Call.failure("rpma_atomic_write", result, object, dst.object());
        }
        return result == Result.POSTED;
    }

    /**
     * Posts an atomic write of 8 bytes of this side's memory, which are read now: later changes do not matter.
     *
     * <p>That is {@code rpma_write_atomic()} of librpma 0.12, which read them when the write was carried out. Waits for their
     * page where it has to be read from a file, which a device with on-demand paging does not pin.
     *
     * @param dst where to, registered for {@link RpmaMrUsage#WRITE_DST}
     * @param dstOffset in bytes; the address there must be a multiple of 8
     * @param src where from, registered for {@link RpmaMrUsage#WRITE_SRC}
     * @param srcOffset in bytes
     * @param flags {@link #F_COMPLETION_ALWAYS} or {@link #F_COMPLETION_ON_ERROR}
     * @param opContext comes back as {@link RpmaCompletions#wrId}
     * @return whether it is posted; false if the send queue is full
     * @throws IndexOutOfBoundsException if bytes are outside of a region
     * @throws IllegalArgumentException if a region is not registered for this, the address is not a multiple of 8 or the
     *     flags are wrong
     * @throws IllegalStateException if the connection or a region is closed
     * @throws RpmaException if librpma fails, for example because the connection is not established
     */
    public boolean writeAtomic(
            RpmaMrRemote dst, long dstOffset, RpmaMrLocal src, long srcOffset, int flags, long opContext) {
        checkFlags(flags);
        long dstHandle = RpmaMrRemote.useAtomic(dst, dstOffset);
        long srcHandle = RpmaMrLocal.use(src, RpmaMrUsage.WRITE_SRC, SOURCE, srcOffset, Long.BYTES);
        int result = Natives.connWriteAtomic(handle, dstHandle, dstOffset, srcHandle, srcOffset, flags, opContext);
        if (result < 0) {
            throw Call.failure("rpma_atomic_write", result, object, dst.object(), src.object());
        }
        return result == Result.POSTED;
    }

    /**
     * Posts a flush: its completion means that the bytes of this range which were written before through this connection are
     * visible or persistent on the other side.
     *
     * <p>It covers this range of this region alone. A flush of length 0 covers nothing.
     *
     * <p>Where the device has no native flush, librpma emulates it by a read of 8 bytes at {@code dstOffset}. So there
     * must be 8 bytes, whatever the length. A read makes written bytes leave the other side's device. They are visible then,
     * and persistent only if the other side's platform writes them to persistent memory past its processors' caches: see
     * {@link RpmaPeerCfg#setDirectWriteToPmem}.
     *
     * <p>librpma does not know whether the memory is persistent: a flush of {@link RpmaFlushType#PERSISTENT} succeeds for any
     * region that is registered for it. Ask {@link RpmaMemory#isPersistent()} on the other side.
     *
     * @param dst what to flush, registered for {@link RpmaMrUsage#FLUSH_TYPE_PERSISTENT} or
     *     {@link RpmaMrUsage#FLUSH_TYPE_VISIBILITY}
     * @param dstOffset in bytes; at least 8 bytes before the end of the region
     * @param length in bytes, 0 to 2^31 - 1
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
        checkFlags(flags);
        long dstHandle = RpmaMrRemote.useFlushed(dst, dstOffset, length);
        int result =
                Natives.connFlush(handle, dstHandle, dstOffset, length, RpmaFlushType.code(type), flags, opContext);
        if (result < 0) {
            throw Call.failure("rpma_flush", result, object, dst.object());
        }
        return result == Result.POSTED;
    }

    /**
     * {@return whether flushes of this connection are native, or emulated by reads}
     *
     * <p>See {@link RpmaDevice#isFlushNative()}.
     */
    public boolean isFlushNative() {
        return peer.isFlushNative();
    }

    /**
     * Posts a send: the bytes go into the next receive that is posted on the other side.
     *
     * <p>Without one it is tried again for ever, and what is posted later waits. A receive that is too small breaks the
     * connection.
     *
     * @param src where from, registered for {@link RpmaMrUsage#SEND}
     * @param offset in bytes
     * @param length in bytes, 0 to 2^31 - 1
     * @param flags {@link #F_COMPLETION_ALWAYS} or {@link #F_COMPLETION_ON_ERROR}
     * @param opContext comes back as {@link RpmaCompletions#wrId}
     * @return whether it is posted; false if the send queue is full
     * @throws IndexOutOfBoundsException if bytes are outside of the region
     * @throws IllegalArgumentException if the region is not registered for this, or the length or the flags are wrong
     * @throws IllegalStateException if the connection or the region is closed
     * @throws RpmaException if librpma fails, for example because the connection is not established
     */
    public boolean send(RpmaMrLocal src, long offset, long length, int flags, long opContext) {
        checkFlags(flags);
        long srcHandle = RpmaMrLocal.use(src, RpmaMrUsage.SEND, SOURCE, offset, length);
        int result = Natives.connSend(handle, srcHandle, offset, length, flags, opContext);
        if (result < 0) {
            throw Call.failure("rpma_send", result, object, src.object());
        }
        return result == Result.POSTED;
    }

    /**
     * Posts a send of no bytes, as {@link #send(RpmaMrLocal, long, long, int, long)}.
     *
     * @param flags {@link #F_COMPLETION_ALWAYS} or {@link #F_COMPLETION_ON_ERROR}
     * @param opContext comes back as {@link RpmaCompletions#wrId}
     * @return whether it is posted; false if the send queue is full
     * @throws IllegalArgumentException if the flags are wrong
     * @throws IllegalStateException if the connection is closed
     * @throws RpmaException if librpma fails, for example because the connection is not established
     */
    public boolean send(int flags, long opContext) {
        checkFlags(flags);
        int result = Natives.connSend(handle, 0, 0, 0, flags, opContext);
        if (result < 0) {
            throw Call.failure("rpma_send", result, object);
        }
        return result == Result.POSTED;
    }

    /**
     * Posts a send with immediate data, as {@link #send(RpmaMrLocal, long, long, int, long)}.
     *
     * @param src where from, registered for {@link RpmaMrUsage#SEND}
     * @param offset in bytes
     * @param length in bytes, 0 to 2^31 - 1
     * @param flags {@link #F_COMPLETION_ALWAYS} or {@link #F_COMPLETION_ON_ERROR}
     * @param imm the immediate data: there {@link RpmaCompletions#immData}
     * @param opContext comes back as {@link RpmaCompletions#wrId}
     * @return whether it is posted; false if the send queue is full
     * @throws IndexOutOfBoundsException if bytes are outside of the region
     * @throws IllegalArgumentException if the region is not registered for this, or the length or the flags are wrong
     * @throws IllegalStateException if the connection or the region is closed
     * @throws RpmaException if librpma fails, for example because the connection is not established
     */
    public boolean sendWithImm(RpmaMrLocal src, long offset, long length, int flags, int imm, long opContext) {
        checkFlags(flags);
        long srcHandle = RpmaMrLocal.use(src, RpmaMrUsage.SEND, SOURCE, offset, length);
        int result = Natives.connSendWithImm(handle, srcHandle, offset, length, flags, imm, opContext);
        if (result < 0) {
            throw Call.failure("rpma_send_with_imm", result, object, src.object());
        }
        return result == Result.POSTED;
    }

    /**
     * Posts a send of no bytes with immediate data, as {@link #send(RpmaMrLocal, long, long, int, long)}.
     *
     * @param flags {@link #F_COMPLETION_ALWAYS} or {@link #F_COMPLETION_ON_ERROR}
     * @param imm the immediate data: there {@link RpmaCompletions#immData}
     * @param opContext comes back as {@link RpmaCompletions#wrId}
     * @return whether it is posted; false if the send queue is full
     * @throws IllegalArgumentException if the flags are wrong
     * @throws IllegalStateException if the connection is closed
     * @throws RpmaException if librpma fails, for example because the connection is not established
     */
    public boolean sendWithImm(int flags, int imm, long opContext) {
        checkFlags(flags);
        int result = Natives.connSendWithImm(handle, 0, 0, 0, flags, imm, opContext);
        if (result < 0) {
            throw Call.failure("rpma_send_with_imm", result, object);
        }
        return result == Result.POSTED;
    }

    /**
     * Posts a receive: the next message of the other side goes there.
     *
     * <p>It always completes: in {@link #getRcq()} if there is one, else in {@link #getCq()}.
     *
     * @param dst where to, registered for {@link RpmaMrUsage#RECV}
     * @param offset in bytes
     * @param length in bytes, 0 to 2^31 - 1; a longer message breaks the connection
     * @param opContext comes back as {@link RpmaCompletions#wrId}
     * @return whether it is posted; false if the receive queue is full
     * @throws IndexOutOfBoundsException if bytes are outside of the region
     * @throws IllegalArgumentException if the region is not registered for this or the length is wrong
     * @throws IllegalStateException if the connection or the region is closed, or the connection uses a shared receive
     *     queue, which is where to post receives then
     * @throws RpmaException if librpma fails
     */
    public boolean recv(RpmaMrLocal dst, long offset, long length, long opContext) {
        long dstHandle = RpmaMrLocal.use(dst, RpmaMrUsage.RECV, DESTINATION, offset, length);
        checkReceives();
        int result = Natives.connRecv(handle, dstHandle, offset, length, opContext);
        if (result < 0) {
            throw Call.failure("rpma_recv", result, object, dst.object());
        }
        return result == Result.POSTED;
    }

    /**
     * Posts a receive without memory: for a message of no bytes, whose immediate data may be all.
     *
     * @param opContext comes back as {@link RpmaCompletions#wrId}
     * @return whether it is posted; false if the receive queue is full
     * @throws IllegalStateException if the connection is closed, or uses a shared receive queue, which is where to post
     *     receives then
     * @throws RpmaException if librpma fails
     */
    public boolean recv(long opContext) {
        checkReceives();
        int result = Natives.connRecv(handle, 0, 0, 0, opContext);
        if (result < 0) {
            throw Call.failure("rpma_recv", result, object);
        }
        return result == Result.POSTED;
    }

    /** Checks that the connection is not one whose receives are posted to a shared receive queue. */
    void checkReceives() {
        checkReceives(object, srq);
    }

    /** librpma leaves it to the device, and soft-RoCE just calls it an invalid argument. */
    static void checkReceives(NativeObject object, RpmaSrq srq) {
        if (srq != null) {
            object.checkOpen();
            throw new IllegalStateException(object + " has no receive queue of its own: post receives to " + srq);
        }
    }

    /** {@return the queue of this connection's completions; it is closed with the connection} */
    public RpmaCq getCq() {
        return cq;
    }

    /**
     * {@return the queue of the completions of receives, closed with the connection; empty if they are in {@link #getCq()},
     * or in that of the shared receive queue}
     */
    public Optional<RpmaCq> getRcq() {
        return Optional.ofNullable(rcq);
    }

    /**
     * Takes completions of one of the queues of a shared completion channel, and waits without end for the first one.
     *
     * @param completions where to; what it had before is gone
     * @return the queue that they are from
     * @throws InterruptedException if the thread is interrupted before or while waiting
     * @throws IllegalStateException if the connection is closed, before or while waiting, or an {@link RpmaEventLoop} serves
     *     it
     * @throws RpmaException with {@link RpmaError#NOT_SHARED_CHNL} if the connection is not made with
     *     {@link RpmaConnCfg#setComplChannel}; or if the device fails
     */
    public RpmaCq await(RpmaCompletions completions) throws InterruptedException {
        completions.clear();
        checkSharedChannel();
        return channel.await(completions, false, Waiter.FOREVER);
    }

    /**
     * Takes completions of one of the queues of a shared completion channel, and waits for the first one if there is
     * none.
     *
     * @param completions where to; what it had before is gone
     * @param timeout how long to wait; 0 does not wait
     * @param unit the unit of {@code timeout}
     * @return the queue that they are from; empty if the time is up
     * @throws IllegalArgumentException if {@code timeout} is negative
     * @throws InterruptedException if the thread is interrupted before or while waiting
     * @throws IllegalStateException if the connection is closed, before or while waiting, or an {@link RpmaEventLoop} serves
     *     it
     * @throws RpmaException with {@link RpmaError#NOT_SHARED_CHNL} if the connection is not made with
     *     {@link RpmaConnCfg#setComplChannel}; or if the device fails
     */
    public Optional<RpmaCq> await(RpmaCompletions completions, long timeout, TimeUnit unit)
            throws InterruptedException {
        long nanos = Waiter.nanos(timeout, unit);
        completions.clear();
        checkSharedChannel();
        return Optional.ofNullable(channel.await(completions, false, nanos));
    }

    /** The completion channel that its queues share. */
    ComplChannel sharedChannel() {
        checkSharedChannel();
        return channel;
    }

    private void checkSharedChannel() {
        if (channel == null) {
            throw Call.failure(WAIT, Natives.connWait(handle), object);
        }
    }

    /**
     * {@return the number of the connection's queue pair: {@link RpmaCompletions#qpNum} of its completions}
     *
     * @throws IllegalStateException if closed
     */
    public int getQpNum() {
        return (int) Call.check("rpma_conn_get_qp_num", Natives.connGetQpNum(handle), object);
    }

    /**
     * {@return the descriptor on which events can be waited for with epoll(7) and the like}
     *
     * <p>It is borrowed: never close it or read from it, and use it no more once this connection is closed. It does not
     * block.
     *
     * @throws IllegalStateException if closed
     */
    public int getEventFd() {
        return (int) Call.check("rpma_conn_get_event_fd", Natives.connGetEventFd(handle), object);
    }

    /**
     * {@return the descriptor of the shared completion channel, on which completions can be waited for with epoll(7) and
     * the like}
     *
     * <p>It is borrowed: never close it or read from it, and use it no more once this connection is closed. It does not
     * block.
     *
     * @throws IllegalStateException if closed
     * @throws RpmaException with {@link RpmaError#NOT_SHARED_CHNL} if the connection is not made with
     *     {@link RpmaConnCfg#setComplChannel}
     */
    public int getComplFd() {
        return (int) Call.check("rpma_conn_get_compl_fd", Natives.connGetComplFd(handle), object);
    }

    /**
     * Waits without end for the next event.
     *
     * @return the event
     * @throws InterruptedException if the thread is interrupted
     * @throws IllegalStateException if the connection is closed, before or while waiting, or an {@link RpmaEventLoop} serves
     *     it
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
     * @throws IllegalArgumentException if {@code timeout} is negative
     * @throws InterruptedException if the thread is interrupted
     * @throws IllegalStateException if the connection is closed, before or while waiting, or an {@link RpmaEventLoop} serves
     *     it
     * @throws RpmaException with {@link RpmaError#UNKNOWN} for an event that librpma has no name for, after which the
     *     connection can still be used; or if librpma fails
     */
    public Optional<RpmaConnEvent> nextEvent(long timeout, TimeUnit unit) throws InterruptedException {
        return Optional.ofNullable(next(Waiter.nanos(timeout, unit)));
    }

    private RpmaConnEvent next(long nanos) throws InterruptedException {
        long start = System.nanoTime();
        while (Waiter.await(NEXT_EVENT, object, Waiter.left(nanos, start))) {
            RpmaConnEvent event = takeEvent();
            if (event != null) {
                return event;
            }
        }
        return null;
    }

    /** Takes an event, or returns null if there is none. */
    RpmaConnEvent takeEvent() {
        int result;
        events.lock();
        try {
            result = Natives.connNextEvent(handle);
        } finally {
            events.unlock();
        }
        return result == RpmaError.NO_EVENT.code()
                ? null
                : RpmaConnEvent.of((int) Call.check(NEXT_EVENT, result, object));
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
        byte[] data = new byte[MOST_PRIVATE_DATA];
        int length;
        events.lock();
        try {
            length = Natives.connGetPrivateData(handle, data);
        } finally {
            events.unlock();
        }
        return Arrays.copyOf(data, (int) Call.check("rpma_conn_get_private_data", length, object));
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
                Natives.connApplyRemotePeerCfg(handle, cfg.object().handle()),
                object,
                cfg.object());
    }

    /**
     * Disconnects, without waiting for the other side: that one gets {@link RpmaConnEvent#CLOSED}, and answers by its own
     * {@code disconnect} or {@link #close()}. Only then {@link RpmaConnEvent#CLOSED} comes here, or when the time for the
     * answer is up.
     *
     * <p>Can be called in every state, and more than once. Before the connection is established only this side's operations
     * fail, and the other side is not told: close the connection instead.
     *
     * <p>All outstanding operations end at once with {@link RpmaWcStatus#WR_FLUSH_ERR}: wait for the last completion
     * before.
     *
     * @throws IllegalStateException if closed
     * @throws RpmaException if librpma fails, for example because the connection is lost
     */
    public void disconnect() {
        Call.check("rpma_conn_disconnect", Natives.connDisconnect(handle), object);
    }

    NativeObject object() {
        return object;
    }

    static void checkFlags(int flags) {
        if (flags != F_COMPLETION_ALWAYS && flags != F_COMPLETION_ON_ERROR) {
            throw new IllegalArgumentException(
                    "flags must be F_COMPLETION_ALWAYS or F_COMPLETION_ON_ERROR, not " + flags);
        }
    }

    /** The native handle, for the hot path. */
    static long handleOf(RpmaConn conn) {
        if (conn == null) {
            throw Check.isNull("connection");
        }
        return conn.handle;
    }

    /**
     * Closes the connection in any state; does nothing if it is closed already.
     *
     * <p>Wakes the threads that wait here or at {@link #getCq()}, and waits for posts and polls under way. The other
     * side of an established connection gets {@link RpmaConnEvent#CLOSED}.
     *
     * <p>Blocks while the kernel waits for the other side, for seconds if its host is dead: 11 were seen, and 51 when 16
     * such connections were closed at once. Neither interrupt nor anything else ends that sooner, and a virtual thread
     * holds its carrier: where that matters, close connections in a platform thread of their own.
     *
     * @throws RpmaException if librpma reports a failure; the connection is closed all the same
     */
    @Override
    public void close() {
        object.close("rpma_conn_delete", conn -> Natives.connDelete(conn, cqHandle, rcqHandle));
    }

    @Override
    public String toString() {
        return object + " of " + peer;
    }
}
