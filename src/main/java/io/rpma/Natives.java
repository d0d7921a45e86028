package io.rpma;

import java.nio.ByteBuffer;

/**
 * The natives of the shim and nothing else; each has its function in the C file of the same family.
 *
 * <p>Objects are named by handles (see native/handle.h). A native that yields a handle or a number returns librpma's
 * negative code on failure, or {@link #CLOSED} when one of its objects is closed.
 */
final class Natives {
    /** One of the objects of the call is closed. */
    static final int CLOSED = -1;

    /** A post found its queue full. */
    static final int QUEUE_FULL = 1;

    static {
        Loader.load();
    }

    private Natives() {}

    // device.c
    static native long deviceGet(String address, boolean remote);

    static native int deviceIsOdpCapable(long device);

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

    static native int connCfgSetCqSize(long cfg, int size);

    static native int connCfgGetCqSize(long cfg);

    static native int connCfgSetSqSize(long cfg, int size);

    static native int connCfgGetSqSize(long cfg);

    static native int connCfgSetRqSize(long cfg, int size);

    static native int connCfgGetRqSize(long cfg);

    // ep.c
    static native long epListen(long peer, String address, String port);

    static native int epShutdown(long ep);

    static native long epNextConnReq(long ep, long cfg);

    // conn_req.c
    static native long connReqNew(long peer, String address, String port, long cfg);

    static native int connReqDelete(long req);

    static native byte[] connReqGetPrivateData(long req);

    static native int connReqConnect(long req, byte[] privateData, long[] connAndCq);

    // conn.c
    static native int connRead(
            long conn, long dst, long dstOffset, long src, long srcOffset, long length, int flags, long opContext);

    static native int connWrite(
            long conn, long dst, long dstOffset, long src, long srcOffset, long length, int flags, long opContext);

    static native int connAtomicWrite(long conn, long dst, long dstOffset, long value, int flags, long opContext);

    static native int connFlush(long conn, long dst, long dstOffset, long length, int type, int flags, long opContext);

    static native int connNextEvent(long conn);

    static native byte[] connGetPrivateData(long conn);

    static native int connApplyRemotePeerCfg(long conn, long cfg);

    static native int connDisconnect(long conn);

    static native int connDelete(long conn, long cq);

    static native String connEventMessage(int event);

    // cq.c
    static native int cqGetWc(long cq, int capacity, long completions);

    static native int cqWait(long cq);

    static native String wcStatusMessage(int status);

    // wait.c
    static native int await(long handle, int wakeFd, long timeoutNanos);

    static native int wakerNew();

    static native void wakerWake(int fd);

    static native void wakerReset(int fd);

    // memory.c
    static native long memoryMapAnonymous(long size);

    static native int memoryOpen(byte[] path, boolean writable, boolean create);

    static native int memoryAllocate(int fd, long size);

    static native long memoryMap(int fd, long size, boolean writable, boolean sync);

    static native void memoryClose(int fd);

    static native int memoryUnmap(long address, long size);

    static native ByteBuffer memoryBuffer(long address, long size);

    static native long bufferAddress(ByteBuffer buffer);

    // log.c
    static native byte[] lastMessages();

    static native boolean hasMessages();

    static native byte[] nextMessage();

    static native byte[] errnoMessage(int errno);

    static native byte[] errorMessage(int code);
}
