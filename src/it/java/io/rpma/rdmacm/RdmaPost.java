// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.rdmacm;

import static io.rpma.rdmacm.RdmaAccess.REMOTE_ATOMIC;
import static io.rpma.rdmacm.RdmaAccess.REMOTE_READ;
import static io.rpma.rdmacm.RdmaAccess.REMOTE_WRITE;
import static io.rpma.rdmacm.RdmaPost.Local.INLINE;
import static io.rpma.rdmacm.RdmaPost.Local.PARTS;
import static io.rpma.rdmacm.RdmaPost.Local.REGION;
import static io.rpma.rdmacm.RdmaPost.Local.WORD;

import io.rpma.testing.RdmaPair;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Stream;

/** The posts on a connection, named after the methods of {@link RdmaQp} without "post". */
enum RdmaPost {
    WRITE(
            REGION,
            REMOTE_WRITE,
            a -> a.qp.postWrite(a.region, a.offset, a.length, a.flags, a.remote, a.rkey, a.context)),
    WRITEV(PARTS, REMOTE_WRITE, a -> a.qp.postWritev(a.parts, a.flags, a.remote, a.rkey, a.context)),
    WRITE_INLINE(
            INLINE,
            REMOTE_WRITE,
            a -> a.qp.postWriteInline(a.data, (int) a.length, a.flags, a.remote, a.rkey, a.context)),
    WRITE_WITH_IMM(
            REGION,
            REMOTE_WRITE,
            a -> a.qp.postWriteWithImm(a.region, a.offset, a.length, a.flags, a.remote, a.rkey, 2, a.context)),
    WRITE_WITH_IMM_INLINE(
            INLINE,
            REMOTE_WRITE,
            a -> a.qp.postWriteWithImmInline(a.data, (int) a.length, a.flags, a.remote, a.rkey, 2, a.context)),
    READ(REGION, REMOTE_READ, a -> a.qp.postRead(a.region, a.offset, a.length, a.flags, a.remote, a.rkey, a.context)),
    READV(PARTS, REMOTE_READ, a -> a.qp.postReadv(a.parts, a.flags, a.remote, a.rkey, a.context)),
    SEND(REGION, null, a -> a.qp.postSend(a.region, a.offset, a.length, a.flags, a.context)),
    SENDV(PARTS, null, a -> a.qp.postSendv(a.parts, a.flags, a.context)),
    SEND_INLINE(INLINE, null, a -> a.qp.postSendInline(a.data, (int) a.length, a.flags, a.context)),
    SEND_WITH_IMM(REGION, null, a -> a.qp.postSendWithImm(a.region, a.offset, a.length, a.flags, 2, a.context)),
    SEND_WITH_IMM_INLINE(INLINE, null, a -> a.qp.postSendWithImmInline(a.data, (int) a.length, a.flags, 2, a.context)),
    COMPARE_AND_SWAP(
            WORD,
            REMOTE_ATOMIC,
            a -> a.qp.postCompareAndSwap(a.region, a.offset, a.flags, a.remote, a.rkey, 0, 1, a.context)),
    FETCH_AND_ADD(
            WORD,
            REMOTE_ATOMIC,
            a -> a.qp.postFetchAndAdd(a.region, a.offset, a.flags, a.remote, a.rkey, 1, a.context)),
    RECV(REGION, null, a -> a.qp.postRecv(a.region, a.offset, a.length, a.context)),
    RECVV(PARTS, null, a -> a.qp.postRecvv(a.parts, a.context));

    /** The location of the bytes of this side. */
    enum Local {
        REGION,
        /** 8 bytes of a region. */
        WORD,
        PARTS,
        INLINE
    }

    /** The arguments of a post of 8 bytes, good ones unless they are changed. */
    static final class Arguments {
        RdmaQp qp;
        RdmaMr region;
        RdmaSgeList parts;
        RdmaInlineData data = RdmaPair.inline("8 bytes.");
        long offset;
        long length = 8;
        int flags = RdmaQp.F_SIGNALED;
        long remote;
        int rkey;
        long context = 1;

        /** Arguments without objects. */
        Arguments() {}

        /** Arguments for a post on the client. */
        Arguments(RdmaPair pair) {
            this(pair.client.qp(), pair.clientMr, pair.serverMr);
        }

        Arguments(RdmaQp qp, RdmaMr region, RdmaMr target) {
            this.qp = qp;
            this.region = region;
            parts = RdmaSgeList.create(RdmaSgeList.MAX_CAPACITY).add(region, 0, 8);
            remote = target.address();
            rkey = target.rkey();
        }
    }

    private interface Call {
        boolean post(Arguments arguments);
    }

    final Local local;

    /** The access that the other side's memory has to be registered for, or null if the post names no such memory. */
    final RdmaAccess access;

    private final Call call;

    RdmaPost(Local local, RdmaAccess access, Call call) {
        this.local = local;
        this.access = access;
        this.call = call;
    }

    boolean post(Arguments arguments) {
        return call.post(arguments);
    }

    /** Records the post in a batch. */
    boolean record(RdmaBatch batch, Arguments a) {
        int bytes = (int) a.length;
        return switch (this) {
            case WRITE -> batch.write(a.qp, a.region, a.offset, a.length, a.flags, a.remote, a.rkey, a.context);
            case WRITE_INLINE -> batch.writeInline(a.qp, a.data, bytes, a.flags, a.remote, a.rkey, a.context);
            case WRITE_WITH_IMM ->
                batch.writeWithImm(a.qp, a.region, a.offset, a.length, a.flags, a.remote, a.rkey, 2, a.context);
            case WRITE_WITH_IMM_INLINE ->
                batch.writeWithImmInline(a.qp, a.data, bytes, a.flags, a.remote, a.rkey, 2, a.context);
            case READ -> batch.read(a.qp, a.region, a.offset, a.length, a.flags, a.remote, a.rkey, a.context);
            case SEND -> batch.send(a.qp, a.region, a.offset, a.length, a.flags, a.context);
            case SEND_INLINE -> batch.sendInline(a.qp, a.data, bytes, a.flags, a.context);
            case SEND_WITH_IMM -> batch.sendWithImm(a.qp, a.region, a.offset, a.length, a.flags, 2, a.context);
            case SEND_WITH_IMM_INLINE -> batch.sendWithImmInline(a.qp, a.data, bytes, a.flags, 2, a.context);
            case COMPARE_AND_SWAP ->
                batch.compareAndSwap(a.qp, a.region, a.offset, a.flags, a.remote, a.rkey, 0, 1, a.context);
            case FETCH_AND_ADD -> batch.fetchAndAdd(a.qp, a.region, a.offset, a.flags, a.remote, a.rkey, 1, a.context);
            case RECV -> batch.recv(a.qp, a.region, a.offset, a.length, a.context);
            case WRITEV, READV, SENDV, RECVV -> throw new AssertionError("a batch has no " + this);
        };
    }

    String method() {
        return "post" + name().replace("_", "").toLowerCase(Locale.ROOT);
    }

    boolean isReceive() {
        return this == RECV || this == RECVV;
    }

    /** Returns whether the other side has to have a receive for the post. */
    boolean isMessage() {
        return name().startsWith("SEND") || name().contains("WITH_IMM");
    }

    boolean writesLocally() {
        return isReceive() || access == REMOTE_READ || access == REMOTE_ATOMIC;
    }

    /** Returns whether the bytes of this side are in one region. */
    boolean usesOneRegion() {
        return local == REGION || local == WORD;
    }

    int maxParts(RdmaQp qp) {
        return isReceive() ? qp.maxRecvSge() : qp.maxSendSge();
    }

    /** Returns the posts to the send queue. */
    static Stream<RdmaPost> operations() {
        return Arrays.stream(values()).filter(post -> !post.isReceive());
    }

    /** Returns the posts that a batch records. */
    static Stream<RdmaPost> recorded() {
        return Arrays.stream(values()).filter(post -> post.local != PARTS);
    }

    static Stream<RdmaPost> receives() {
        return Arrays.stream(values()).filter(RdmaPost::isReceive);
    }
}
