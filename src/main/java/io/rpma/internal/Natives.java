// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.internal;

import java.nio.ByteBuffer;

/**
 * The native methods of the shim. The comment before each group names the C file of its functions.
 *
 * <p>Code that can be the first to call a native method must call {@link Loader#ensureLoaded} before. This class has no
 * static initialiser that loads the shim, because a failure there would be permanent.
 *
 * <p>Handles identify objects: see native/handle.h. A native method that returns a handle or a number returns a
 * negative number if it fails: an error code of librpma or a code of {@link Result}.
 */
public final class Natives {
    private Natives() {}

    // onload.c
    /** Returns the number of native methods that the shim has. */
    public static native int nativeCount();

    // handle.c
    /** Returns the number of open native objects. */
    public static native int handleCount();

    /** Returns the maximum number of open native objects. */
    public static native int handleLimit();

    public static native boolean handleIsOpen(long handle);

    /**
     * Ends all uses of the objects and of their parts: no new use begins, waits are woken, and the calls under way are
     * over. Runs {@code membarrier(2)} once. Skips numbers that are no open handles. Does not fail. The objects must
     * then be deleted.
     */
    public static native void handleEndUses(long[] handles, int count);

    // device.c
    public static native long deviceGet(String address, boolean remote);

    public static native int devicePin(long device);

    /** Returns all devices and pins them, or null if they can't be listed. */
    public static native long[] deviceList();

    public static native int deviceIsOdpCapable(long device);

    /** Returns the handle of the device as the source of its events. */
    public static native long deviceEvents(long device);

    /**
     * Takes an event.
     *
     * @param values gets the type, and the number of the port, the number of the queue pair and the descriptor of the
     *     completion channel, or 0, 0 and -1
     */
    public static native int deviceNextEvent(long events, long[] values);

    public static native int deviceIsFlushNative(long device);

    public static native int deviceIsAtomicWriteNative(long device);

    /** Returns the maximum length of an operation, in bytes. Never fails. */
    public static native int deviceMaxMessage(long device);

    /**
     * Returns the number of ports, the numbers of the vendor and of the part, the GUID in hexadecimal digits and the
     * version of the firmware, separated by spaces; or null if the query fails.
     */
    public static native byte[] deviceIdentity(long device);

    /** Sets the values: state, link layer, active MTU and maximum message in bytes, length of the table of GIDs. */
    public static native int devicePort(long device, int port, long[] values);

    /**
     * Writes a line for each GID that belongs to a network interface: the number of the port, a space and the name of
     * the interface. Returns the number of bytes.
     *
     * @param gids the length of the tables of all ports together
     * @param lines 20 bytes for each GID
     */
    public static native int deviceInterfaces(long device, int gids, byte[] lines);

    /**
     * Returns a line for each address of the device: the number of the port, the name of the network interface, the scope
     * of a link-local address of IPv6 or 0, and the address, separated by spaces; null if a call fails.
     */
    public static native byte[] deviceAddresses(long device);

    public static native byte[] deviceName(long device);

    // limit.c
    /**
     * Returns the limit of the process, or -1 if there is none.
     *
     * @param limit the number of the limit, which {@link Hint} defines
     */
    static native long processLimit(int limit);

    /** Returns the name of the device and its limits: see {@link ObjectKind#deviceLimits}. */
    public static native byte[] deviceLimits(long device);

    // versions.c
    /**
     * Returns null if librpma suits the loaded libibverbs. Otherwise returns a description of the two libraries:
     * librpma calls functions that queue pairs of this libibverbs lack, and would end the process.
     */
    public static native byte[] versionsMismatch();

    // peer.c
    public static native long peerNew(long device);

    public static native int peerDelete(long peer);

    // peer_cfg.c
    public static native long peerCfgNew();

    public static native long peerCfgFromDescriptor(byte descriptor);

    public static native int peerCfgDelete(long cfg);

    public static native int peerCfgSetDirectWriteToPmem(long cfg, boolean supported);

    public static native int peerCfgGetDirectWriteToPmem(long cfg);

    public static native int peerCfgGetDescriptorSize(long cfg);

    public static native int peerCfgGetDescriptor(long cfg, byte[] descriptor);

    // mr_local.c
    public static native long mrReg(long peer, long device, long address, long size, int usage);

    public static native int mrDereg(long mr);

    public static native long mrGetPtr(long mr);

    public static native long mrGetSize(long mr);

    public static native int mrGetDescriptorSize(long mr);

    public static native int mrGetDescriptor(long mr, byte[] descriptor);

    public static native int mrAdvise(long mr, long offset, long length, int advice, int flags);

    // mr_remote.c
    public static native long mrRemoteFromDescriptor(byte[] descriptor);

    public static native int mrRemoteDelete(long mr);

    public static native long mrRemoteGetSize(long mr);

    public static native int mrRemoteGetFlushType(long mr);

    // conn_cfg.c
    public static native long connCfgNew();

    public static native int connCfgDelete(long cfg);

    public static native int connCfgSetTimeout(long cfg, int timeoutMs);

    public static native int connCfgGetTimeout(long cfg);

    /** Sets the size with the number {@code which}. {@code RpmaConnCfg} defines the numbers. */
    public static native int connCfgSetSize(long cfg, int which, int size);

    public static native int connCfgGetSize(long cfg, int which);

    public static native int connCfgSetComplChannel(long cfg, boolean shared);

    public static native int connCfgGetComplChannel(long cfg);

    public static native int connCfgSetSrq(long cfg, long srq);

    public static native int connCfgGetSrq(long cfg);

    // srq_cfg.c
    public static native long srqCfgNew();

    public static native int srqCfgDelete(long cfg);

    /** Sets the size with the number {@code which}. {@code RpmaSrqCfg} defines the numbers. */
    public static native int srqCfgSetSize(long cfg, int which, int size);

    public static native int srqCfgGetSize(long cfg, int which);

    // srq.c
    public static native int srqNew(long peer, long cfg, long[] srqAndRcq);

    public static native int srqDelete(long srq);

    public static native int srqRecv(long srq, long dst, long offset, long length, long opContext);

    // ep.c
    public static native long epListen(long peer, String address, String port);

    public static native int epShutdown(long ep);

    public static native int epGetFd(long ep);

    public static native long epNextConnReq(long ep, long cfg);

    // conn_req.c
    public static native long connReqNew(long peer, String address, String port, long cfg);

    public static native int connReqDelete(long req);

    public static native int connReqGetPrivateData(long req, byte[] data);

    public static native int connReqRecv(long req, long dst, long offset, long length, long opContext);

    public static native int connReqConnect(long request, byte[] privateData, long[] connAndQueues);

    // conn.c
    public static native int connRead(
            long conn, long dst, long dstOffset, long src, long srcOffset, long length, int flags, long opContext);

    public static native int connWrite(
            long conn, long dst, long dstOffset, long src, long srcOffset, long length, int flags, long opContext);

    public static native int connWriteWithImm(
            long conn,
            long dst,
            long dstOffset,
            long src,
            long srcOffset,
            long length,
            int flags,
            int imm,
            long opContext);

    public static native int connAtomicWrite(
            long conn, long dst, long dstOffset, long value, int flags, long opContext);

    public static native int connWriteAtomic(
            long conn, long dst, long dstOffset, long src, long srcOffset, int flags, long opContext);

    public static native int connFlush(
            long conn, long dst, long dstOffset, long length, int type, int flags, long opContext);

    public static native int connSend(long conn, long src, long offset, long length, int flags, long opContext);

    public static native int connSendWithImm(
            long conn, long src, long offset, long length, int flags, int imm, long opContext);

    public static native int connRecv(long conn, long dst, long offset, long length, long opContext);

    public static native int connNextEvent(long conn);

    public static native int connGetPrivateData(long conn, byte[] data);

    public static native int connApplyRemotePeerCfg(long conn, long cfg);

    public static native int connDisconnect(long conn);

    public static native long connGetQpNum(long conn);

    public static native int connGetEventFd(long conn);

    public static native int connGetComplFd(long conn);

    public static native int connDelete(long conn);

    public static native String connEventMessage(int event);

    // batch.c
    /**
     * Posts records, until a post fails.
     *
     * @param address the address of record 0
     * @param range upper half: the number of the first record to post; lower half: the number after that of the last
     *     one
     * @return lower half: the number of posts; upper half: the result of the post that failed, or 0
     */
    public static native long batchPost(long address, long range);

    // cq.c
    public static native int cqGetWc(long cq, int capacity, long completions);

    /**
     * Takes completions. While there are none, waits for an event of the channel, takes it and arms its queue.
     *
     * @param conn the connection if its queues share the channel, otherwise 0
     * @param cq the queue with the descriptor of the channel; its uses end together with those of {@code conn} and
     *     {@code rcq}
     * @param rcq the second queue, or 0
     * @param rcqFirst whether to poll the second queue first
     * @param armed false to take a pending event and arm its queue before the queues are polled
     * @param events an object whose descriptor ends the wait as {@code wakeFd} does, or 0; its uses end together with
     *     those of {@code cq}
     * @param wakeFd the eventfd that ends the wait
     * @param timeoutNanos the timeout, or {@link Waiter#FOREVER}; 0 to not block
     * @return the number of completions, plus {@link Result#SECOND_QUEUE} if they are of {@code rcq}; or the result of
     *     {@link #await} if the wait ends without completions
     */
    public static native int cqAwait(
            long conn,
            long cq,
            long rcq,
            boolean rcqFirst,
            boolean armed,
            int capacity,
            long completions,
            long events,
            int wakeFd,
            long timeoutNanos);

    public static native int cqGetFd(long cq);

    public static native String wcStatusMessage(int status);

    // wait.c
    public static native int await(long handle, int wakeFd, long timeoutNanos);

    public static native int wakerNew();

    public static native void wakerWake(int fd);

    public static native void wakerReset(int fd);

    // poller.c
    public static native long pollerNew();

    public static native int pollerDelete(long poller);

    public static native int pollerWatch(long poller, long object, long number, boolean once, boolean again);

    public static native void pollerUnwatch(long poller, long object);

    public static native int pollerWait(long poller, long[] ready, int timeoutMs);

    public static native void pollerWake(long poller);

    // memory.c
    public static native long memoryMapAnonymous(long size, int pageBits);

    public static native int memoryOpen(byte[] path, boolean writable, boolean create);

    public static native int memoryAllocate(int fd, long size);

    public static native long memoryMap(int fd, long size, boolean writable, boolean sync);

    public static native void memoryClose(int fd);

    public static native int memoryUnmap(long address, long size);

    public static native int memoryPersist(long address, long before, long size);

    public static native int memorySync(long address, long size, boolean all);

    public static native long memoryPageSize();

    public static native int memoryIsInMemory(int fd);

    public static native long memoryFilePageSize(int fd);

    public static native ByteBuffer memoryBuffer(long address, long size);

    public static native long bufferAddress(ByteBuffer buffer);

    // log.c
    /** Returns null if this copy of the library gets librpma's messages, else the class loader of the copy that does. */
    public static native byte[] logClaim(byte[] loader);

    public static native byte[] lastMessages();

    /** Returns the error of the first failure in the messages of the last call, or 0. */
    public static native int lastErrno();

    public static native boolean hasMessages();

    public static native byte[] nextMessage();

    public static native int logSetThreshold(int threshold, int level);

    public static native int logGetThreshold(int threshold);

    public static native byte[] errnoMessage(int errno);

    public static native byte[] errnoName(int errno);

    public static native byte[] errorMessage(int code);

    // rdmacm_addrinfo.c
    public static native long addrInfoGet(String node, String service, int portSpace, boolean passive);

    public static native int addrInfoFree(long info);

    public static native byte[] addrInfoAddress(long info);

    // rdmacm_id.c
    public static native long idCreate(int portSpace);

    public static native long idCreateEp(long info);

    /** Returns the maximum length of an operation, in bytes. */
    public static native int idMaxMessage(long id);

    /** Returns the name and the limits of the id's device: see {@link ObjectKind#deviceLimits}. */
    public static native byte[] idDeviceLimits(long id);

    public static native int idDestroy(long id);

    public static native int idBindAddr(long id, byte[] address);

    public static native int idSetReuseAddr(long id, boolean reuse);

    public static native int idSetTos(long id, int tos);

    public static native int idSetAckTimeout(long id, int timeout);

    public static native int idResolveAddr(long id, byte[] source, byte[] destination, int timeoutMs);

    public static native int idResolveRoute(long id, int timeoutMs);

    public static native long idListen(long id, int backlog);

    public static native long idGetRequest(long requests, byte[] event);

    public static native int idNextEvent(long id, byte[] event);

    public static native int idConnect(
            long id,
            byte[] privateData,
            int responderResources,
            int initiatorDepth,
            boolean flowControl,
            int retryCount,
            int rnrRetryCount);

    public static native int idAccept(
            long id,
            byte[] privateData,
            int responderResources,
            int initiatorDepth,
            boolean flowControl,
            int retryCount,
            int rnrRetryCount);

    public static native int idReject(long id, byte[] privateData);

    public static native int idIsInfiniBand(long id);

    public static native int idDisconnect(long id);

    public static native byte[] idLocalAddr(long id);

    public static native byte[] idPeerAddr(long id);

    // rdmacm_mr.c
    public static native long rdmaMrReg(long id, long address, long size, int access);

    public static native int rdmaMrDereg(long mr);

    public static native long rdmaMrRkey(long mr);

    public static native long rdmaMrSize(long mr);

    // rdmacm_ah.c
    public static native long ahCreate(long id, byte[] attributes);

    public static native long ahFromCompletion(long id, long completion, long mr, long offset);

    public static native int ahDestroy(long ah);

    // rdmacm_srq.c
    public static native long rdmaSrqCreate(long id, int[] numbers);

    // rdmacm_qp.c
    public static native int qpCreate(long id, int[] numbers, boolean sigAll, long srq, long[] queues);

    /**
     * Posts a write, a read or a send of bytes of a region.
     *
     * @param what the operation ({@code enum ibv_wr_opcode}) in the lowest 8 bits, the flags in 24 bits, and the
     *     immediate data
     * @return {@link Result#POSTED}, {@link Result#QUEUE_FULL} or a failure
     */
    public static native int postRegion(
            long queue, long what, long mr, long offset, long length, long remoteAddr, int rkey, long context);

    /** As {@link #postRegion}, for inline data. */
    public static native int postInline(
            long queue, long what, long address, int length, long remoteAddr, int rkey, long context);

    /** As {@link #postRegion}, for several parts. */
    public static native int postParts(
            long queue, long what, long sges, int count, long remoteAddr, int rkey, long context);

    /** As {@link #postRegion}, for 8 bytes of a region. */
    public static native int postAtomic(
            long queue,
            long what,
            long mr,
            long offset,
            long remoteAddr,
            int rkey,
            long compareAdd,
            long swap,
            long context);

    /**
     * As {@link #postRegion}, for a datagram. With {@code IBV_SEND_INLINE}, {@code offset} is the address of inline
     * data.
     */
    public static native int postDatagram(
            long queue,
            long what,
            long mr,
            long offset,
            long length,
            long ah,
            int remoteQpn,
            int remoteQkey,
            long context);

    public static native int postRecv(long queue, long mr, long offset, long length, long context);

    public static native int postRecvv(long queue, long sges, int count, long context);

    // rdmacm_batch.c
    /**
     * As {@link #batchPost}, for the records of {@code RdmaBatch}.
     *
     * @param address the address of the header, which is in front of record 0: the address of the inline data
     * @param range as {@link #batchPost}
     * @return as {@link #batchPost}
     */
    public static native long rdmaBatchPost(long address, long range);

    /**
     * Builds the work requests of {@code RdmaPreparedBatch}.
     *
     * @param address as {@link #rdmaBatchPost}
     * @param count the number of records, from the first one
     * @param prepared the address of the memory of the work requests
     */
    public static native int rdmaPrepare(long address, int count, long prepared);

    /**
     * Posts them.
     *
     * @param prepared the address of the memory of the work requests
     * @param from the number of the first operation
     * @return as {@link #batchPost}
     */
    public static native long rdmaPreparedPost(long prepared, int from);

    // rdmacm_cq.c
    public static native int pollSendComp(long queue, int capacity, long completions);

    public static native int pollRecvComp(long queue, int capacity, long completions);

    /** As {@link #cqAwait}. */
    public static native int awaitComp(
            long queue,
            boolean send,
            boolean solicitedOnly,
            boolean armed,
            int capacity,
            long completions,
            long events,
            int wakeFd,
            long timeoutNanos);
}
