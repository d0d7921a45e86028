package io.rpma;

import java.nio.ByteBuffer;

/**
 * The natives of the shim and nothing else; each has its function in the C file of the same family. Whoever may be the first to
 * call one calls {@link Loader#ensureLoaded} before: a failure in a static initialiser would be for good.
 *
 * <p>Objects are named by handles (see native/handle.h). A native that yields a handle or a number returns librpma's
 * negative code on failure, or {@link #CLOSED} when one of its objects is closed.
 */
final class Natives {
    /** One of the objects of the call is closed. */
    static final int CLOSED = -1;

    /** Says of a number of completions that they are the second queue's; above every capacity. */
    static final int SECOND_QUEUE = 1 << 30;

    /** A post was made. */
    static final int POSTED = 0;

    /** A post found its queue full. */
    static final int QUEUE_FULL = 2;

    private Natives() {}

    // handle.c
    /** How many native objects are open. */
    static native int handleCount();

    /** How many may be open at once. */
    static native int handleLimit();

    // device.c
    static native long deviceGet(String address, boolean remote);

    static native int devicePin(long device);

    static native int deviceIsOdpCapable(long device);

    static native int deviceIsFlushNative(long device);

    static native byte[] deviceName(long device);

    // peer.c
    static native long peerNew(long device);

    static native int peerDelete(long peer);

    // peer_cfg.c
    static native long peerCfgNew();

    static native long peerCfgFromDescriptor(byte descriptor);

    static native int peerCfgDelete(long cfg);

    static native int peerCfgSetDirectWriteToPmem(long cfg, boolean supported);

    static native int peerCfgGetDirectWriteToPmem(long cfg);

    static native int peerCfgGetDescriptorSize(long cfg);

    static native int peerCfgGetDescriptor(long cfg, byte[] descriptor);

    // mr_local.c
    static native long mrReg(long peer, long address, long size, int usage);

    static native int mrDereg(long mr);

    static native long mrGetPtr(long mr);

    static native long mrGetSize(long mr);

    static native int mrGetDescriptorSize(long mr);

    static native int mrGetDescriptor(long mr, byte[] descriptor);

    static native int mrAdvise(long mr, long offset, long length, int advice, int flags);

    // mr_remote.c
    static native long mrRemoteFromDescriptor(byte[] descriptor);

    static native int mrRemoteDelete(long mr);

    static native long mrRemoteGetSize(long mr);

    static native int mrRemoteGetFlushType(long mr);

    // conn_cfg.c
    static native long connCfgNew();

    static native int connCfgDelete(long cfg);

    static native int connCfgSetTimeout(long cfg, int timeoutMs);

    static native int connCfgGetTimeout(long cfg);

    /** The sizes are those of {@link RpmaConnCfg}. */
    static native int connCfgSetSize(long cfg, int which, int size);

    static native int connCfgGetSize(long cfg, int which);

    static native int connCfgSetComplChannel(long cfg, boolean shared);

    static native int connCfgGetComplChannel(long cfg);

    static native int connCfgSetSrq(long cfg, long srq);

    static native int connCfgGetSrq(long cfg);

    // srq_cfg.c
    static native long srqCfgNew();

    static native int srqCfgDelete(long cfg);

    /** The sizes are those of {@link RpmaSrqCfg}. */
    static native int srqCfgSetSize(long cfg, int which, int size);

    static native int srqCfgGetSize(long cfg, int which);

    // srq.c
    static native int srqNew(long peer, long cfg, long[] srqAndRcq);

    static native int srqDelete(long srq, long rcq);

    static native int srqRecv(long srq, long dst, long offset, long length, long opContext);

    // ep.c
    static native long epListen(long peer, String address, String port);

    static native int epShutdown(long ep);

    static native int epGetFd(long ep);

    static native long epNextConnReq(long ep, long cfg);

    // conn_req.c
    static native long connReqNew(long peer, String address, String port, long cfg);

    static native int connReqDelete(long req);

    static native int connReqGetPrivateData(long req, byte[] data);

    static native int connReqRecv(long req, long dst, long offset, long length, long opContext);

    static native int connReqConnect(
            long request, long peer, boolean emulatesFlush, byte[] privateData, long[] connAndQueues);

    // conn.c
    static native int connRead(
            long conn, long dst, long dstOffset, long src, long srcOffset, long length, int flags, long opContext);

    static native int connWrite(
            long conn, long dst, long dstOffset, long src, long srcOffset, long length, int flags, long opContext);

    static native int connWriteWithImm(
            long conn,
            long dst,
            long dstOffset,
            long src,
            long srcOffset,
            long length,
            int flags,
            int imm,
            long opContext);

    static native int connAtomicWrite(long conn, long dst, long dstOffset, long value, int flags, long opContext);

    static native int connWriteAtomic(
            long conn, long dst, long dstOffset, long src, long srcOffset, int flags, long opContext);

    static native int connFlush(long conn, long dst, long dstOffset, long length, int type, int flags, long opContext);

    static native int connSend(long conn, long src, long offset, long length, int flags, long opContext);

    static native int connSendWithImm(
            long conn, long src, long offset, long length, int flags, int imm, long opContext);

    static native int connRecv(long conn, long dst, long offset, long length, long opContext);

    static native int connNextEvent(long conn);

    static native int connGetPrivateData(long conn, byte[] data);

    static native int connApplyRemotePeerCfg(long conn, long cfg);

    static native int connDisconnect(long conn);

    static native long connGetQpNum(long conn);

    static native int connGetEventFd(long conn);

    static native int connGetComplFd(long conn);

    static native int connWait(long conn);

    static native int connDelete(long conn, long cq, long rcq);

    static native String connEventMessage(int event);

    // batch.c
    /** In the lower half how many were posted, in the upper half what the next post returned, or 0. */
    static native long batchPost(long records, int count);

    // cq.c
    static native int cqGetWc(long cq, int capacity, long completions);

    static native int cqWait(long cq);

    /**
     * How many completions were taken, plus {@link #SECOND_QUEUE} if they are of that one; or as {@link #await} ends.
     *
     * @param waited the queue whose channel is waited for, retired with all others here
     * @param conn if the channel is shared, else 0
     * @param second 0 if there is one queue only
     */
    static native int cqAwait(
            long waited,
            long conn,
            long first,
            long second,
            int capacity,
            long completions,
            int wakeFd,
            long timeoutNanos);

    static native int cqGetFd(long cq);

    static native String wcStatusMessage(int status);

    // wait.c
    static native int await(long handle, int wakeFd, long timeoutNanos);

    static native int wakerNew();

    static native void wakerWake(int fd);

    static native void wakerReset(int fd);

    // poller.c
    static native long pollerNew();

    static native int pollerDelete(long poller);

    static native int pollerWatch(long poller, long object, long number, boolean again);

    static native void pollerUnwatch(long poller, long object);

    static native int pollerWait(long poller, long[] ready, int timeoutMs);

    static native void pollerWake(long poller);

    // memory.c
    static native long memoryMapAnonymous(long size, int pageBits);

    static native int memoryOpen(byte[] path, boolean writable, boolean create);

    static native int memoryAllocate(int fd, long size);

    static native long memoryMap(int fd, long size, boolean writable, boolean sync);

    static native void memoryClose(int fd);

    static native int memoryUnmap(long address, long size);

    static native int memoryPersist(long address, long before, long size);

    static native int memorySync(long address, long size, boolean all);

    static native long memoryPageSize();

    static native int memoryIsInMemory(int fd);

    static native long memoryFilePageSize(int fd);

    static native ByteBuffer memoryBuffer(long address, long size);

    static native long bufferAddress(ByteBuffer buffer);

    // log.c
    static native byte[] lastMessages();

    static native boolean hasMessages();

    static native byte[] nextMessage();

    static native int logSetThreshold(int threshold, int level);

    static native int logGetThreshold(int threshold);

    static native byte[] errnoMessage(int errno);

    static native byte[] errnoName(int errno);

    static native byte[] errorMessage(int code);

    // onload.c
    /** Registers the natives of io.rpma.rdmacm with their class. */
    static native int registerRdmacm(Class<?> natives);
}
