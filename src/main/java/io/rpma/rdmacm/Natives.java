package io.rpma.rdmacm;

import io.rpma.internal.Internals;

/**
 * The natives of this package and nothing else; each has its function in the C file of the same family.
 *
 * <p>Objects are named by handles (see native/handle.h). A native that yields a handle or a number returns on failure
 * librdmacm's errno below -1000, -1 when one of its objects is closed, {@link #NO_DEVICE} or {@link #OTHER_EVENT}.
 */
final class Natives {
    /** The id is not bound to a device yet. */
    static final int NO_DEVICE = -2;

    /** There was an event that is no request. */
    static final int OTHER_EVENT = -3;

    /** A post was made; the alternative is a full queue. */
    static final int POSTED = 0;

    static {
        Internals.get().registerRdmacm(Natives.class);
    }

    private Natives() {}

    // rdmacm_addrinfo.c
    static native long addrInfoGet(String node, String service, int portSpace, boolean passive);

    static native int addrInfoFree(long info);

    static native byte[] addrInfoAddress(long info);

    // rdmacm_id.c
    static native long idCreate(int portSpace);

    static native long idCreateEp(long info);

    static native long idRetire(long id, long requests, long sendQueue, long recvQueue, long srq);

    static native int idDestroy(long retired);

    static native int idBindAddr(long id, byte[] address);

    static native int idResolveAddr(long id, byte[] source, byte[] destination, int timeoutMs);

    static native int idResolveRoute(long id, int timeoutMs);

    static native long idListen(long id, int backlog);

    static native long idGetRequest(long requests, byte[] event);

    static native int idNextEvent(long id, byte[] event);

    static native int idConnect(
            long id,
            byte[] privateData,
            int responderResources,
            int initiatorDepth,
            boolean flowControl,
            int retryCount,
            int rnrRetryCount);

    static native int idAccept(
            long id,
            byte[] privateData,
            int responderResources,
            int initiatorDepth,
            boolean flowControl,
            int retryCount,
            int rnrRetryCount);

    static native int idReject(long id, byte[] privateData);

    static native int idIsInfiniBand(long id);

    static native int idDisconnect(long id);

    static native byte[] idLocalAddr(long id);

    static native byte[] idPeerAddr(long id);

    // rdmacm_mr.c
    static native long mrReg(long id, long address, long size, int access);

    static native int mrDereg(long mr);

    static native long mrRkey(long mr);

    // rdmacm_ah.c
    static native long ahCreate(long id, byte[] attributes);

    static native long ahFromCompletion(long id, long completion, long mr, long offset);

    static native int ahDestroy(long ah);

    // rdmacm_srq.c
    static native long srqCreate(long id, int[] numbers);

    // rdmacm_qp.c
    static native int qpCreate(long id, int[] numbers, boolean sigAll, long srq, long[] queues);

    static native int postWrite(
            long queue, long mr, long offset, long length, int flags, long remoteAddr, int rkey, long context);

    static native int postWriteInline(
            long queue, long address, int length, int flags, long remoteAddr, int rkey, long context);

    static native int postWritev(long queue, long sges, int count, int flags, long remoteAddr, int rkey, long context);

    static native int postRead(
            long queue, long mr, long offset, long length, int flags, long remoteAddr, int rkey, long context);

    static native int postReadv(long queue, long sges, int count, int flags, long remoteAddr, int rkey, long context);

    static native int postSend(long queue, long mr, long offset, long length, int flags, long context);

    static native int postSendInline(long queue, long address, int length, int flags, long context);

    static native int postSendv(long queue, long sges, int count, int flags, long context);

    static native int postRecv(long queue, long mr, long offset, long length, long context);

    static native int postRecvv(long queue, long sges, int count, long context);

    static native int postUdSend(
            long queue, long mr, long offset, long length, int flags, long ah, int remoteQpn, long context);

    static native int postUdSendInline(
            long queue, long address, int length, int flags, long ah, int remoteQpn, long context);

    static native int postWriteWithImm(
            long queue, long mr, long offset, long length, int flags, long remoteAddr, int rkey, int imm, long context);

    static native int postWriteWithImmInline(
            long queue, long address, int length, int flags, long remoteAddr, int rkey, int imm, long context);

    static native int postSendWithImm(long queue, long mr, long offset, long length, int flags, int imm, long context);

    static native int postSendWithImmInline(long queue, long address, int length, int flags, int imm, long context);

    static native int postCompareAndSwap(
            long queue,
            long mr,
            long offset,
            int flags,
            long remoteAddr,
            int rkey,
            long compare,
            long swap,
            long context);

    static native int postFetchAndAdd(
            long queue, long mr, long offset, int flags, long remoteAddr, int rkey, long add, long context);

    // rdmacm_cq.c
    static native int pollSendComp(long queue, int capacity, long completions);

    static native int pollRecvComp(long queue, int capacity, long completions);

    static native int rearmComp(long queue, boolean send, boolean solicitedOnly);

    static native int awaitComp(
            long queue, boolean send, boolean solicitedOnly, int capacity, long completions, int wakeFd, long timeout);
}
