// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import io.rpma.internal.Call;
import io.rpma.internal.Check;
import io.rpma.internal.ConnectionEvents;
import io.rpma.internal.FlightEvents;
import io.rpma.internal.Natives;
import io.rpma.internal.ObjectKind;
import io.rpma.internal.Resource;
import io.rpma.internal.Result;
import io.rpma.internal.Waiter;
import io.rpma.internal.loop.PeerProbe;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A connection. It posts operations to the other side, and reports the events of the connection.
 *
 * <pre>{@code
 * boolean posted = conn.write(remote, 0, local, 0, 4096, RpmaConn.F_COMPLETION_ON_ERROR, 1)
 *         && conn.flush(remote, 0, 4096, RpmaFlushType.VISIBILITY, RpmaConn.F_COMPLETION_ALWAYS, 2);
 * if (!posted || conn.getCq().await(completions, 10, TimeUnit.SECONDS) == 0 || !completions.isSuccess(0)) {
 *     throw new IllegalStateException("not written: " + completions);
 * }
 * }</pre>
 *
 * <p>Safe for use by many threads. A connection can be closed while other threads post, poll or wait. Their calls
 * finish first, or throw {@link IllegalStateException}.
 *
 * <p>A post ({@code read}, {@code write}, {@code send} and their variants, {@link #flush}) allocates nothing and does
 * not block; only {@link #writeAtomic} can wait for a page of its bytes. A post only starts an operation. A completion
 * in {@link #getCq()}, with the operation context of the post, reports the end of the operation. An operation that has
 * no completion has ended when a later operation completes. Do not change or use the local memory before the end.
 *
 * <p>The completion of a write to memory of an InfiniBand or RoCE device says that the other side's device has the
 * bytes. That of an iWARP device ({@link RpmaDevice#isIwarp}) says only that the bytes have left this side. A flush
 * after the writes, which no device executes before them, makes both equal: its success means that the other side's
 * program sees the bytes.
 *
 * <p>One operation transfers at most 2^31 - 1 bytes, or the maximum message size of the device's ports if that is
 * smaller ({@code max_msg_sz} of ibv_devinfo(1)).
 *
 * <p>The other side executes operations in the order of their posts, with one exception: a later operation can overtake
 * a read, and therefore also a flush that is emulated by a read. {@link #atomicWrite} documents the flushes that an
 * atomic write does not overtake. To keep the order, wait for the completion of the read or flush before you post the
 * next operation. The bytes of a read are in the local memory only after the completion of the read: wait for this
 * completion before you post an operation that uses the bytes.
 *
 * <p>A post returns {@code false} if the send queue is full: poll completions and post again. An operation can occupy
 * its place in the queue until a completion of this or a later operation is polled. Therefore, of each {@code sqSize}
 * successive operations ({@link RpmaConnCfg#setSqSize}), post at least one with {@link #F_COMPLETION_ALWAYS}.
 *
 * <p>The connecting side must take {@link RpmaConnEvent#ESTABLISHED} by {@link #nextEvent()}. This completes the
 * handshake. The accepting side receives its own event after that.
 *
 * <p>A single failed operation breaks the connection (see {@link RpmaWcStatus}). No event reports this. No event
 * reports that the other host is dead, either: {@link RpmaEventLoop#onPeerLost onPeerLost} notices it.
 *
 * <p>Manual pages: rpma_read(3), rpma_write(3), rpma_write_with_imm(3), rpma_atomic_write(3), rpma_flush(3),
 * rpma_send(3), rpma_send_with_imm(3), rpma_recv(3), rpma_conn_wait(3), rpma_conn_get_rcq(3),
 * rpma_conn_get_compl_fd(3), rpma_conn_get_event_fd(3), rpma_conn_get_qp_num(3), rpma_conn_next_event(3),
 * rpma_conn_get_private_data(3), rpma_conn_apply_remote_peer_cfg(3), rpma_conn_disconnect(3), rpma_conn_delete(3).
 */
public final class RpmaConn implements AutoCloseable {
    /** Requests a completion only if the operation fails. */
    public static final int F_COMPLETION_ON_ERROR = 1;

    /** Requests a completion in every case. */
    public static final int F_COMPLETION_ALWAYS = 3;

    /** librpma stores the length of private data in 8 bits. */
    static final int MOST_PRIVATE_DATA = 255;

    private static final String WRITE_WITH_IMM = "rpma_write_with_imm";
    private static final String WAIT = "rpma_conn_wait";
    private static final String NEXT_EVENT = "rpma_conn_next_event";

    private static final ObjectKind KIND = new ObjectKind("rpma_conn_delete") {
        @Override
        protected long delete(Resource object) {
            return Natives.connDelete(object.handle());
        }
    };

    private final RpmaPeer peer;
    private final Resource object;
    private final ConnectionEvents<RpmaConnEvent> events;
    private final RpmaCq cq;
    private final RpmaSrq srq;
    private final String otherSide;

    /** Guards the private data, which librpma stores without a lock when it takes an event. */
    private final ReentrantLock lock = new ReentrantLock();

    /** Null until the first call of {@link #probe}. */
    private volatile PeerProbe probe;

    /** The event that was taken last, or null. */
    private volatile RpmaConnEvent lastEvent;

    // set by made

    private long handle;
    private int qpNum;

    /** Null if there is no separate completion queue for receives. */
    private RpmaCq rcq;

    /** Null if each queue has its own channel. */
    private RpmaCompletionWait channel;

    /**
     * Creates all parts that a connection can have. {@link #made} drops the parts that this connection does not have.
     *
     * @param srq the shared receive queue that the connection uses, or null
     * @param otherSide where an outgoing request has gone to, or null
     */
    RpmaConn(RpmaPeer peer, RpmaSrq srq, String otherSide, Resource... parents) {
        this.peer = peer;
        this.srq = srq;
        this.otherSide = otherSide;
        object = new Resource(this, "RpmaConn", KIND, parents);
        events = new ConnEvents();
        cq = new RpmaCq(this, object, "RpmaCq");
        rcq = new RpmaCq(this, object, "receive RpmaCq");
        channel = new RpmaCompletionWait(WAIT, object, true, cq, rcq);
    }

    /**
     * Takes the result of the native method that creates the connection; see {@link Resource#made}.
     *
     * @param recvQueue the native handle of the completion queue for receives, or 0
     */
    void made(String operation, long result, long queue, long recvQueue) {
        if (result >= 0) {
            setHandles(result, queue, recvQueue);
        }
        object.made(operation, result);
    }

    private void setHandles(long conn, long queue, long recvQueue) {
        handle = conn;
        qpNum = (int) Natives.connGetQpNum(handle);
        boolean sharesChannel = Natives.connGetComplFd(handle) >= 0;
        cq.made(queue, sharesChannel);
        if (recvQueue == 0) {
            rcq = null;
        } else {
            rcq.made(recvQueue, sharesChannel);
        }
        if (!sharesChannel) {
            channel = null;
        } else if (rcq == null) {
            channel.hasOneQueue();
        }
    }

    /**
     * Posts a read, which copies bytes of the other side's memory into this side's memory.
     *
     * @param dst the destination region, registered for {@link RpmaMrUsage#READ_DST}
     * @param dstOffset the offset in {@code dst} in bytes
     * @param src the source region, registered for {@link RpmaMrUsage#READ_SRC}
     * @param srcOffset the offset in {@code src} in bytes
     * @param length the number of bytes, 0 to 2^31 - 1
     * @param flags {@link #F_COMPLETION_ALWAYS} or {@link #F_COMPLETION_ON_ERROR}
     * @param opContext the operation context, returned by {@link RpmaCompletions#wrId}
     * @return {@code true} if the operation is posted, {@code false} if the send queue is full
     * @throws IndexOutOfBoundsException if {@code length} is negative, or a byte is outside a region
     * @throws IllegalArgumentException if a region is not registered for this operation, {@code length} exceeds the
     *     maximum of one operation, or {@code flags} is invalid
     * @throws IllegalStateException if the connection or a region is closed
     * @throws RpmaException if librpma fails, for example because the connection is not established
     */
    public boolean read(
            RpmaMrLocal dst, long dstOffset, RpmaMrRemote src, long srcOffset, long length, int flags, long opContext) {
        checkFlags(flags);
        long dstHandle = RpmaMrLocal.use(dst, RpmaMrUsage.READ_DST, dstOffset, length);
        long srcHandle = RpmaMrRemote.use(src, RpmaMrUsage.READ_SRC, srcOffset, length);
        int result = Natives.connRead(handle, dstHandle, dstOffset, srcHandle, srcOffset, length, flags, opContext);
        if (result < 0) {
            throw Call.failure("rpma_read", result, object, dst.object(), src.object());
        }
        return result == Result.POSTED;
    }

    /**
     * Posts a read of 0 bytes, which needs no regions. It completes when the other side has answered.
     *
     * @param flags {@link #F_COMPLETION_ALWAYS} or {@link #F_COMPLETION_ON_ERROR}
     * @param opContext the operation context, returned by {@link RpmaCompletions#wrId}
     * @return {@code true} if the operation is posted, {@code false} if the send queue is full
     * @throws IllegalArgumentException if {@code flags} is invalid
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
     * Posts a write, which copies bytes of this side's memory into the other side's memory.
     *
     * <p>The completion means that the other side has received the bytes. Only a {@link #flush} makes sure that the
     * bytes are visible or persistent.
     *
     * @param dst the destination region, registered for {@link RpmaMrUsage#WRITE_DST}
     * @param dstOffset the offset in {@code dst} in bytes
     * @param src the source region, registered for {@link RpmaMrUsage#WRITE_SRC}
     * @param srcOffset the offset in {@code src} in bytes
     * @param length the number of bytes, 0 to 2^31 - 1
     * @param flags {@link #F_COMPLETION_ALWAYS} or {@link #F_COMPLETION_ON_ERROR}
     * @param opContext the operation context, returned by {@link RpmaCompletions#wrId}
     * @return {@code true} if the operation is posted, {@code false} if the send queue is full
     * @throws IndexOutOfBoundsException if {@code length} is negative, or a byte is outside a region
     * @throws IllegalArgumentException if a region is not registered for this operation, {@code length} exceeds the
     *     maximum of one operation, or {@code flags} is invalid
     * @throws IllegalStateException if the connection or a region is closed
     * @throws RpmaException if librpma fails, for example because the connection is not established
     */
    public boolean write(
            RpmaMrRemote dst, long dstOffset, RpmaMrLocal src, long srcOffset, long length, int flags, long opContext) {
        checkFlags(flags);
        long dstHandle = RpmaMrRemote.use(dst, RpmaMrUsage.WRITE_DST, dstOffset, length);
        long srcHandle = RpmaMrLocal.use(src, RpmaMrUsage.WRITE_SRC, srcOffset, length);
        int result = Natives.connWrite(handle, dstHandle, dstOffset, srcHandle, srcOffset, length, flags, opContext);
        if (result < 0) {
            throw Call.failure("rpma_write", result, object, dst.object(), src.object());
        }
        return result == Result.POSTED;
    }

    /**
     * Posts a write of 0 bytes, which needs no regions. It completes when the other side has answered.
     *
     * @param flags {@link #F_COMPLETION_ALWAYS} or {@link #F_COMPLETION_ON_ERROR}
     * @param opContext the operation context, returned by {@link RpmaCompletions#wrId}
     * @return {@code true} if the operation is posted, {@code false} if the send queue is full
     * @throws IllegalArgumentException if {@code flags} is invalid
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
     * Posts a write with immediate data. After the bytes are written, the other side gets a completion with the
     * immediate data.
     *
     * <p>Consumes a receive of the other side. If no receive is posted, the device retries indefinitely and later
     * operations queue behind it.
     *
     * @param dst the destination region, registered for {@link RpmaMrUsage#WRITE_DST}
     * @param dstOffset the offset in {@code dst} in bytes
     * @param src the source region, registered for {@link RpmaMrUsage#WRITE_SRC}
     * @param srcOffset the offset in {@code src} in bytes
     * @param length the number of bytes, 0 to 2^31 - 1
     * @param flags {@link #F_COMPLETION_ALWAYS} or {@link #F_COMPLETION_ON_ERROR}
     * @param imm the immediate data, which the other side reads by {@link RpmaCompletions#immData}
     * @param opContext the operation context, returned by {@link RpmaCompletions#wrId}
     * @return {@code true} if the operation is posted, {@code false} if the send queue is full
     * @throws IndexOutOfBoundsException if {@code length} is negative, or a byte is outside a region
     * @throws IllegalArgumentException if a region is not registered for this operation, {@code length} exceeds the
     *     maximum of one operation, or {@code flags} is invalid
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
        long dstHandle = RpmaMrRemote.use(dst, RpmaMrUsage.WRITE_DST, dstOffset, length);
        long srcHandle = RpmaMrLocal.use(src, RpmaMrUsage.WRITE_SRC, srcOffset, length);
        int result = Natives.connWriteWithImm(
                handle, dstHandle, dstOffset, srcHandle, srcOffset, length, flags, imm, opContext);
        if (result < 0) {
            throw Call.failure(WRITE_WITH_IMM, result, object, dst.object(), src.object());
        }
        return result == Result.POSTED;
    }

    /**
     * Posts a write of 0 bytes with immediate data, which needs no regions. Otherwise as
     * {@link #writeWithImm(RpmaMrRemote, long, RpmaMrLocal, long, long, int, int, long)}.
     *
     * @param flags {@link #F_COMPLETION_ALWAYS} or {@link #F_COMPLETION_ON_ERROR}
     * @param imm the immediate data, which the other side reads by {@link RpmaCompletions#immData}
     * @param opContext the operation context, returned by {@link RpmaCompletions#wrId}
     * @return {@code true} if the operation is posted, {@code false} if the send queue is full
     * @throws IllegalArgumentException if {@code flags} is invalid
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
     * Posts an atomic write of 8 bytes into the other side's memory. A reader sees either the old 8 bytes or the new 8
     * bytes, if the atomic write is native or the other side's device stores 8 aligned bytes at once: see
     * {@link #isAtomicWriteNative()}.
     *
     * <p>Flushes that were posted earlier are executed before the atomic write, with one exception: librpma 1.3.0 sets
     * no fence between an emulated flush and a native atomic write. If {@link #isAtomicWriteNative()} is true and
     * {@link #isFlushNative()} is false, post the atomic write after the completion of the flush.
     *
     * @param dst the destination region, registered for {@link RpmaMrUsage#WRITE_DST}
     * @param dstOffset the offset in {@code dst} in bytes; the address must be a multiple of 8
     * @param value the value, stored in the byte order of this machine
     * @param flags {@link #F_COMPLETION_ALWAYS} or {@link #F_COMPLETION_ON_ERROR}
     * @param opContext the operation context, returned by {@link RpmaCompletions#wrId}
     * @return {@code true} if the operation is posted, {@code false} if the send queue is full
     * @throws IndexOutOfBoundsException if a byte is outside the region
     * @throws IllegalArgumentException if the region is not registered for this operation, the address is not a
     *     multiple of 8, or {@code flags} is invalid
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
     * Posts an atomic write of 8 bytes of this side's memory. The call reads the bytes, so that later changes have no
     * effect.
     *
     * <p>This method replaces {@code rpma_write_atomic()} of librpma 0.12, where the device read the bytes when it
     * executed the write. The call blocks if the kernel must first read the page of the bytes from a file. This is
     * possible only with on-demand paging, which does not pin pages.
     *
     * @param dst the destination region, registered for {@link RpmaMrUsage#WRITE_DST}
     * @param dstOffset the offset in {@code dst} in bytes; the address must be a multiple of 8
     * @param src the source region, registered for {@link RpmaMrUsage#WRITE_SRC}
     * @param srcOffset the offset in {@code src} in bytes
     * @param flags {@link #F_COMPLETION_ALWAYS} or {@link #F_COMPLETION_ON_ERROR}
     * @param opContext the operation context, returned by {@link RpmaCompletions#wrId}
     * @return {@code true} if the operation is posted, {@code false} if the send queue is full
     * @throws IndexOutOfBoundsException if a byte is outside a region
     * @throws IllegalArgumentException if a region is not registered for this operation, the address is not a multiple
     *     of 8, or {@code flags} is invalid
     * @throws IllegalStateException if the connection or a region is closed
     * @throws RpmaException if librpma fails, for example because the connection is not established
     */
    public boolean writeAtomic(
            RpmaMrRemote dst, long dstOffset, RpmaMrLocal src, long srcOffset, int flags, long opContext) {
        checkFlags(flags);
        long dstHandle = RpmaMrRemote.useAtomic(dst, dstOffset);
        long srcHandle = RpmaMrLocal.use(src, RpmaMrUsage.WRITE_SRC, srcOffset, Long.BYTES);
        int result = Natives.connWriteAtomic(handle, dstHandle, dstOffset, srcHandle, srcOffset, flags, opContext);
        if (result < 0) {
            throw Call.failure("rpma_atomic_write", result, object, dst.object(), src.object());
        }
        return result == Result.POSTED;
    }

    /**
     * Posts a flush. Its completion means that the bytes that this connection wrote to the range earlier are visible or
     * persistent on the other side.
     *
     * <p>A flush covers only this range of this region. A flush of length 0 covers nothing.
     *
     * <p>If the device has no native flush, librpma emulates it by a read of 8 bytes at {@code dstOffset}. These 8
     * bytes must be in the region, whatever {@code length} is: {@code dstOffset <= size - 8}. The read forces the
     * written bytes out of the device of the other side, and so makes them visible. They are persistent only if the
     * platform of the other side writes them to persistent memory directly, bypassing the caches of its processors: see
     * {@link RpmaPeerCfg#setDirectWriteToPmem}.
     *
     * <p>librpma does not know whether the memory is persistent: an emulated flush of {@link RpmaFlushType#PERSISTENT}
     * succeeds for any region that is registered for it. Check {@link RpmaMemory#isPersistent()} on the other side.
     *
     * @param dst the region to flush, registered for {@link RpmaMrUsage#FLUSH_TYPE_PERSISTENT} or
     *     {@link RpmaMrUsage#FLUSH_TYPE_VISIBILITY}
     * @param dstOffset the offset in {@code dst} in bytes, at most the size of the region - 8
     * @param length the number of bytes, 0 to 2^31 - 1
     * @param type the type of the flush; {@link RpmaFlushType#PERSISTENT} requires {@link #applyRemotePeerCfg} with
     *     direct write to persistent memory
     * @param flags {@link #F_COMPLETION_ALWAYS} or {@link #F_COMPLETION_ON_ERROR}
     * @param opContext the operation context, returned by {@link RpmaCompletions#wrId}
     * @return {@code true} if the operation is posted, {@code false} if the send queue is full
     * @throws IndexOutOfBoundsException if {@code length} is negative; or if a byte, or one of the 8 bytes at
     *     {@code dstOffset}, is outside the region
     * @throws IllegalArgumentException if {@code length} exceeds 2^31 - 1, or {@code flags} is invalid
     * @throws IllegalStateException if the connection or the region is closed
     * @throws RpmaException with {@link RpmaError#NOSUPP} if the region or the connection does not support this type;
     *     or if librpma fails, for example because the connection is not established
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
     * {@return whether flushes of this connection are native; otherwise reads emulate them}
     *
     * <p>See {@link RpmaDevice#isFlushNative()}.
     */
    public boolean isFlushNative() {
        return peer.isFlushNative();
    }

    /**
     * {@return whether atomic writes of this connection are native; otherwise writes emulate them}
     *
     * <p>See {@link RpmaDevice#isAtomicWriteNative()}.
     */
    public boolean isAtomicWriteNative() {
        return peer.isAtomicWriteNative();
    }

    /**
     * Posts a send. The bytes go into the memory of the other side's next receive.
     *
     * <p>If no receive is posted, the device retries indefinitely and later operations queue behind it. A receive that
     * is too small breaks the connection.
     *
     * @param src the source region, registered for {@link RpmaMrUsage#SEND}
     * @param offset the offset in the region in bytes
     * @param length the number of bytes, 0 to 2^31 - 1
     * @param flags {@link #F_COMPLETION_ALWAYS} or {@link #F_COMPLETION_ON_ERROR}
     * @param opContext the operation context, returned by {@link RpmaCompletions#wrId}
     * @return {@code true} if the operation is posted, {@code false} if the send queue is full
     * @throws IndexOutOfBoundsException if {@code length} is negative, or a byte is outside the region
     * @throws IllegalArgumentException if the region is not registered for this operation, {@code length} exceeds the
     *     maximum of one operation, or {@code flags} is invalid
     * @throws IllegalStateException if the connection or the region is closed
     * @throws RpmaException if librpma fails, for example because the connection is not established
     */
    public boolean send(RpmaMrLocal src, long offset, long length, int flags, long opContext) {
        checkFlags(flags);
        long srcHandle = RpmaMrLocal.use(src, RpmaMrUsage.SEND, offset, length);
        int result = Natives.connSend(handle, srcHandle, offset, length, flags, opContext);
        if (result < 0) {
            throw Call.failure("rpma_send", result, object, src.object());
        }
        return result == Result.POSTED;
    }

    /**
     * Posts a send of 0 bytes, as {@link #send(RpmaMrLocal, long, long, int, long)}.
     *
     * @param flags {@link #F_COMPLETION_ALWAYS} or {@link #F_COMPLETION_ON_ERROR}
     * @param opContext the operation context, returned by {@link RpmaCompletions#wrId}
     * @return {@code true} if the operation is posted, {@code false} if the send queue is full
     * @throws IllegalArgumentException if {@code flags} is invalid
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
     * @param src the source region, registered for {@link RpmaMrUsage#SEND}
     * @param offset the offset in the region in bytes
     * @param length the number of bytes, 0 to 2^31 - 1
     * @param flags {@link #F_COMPLETION_ALWAYS} or {@link #F_COMPLETION_ON_ERROR}
     * @param imm the immediate data, which the other side reads by {@link RpmaCompletions#immData}
     * @param opContext the operation context, returned by {@link RpmaCompletions#wrId}
     * @return {@code true} if the operation is posted, {@code false} if the send queue is full
     * @throws IndexOutOfBoundsException if {@code length} is negative, or a byte is outside the region
     * @throws IllegalArgumentException if the region is not registered for this operation, {@code length} exceeds the
     *     maximum of one operation, or {@code flags} is invalid
     * @throws IllegalStateException if the connection or the region is closed
     * @throws RpmaException if librpma fails, for example because the connection is not established
     */
    public boolean sendWithImm(RpmaMrLocal src, long offset, long length, int flags, int imm, long opContext) {
        checkFlags(flags);
        long srcHandle = RpmaMrLocal.use(src, RpmaMrUsage.SEND, offset, length);
        int result = Natives.connSendWithImm(handle, srcHandle, offset, length, flags, imm, opContext);
        if (result < 0) {
            throw Call.failure("rpma_send_with_imm", result, object, src.object());
        }
        return result == Result.POSTED;
    }

    /**
     * Posts a send of 0 bytes with immediate data, as {@link #send(RpmaMrLocal, long, long, int, long)}.
     *
     * @param flags {@link #F_COMPLETION_ALWAYS} or {@link #F_COMPLETION_ON_ERROR}
     * @param imm the immediate data, which the other side reads by {@link RpmaCompletions#immData}
     * @param opContext the operation context, returned by {@link RpmaCompletions#wrId}
     * @return {@code true} if the operation is posted, {@code false} if the send queue is full
     * @throws IllegalArgumentException if {@code flags} is invalid
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
     * Posts a receive for the next message of the other side.
     *
     * <p>A receive always has a completion: in {@link #getRcq()} if present, otherwise in {@link #getCq()}.
     *
     * @param dst the destination region, registered for {@link RpmaMrUsage#RECV}
     * @param offset the offset in the region in bytes
     * @param length the number of bytes, 0 to 2^31 - 1; a longer message breaks the connection
     * @param opContext the operation context, returned by {@link RpmaCompletions#wrId}
     * @return {@code true} if the operation is posted, {@code false} if the receive queue is full
     * @throws IndexOutOfBoundsException if {@code length} is negative, or a byte is outside the region
     * @throws IllegalArgumentException if the region is not registered for receives, or {@code length} exceeds the
     *     maximum of one operation
     * @throws IllegalStateException if the connection or the region is closed, or the connection uses a shared receive
     *     queue: post the receive to that queue
     * @throws RpmaException if librpma fails
     */
    public boolean recv(RpmaMrLocal dst, long offset, long length, long opContext) {
        long dstHandle = RpmaMrLocal.use(dst, RpmaMrUsage.RECV, offset, length);
        checkReceives();
        int result = Natives.connRecv(handle, dstHandle, offset, length, opContext);
        if (result < 0) {
            throw Call.failure("rpma_recv", result, object, dst.object());
        }
        return result == Result.POSTED;
    }

    /**
     * Posts a receive without memory, for a message of 0 bytes. The message can have immediate data.
     *
     * @param opContext the operation context, returned by {@link RpmaCompletions#wrId}
     * @return {@code true} if the operation is posted, {@code false} if the receive queue is full
     * @throws IllegalStateException if the connection is closed, or uses a shared receive queue: post the receive to
     *     that queue
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

    /** Checks that the connection has a receive queue of its own. */
    void checkReceives() {
        checkReceives(object, srq);
    }

    /** librpma leaves this check to the device, and soft-RoCE reports only an invalid argument. */
    static void checkReceives(Resource object, RpmaSrq srq) {
        if (srq != null) {
            object.checkOpen();
            throw new IllegalStateException(object + " has no receive queue of its own: post receives to " + srq);
        }
    }

    /** {@return the completion queue of this connection, which is closed with the connection} */
    public RpmaCq getCq() {
        return cq;
    }

    /**
     * {@return the completion queue for receives, which is closed with the connection; empty if receives complete in
     * {@link #getCq()}, or in the completion queue of the shared receive queue}
     */
    public Optional<RpmaCq> getRcq() {
        return Optional.ofNullable(rcq);
    }

    /**
     * Takes completions of one of the queues that share the completion channel. If there are none, waits for the first
     * completion, without a timeout.
     *
     * @param completions receives the completions; its former content is lost
     * @return the queue of the completions
     * @throws InterruptedException if the thread is interrupted before or during the wait
     * @throws IllegalStateException if the connection is closed before or during the wait, or an {@link RpmaEventLoop}
     *     serves it
     * @throws RpmaException with {@link RpmaError#NOT_SHARED_CHNL} if the connection was made without
     *     {@link RpmaConnCfg#setComplChannel}; or if the device fails
     */
    public RpmaCq await(RpmaCompletions completions) throws InterruptedException {
        completions.clear();
        checkSharedChannel();
        return channel.await(completions, false, null, Waiter.FOREVER);
    }

    /**
     * Takes completions of one of the queues that share the completion channel. If there are none, waits for the first
     * completion.
     *
     * @param completions receives the completions; its former content is lost
     * @param timeout the maximum time to wait; 0 returns without waiting
     * @param unit the unit of {@code timeout}
     * @return the queue of the completions; empty if the wait times out
     * @throws IllegalArgumentException if {@code timeout} is negative
     * @throws InterruptedException if the thread is interrupted before or during the wait
     * @throws IllegalStateException if the connection is closed before or during the wait, or an {@link RpmaEventLoop}
     *     serves it
     * @throws RpmaException with {@link RpmaError#NOT_SHARED_CHNL} if the connection was made without
     *     {@link RpmaConnCfg#setComplChannel}; or if the device fails
     */
    public Optional<RpmaCq> await(RpmaCompletions completions, long timeout, TimeUnit unit)
            throws InterruptedException {
        long nanos = Waiter.nanos(timeout, unit);
        completions.clear();
        checkSharedChannel();
        return Optional.ofNullable(channel.await(completions, false, null, nanos));
    }

    /**
     * Takes completions of one of the queues that share the completion channel. If there are none, waits for the first
     * completion or the end of the connection, as {@link RpmaCq#awaitWhileConnected} does for a queue with a channel of
     * its own.
     *
     * @param completions receives the completions; its former content is lost
     * @param timeout the maximum time to wait; 0 returns without waiting
     * @param unit the unit of {@code timeout}
     * @return the queue of the completions; empty if the wait times out
     * @throws IllegalArgumentException if {@code timeout} is negative
     * @throws InterruptedException if the thread is interrupted before or during the wait
     * @throws IllegalStateException if the connection is closed before or during the wait, or an {@link RpmaEventLoop}
     *     serves its completions
     * @throws RpmaException with {@code ENOTCONN} and the event if the connection has ended and there are no
     *     completions, or with {@code ECONNREFUSED} or {@code EHOSTUNREACH} if it was never established; with
     *     {@link RpmaError#UNKNOWN} for an event that librpma does not know; with {@link RpmaError#NOT_SHARED_CHNL} if the
     *     connection was made without {@link RpmaConnCfg#setComplChannel}; or if the device fails
     */
    public Optional<RpmaCq> awaitWhileConnected(RpmaCompletions completions, long timeout, TimeUnit unit)
            throws InterruptedException {
        long nanos = Waiter.nanos(timeout, unit);
        completions.clear();
        checkSharedChannel();
        return Optional.ofNullable(channel.await(completions, false, events, nanos));
    }

    /** The completion channel that the queues share. */
    RpmaCompletionWait sharedChannel() {
        checkSharedChannel();
        return channel;
    }

    private void checkSharedChannel() {
        if (channel == null) {
            throw RpmaCompletionWait.refusal(WAIT, object, handle, cq.object());
        }
    }

    /**
     * {@return the number of the connection's queue pair; {@link RpmaCompletions#qpNum} returns the same number for the
     * completions of this connection}
     *
     * @throws IllegalStateException if this object is closed
     */
    public int getQpNum() {
        return (int) Call.check("rpma_conn_get_qp_num", Natives.connGetQpNum(handle), object);
    }

    /**
     * {@return the file descriptor that is readable while an event is pending, for epoll(7) and similar calls}
     *
     * <p>A wait that watches the connection, such as {@link RpmaCq#awaitWhileConnected}, can take the event first.
     *
     * <p>The descriptor belongs to this connection. Do not close it, read from it, or use it after the connection is
     * closed. It is non-blocking.
     *
     * @throws IllegalStateException if this object is closed
     */
    public int getEventFd() {
        return (int) Call.check("rpma_conn_get_event_fd", Natives.connGetEventFd(handle), object);
    }

    /**
     * {@return the file descriptor of the shared completion channel, for epoll(7) and similar calls}
     *
     * <p>The descriptor is readable if a completion has arrived in a queue since the queue was last armed. A queue is
     * armed when it is created, and again by {@link #await}. To use the descriptor, call {@code await} with a timeout
     * of 0 until it takes nothing, and then wait, level-triggered, until the descriptor is readable.
     *
     * <p>The descriptor belongs to this connection. Do not close it, read from it, or use it after the connection is
     * closed. It is non-blocking.
     *
     * @throws IllegalStateException if this object is closed
     * @throws RpmaException with {@link RpmaError#NOT_SHARED_CHNL} if the connection was made without
     *     {@link RpmaConnCfg#setComplChannel}
     */
    public int getComplFd() {
        return (int) Call.check("rpma_conn_get_compl_fd", Natives.connGetComplFd(handle), object);
    }

    /**
     * Waits for the next event, without a timeout.
     *
     * @return the event
     * @throws InterruptedException if the thread is interrupted before or during the wait
     * @throws IllegalStateException if the connection is closed before or during the wait, or an {@link RpmaEventLoop}
     *     serves it
     * @throws RpmaException with {@link RpmaError#UNKNOWN} for an event that librpma does not know, after which the
     *     connection remains usable; or if librpma fails
     */
    public RpmaConnEvent nextEvent() throws InterruptedException {
        return events.next(Waiter.FOREVER);
    }

    /**
     * Waits for the next event.
     *
     * @param timeout the maximum time to wait; 0 returns without waiting
     * @param unit the unit of {@code timeout}
     * @return the event; empty if the wait times out
     * @throws IllegalArgumentException if {@code timeout} is negative
     * @throws InterruptedException if the thread is interrupted before or during the wait
     * @throws IllegalStateException if the connection is closed before or during the wait, or an {@link RpmaEventLoop}
     *     serves it
     * @throws RpmaException with {@link RpmaError#UNKNOWN} for an event that librpma does not know, after which the
     *     connection remains usable; or if librpma fails
     */
    public Optional<RpmaConnEvent> nextEvent(long timeout, TimeUnit unit) throws InterruptedException {
        return Optional.ofNullable(events.next(Waiter.nanos(timeout, unit)));
    }

    private final class ConnEvents extends ConnectionEvents<RpmaConnEvent> {
        ConnEvents() {
            super(NEXT_EVENT, object, lock);
        }

        @Override
        protected RpmaConnEvent takeNative() {
            int result = Natives.connNextEvent(handle);
            if (result == Result.NO_EVENT) {
                return null;
            }
            RpmaConnEvent event = RpmaConnEvent.of((int) Call.check(NEXT_EVENT, result, object));
            lastEvent = event;
            FlightEvents.connectionEvent(object, event);
            return event;
        }

        @Override
        protected boolean isEnd(RpmaConnEvent event) {
            return event != RpmaConnEvent.ESTABLISHED;
        }

        @Override
        protected RuntimeException failure(String waiting, RpmaConnEvent event) {
            return Call.failure(waiting, event.errno(), object + " has ended: " + event);
        }

        @Override
        protected void wakeWaits() {
            cq.wakeWaits();
            RpmaCq receives = rcq;
            if (receives != null) {
                receives.wakeWaits();
            }
            RpmaCompletionWait shared = channel;
            if (shared != null) {
                shared.wake();
            }
        }
    }

    ConnectionEvents<RpmaConnEvent> events() {
        return events;
    }

    /**
     * {@return the private data of the other side's request or answer}
     *
     * <p>On the connecting side it is available after {@link RpmaConnEvent#ESTABLISHED} was taken, and empty before. On
     * InfiniBand and RoCE it always has 56 bytes (request) or 196 bytes (answer), padded with zeroes, even if nothing
     * was sent. Include a length or a marker in the data.
     *
     * @throws IllegalStateException if this object is closed
     */
    public byte[] getPrivateData() {
        byte[] data = new byte[MOST_PRIVATE_DATA];
        int length;
        lock.lock();
        try {
            length = Natives.connGetPrivateData(handle, data);
        } finally {
            lock.unlock();
        }
        return Arrays.copyOf(data, (int) Call.check("rpma_conn_get_private_data", length, object));
    }

    /**
     * Applies the other side's configuration to this connection. Persistent flushes require it.
     *
     * @param cfg the configuration that the other side sent; it may be closed afterwards
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
     * Disconnects, without waiting for the other side. The other side receives {@link RpmaConnEvent#CLOSED}, and
     * answers by its own {@code disconnect} or {@link #close()}. This side receives {@link RpmaConnEvent#CLOSED} after
     * that answer, or when the answer times out.
     *
     * <p>Can be called in every state, and more than once. Before the connection is established, the call makes the
     * operations of this side fail but does not notify the other side: close the connection instead.
     *
     * <p>All outstanding operations end at once with {@link RpmaWcStatus#WR_FLUSH_ERR}. To avoid this, wait for the
     * last completion first. A check of the other side ({@link RpmaEventLoop#onPeerLost onPeerLost}) ends.
     *
     * @throws IllegalStateException if this object is closed
     * @throws RpmaException if librpma fails, for example because the connection is lost
     */
    public void disconnect() {
        // the disconnection makes a probe fail
        PeerProbe attached = probe;
        if (attached != null) {
            attached.end();
        }
        Call.check("rpma_conn_disconnect", Natives.connDisconnect(handle), object);
        FlightEvents.disconnection(object);
    }

    /** The probes of this connection, made by the first call. */
    synchronized PeerProbe probe() {
        if (probe == null) {
            probe = new Probe();
        }
        return probe;
    }

    /** The probes of this connection, or null if it was never checked. */
    PeerProbe attachedProbe() {
        return probe;
    }

    private final class Probe extends PeerProbe {
        Probe() {
            super(cq.object());
        }

        @Override
        protected boolean post(long opContext) {
            return write(F_COMPLETION_ALWAYS, opContext);
        }
    }

    Resource object() {
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
     * Closes the connection, in any state. Has no effect if it is already closed. Waits while another thread closes it.
     *
     * <p>Wakes the threads that wait for this connection or its completion queues, and waits for posts and polls under
     * way. The other side of an established connection receives {@link RpmaConnEvent#CLOSED}.
     *
     * <p>Blocks while the kernel waits for the other side. This takes seconds if the other side's host is dead: up to
     * 11 s were measured for one connection, and 51 s for 16 connections that were closed at once. Neither an
     * interruption nor any other call ends the wait, and a virtual thread occupies its carrier. If the thread must not
     * wait for so long, close connections in a separate platform thread.
     *
     * @throws RpmaException if librpma reports a failure; the connection is closed nevertheless
     */
    @Override
    public void close() {
        object.close();
    }

    @Override
    public String toString() {
        return object.describe(otherSide, "queue pair " + Integer.toUnsignedString(qpNum), lastEvent);
    }
}
