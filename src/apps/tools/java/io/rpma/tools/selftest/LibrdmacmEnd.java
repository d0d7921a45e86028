// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools.selftest;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.NANOSECONDS;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaException;
import io.rpma.RpmaMemory;
import io.rpma.RpmaObjects;
import io.rpma.rdmacm.RdmaAccess;
import io.rpma.rdmacm.RdmaConnParam;
import io.rpma.rdmacm.RdmaEvent;
import io.rpma.rdmacm.RdmaEventType;
import io.rpma.rdmacm.RdmaId;
import io.rpma.rdmacm.RdmaInlineData;
import io.rpma.rdmacm.RdmaMr;
import io.rpma.rdmacm.RdmaPortSpace;
import io.rpma.rdmacm.RdmaQp;
import io.rpma.rdmacm.RdmaQpInitAttr;
import io.rpma.rdmacm.RdmaSrq;
import io.rpma.support.Connector;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.stream.Stream;

/** A connection of librdmacm, or a pair of ids that exchange datagrams. */
final class LibrdmacmEnd extends End {
    static final int SIGNALED = RdmaQp.F_SIGNALED;

    /** The completions of both queues are taken alternately: this is the wait of each. */
    private static final long TURN_MS = 20;

    final RdmaId id;

    RdmaMr region;

    /** Null before {@link #createQp}. */
    RdmaQp qp;

    // set by the connection

    RdmaEvent established;
    long remoteAddr;
    int rkey;

    private final Connector connector;
    private final long timeout;
    private RdmaSrq srq;

    /** Resolves the address of the other side. */
    LibrdmacmEnd(Connector connector, RdmaPortSpace space, RpmaMemory memory, long timeout)
            throws IOException, InterruptedException {
        super(memory, timeout);
        this.connector = connector;
        this.timeout = timeout;
        id = RdmaId.create(space);
        boolean resolved = false;
        try {
            int millis = (int) NANOSECONDS.toMillis(timeout);
            id.resolveAddr(null, new InetSocketAddress(connector.address(), connector.port()), millis);
            id.awaitEvent(RdmaEventType.ADDR_RESOLVED, timeout, NANOSECONDS);
            id.resolveRoute(millis);
            id.awaitEvent(RdmaEventType.ROUTE_RESOLVED, timeout, NANOSECONDS);
            region = RdmaMr.reg(id, memory, RdmaAccess.LOCAL_WRITE);
            resolved = true;
        } finally {
            if (!resolved) {
                close();
            }
        }
    }

    static RdmaQpInitAttr attr() {
        return new RdmaQpInitAttr().maxSendWr(QUEUE).maxRecvWr(QUEUE);
    }

    /** Makes a receive queue for several queue pairs, of which this side makes one. */
    void makeSrq() throws RefusedException {
        srq = unlessRefused(() -> id.createSrq(QUEUE, 1));
    }

    RdmaQp createQp(RdmaQpInitAttr attr) {
        qp = id.createQp(attr);
        return qp;
    }

    /** Connects with the queue pair. */
    void connect() throws IOException, InterruptedException {
        byte[] service =
                ByteBuffer.allocate(Integer.BYTES).putInt(Answer.SERVICE).array();
        established = connector.connect(id, new RdmaConnParam().privateData(service), timeout);
        Offered offered = Offered.from(established.privateData()).orElseThrow(connector::anotherProgram);
        remoteAddr = offered.address();
        rkey = offered.key();
    }

    @Override
    int take(RpmaCompletions into, long nanos) throws InterruptedException {
        long end = System.nanoTime() + nanos;
        do {
            int taken = qp.pollSendComp(into);
            if (taken == 0) {
                taken = qp.getRecvComp(into, TURN_MS, MILLISECONDS);
            }
            if (taken > 0) {
                return taken;
            }
        } while (System.nanoTime() < end);
        return 0;
    }

    @Override
    boolean postAnswer() {
        return srq == null
                ? qp.postRecv(region, ANSWER_SLOT, Answer.SLOT, ANSWER)
                : srq.postRecv(region, ANSWER_SLOT, Answer.SLOT, ANSWER);
    }

    @Override
    boolean postMessage(int length) {
        return qp.postSend(region, MESSAGE_SLOT, length, SIGNALED, MESSAGE);
    }

    /** Returns bytes of this side as inline data. */
    RdmaInlineData inline(int length) {
        RdmaInlineData data = RdmaInlineData.create(length);
        data.buffer().put(bytes(0, length));
        return data;
    }

    @Override
    public void close() {
        try {
            RpmaObjects.closeAll(Stream.of(region, id).filter(Objects::nonNull).toList());
        } catch (RpmaException e) {
            // the objects are closed nevertheless, and the result is known
        }
    }
}
