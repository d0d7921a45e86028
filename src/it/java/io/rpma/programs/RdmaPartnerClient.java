// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.programs;

import io.rpma.RpmaCompletions;
import io.rpma.rdmacm.RdmaAccess;
import io.rpma.rdmacm.RdmaConnParam;
import io.rpma.rdmacm.RdmaEvent;
import io.rpma.rdmacm.RdmaEventType;
import io.rpma.rdmacm.RdmaId;
import io.rpma.rdmacm.RdmaMr;
import io.rpma.rdmacm.RdmaPortSpace;
import io.rpma.rdmacm.RdmaQp;
import io.rpma.testing.RdmaPair;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/** A client by {@code io.rpma.rdmacm}. */
final class RdmaPartnerClient extends PartnerClient {
    private static final int SIGNALED = RdmaQp.F_SIGNALED;

    private final InetSocketAddress address;
    private final RdmaId id = opened(RdmaId.create(RdmaPortSpace.TCP));
    private RdmaEvent event;
    private RdmaMr local;
    private RdmaQp qp;
    private long target;
    private int key;

    RdmaPartnerClient(Random random, boolean faultyNetwork, String address, int port) {
        super(random, faultyNetwork);
        this.address = new InetSocketAddress(address, port);
    }

    @Override
    void connect() throws InterruptedException, ReportedException {
        id.resolveAddr(null, address, LIMIT_MS);
        awaitEvent(RdmaEventType.ADDR_RESOLVED);
        id.resolveRoute(LIMIT_MS);
        awaitEvent(RdmaEventType.ROUTE_RESOLVED);
        qp = id.createQp(RdmaPair.attr());
        local = opened(RdmaMr.reg(id, memory, RdmaAccess.values()));
        id.connect(new RdmaConnParam());
        awaitEvent(RdmaEventType.ESTABLISHED);
        ByteBuffer offer = ByteBuffer.wrap(event.privateData());
        target = offer.getLong();
        key = offer.getInt();
    }

    @Override
    Object event(int millis) throws InterruptedException {
        event = id.nextEvent(millis, TimeUnit.MILLISECONDS).orElse(null);
        return event == null ? null : event.type();
    }

    @Override
    void register() throws InterruptedException, ReportedException {
        try (RdmaMr region = RdmaMr.reg(id, memory)) {
            await(qp.postWrite(region, 0, SIZE, SIGNALED, target, key, 1));
        }
    }

    @Override
    boolean postWrite(int length) {
        return qp.postWrite(local, 0, length, SIGNALED, target, key, 2);
    }

    @Override
    boolean postRead(int length) {
        return qp.postRead(local, READ, length, SIGNALED, target, key, 3);
    }

    /** librdmacm has no flush. A read makes the bytes visible. */
    @Override
    boolean postFlush() {
        return qp.postRead(local, READ, Long.BYTES, SIGNALED, target, key, 4);
    }

    /**
     * The atomic operation whose result depends on the times that it is executed. The result is the value if the bytes
     * that were read last are the bytes of the target.
     */
    @Override
    boolean postAtomicWrite(long value) {
        return qp.postFetchAndAdd(local, READ, SIGNALED, target, key, value - RdmaPair.getLong(memory, READ), 5);
    }

    @Override
    boolean postRecv() {
        return qp.postRecv(local, RECEIVED, MESSAGE, 6);
    }

    @Override
    boolean postSend() {
        return qp.postSend(local, SENT, MESSAGE, SIGNALED, 7);
    }

    @Override
    int takeSent(RpmaCompletions taken, int millis) throws InterruptedException {
        return qp.getSendComp(taken, millis, TimeUnit.MILLISECONDS);
    }

    @Override
    int takeReceived(RpmaCompletions taken, int millis) throws InterruptedException {
        return qp.getRecvComp(taken, millis, TimeUnit.MILLISECONDS);
    }

    @Override
    Object startDisconnect() {
        id.disconnect();
        return RdmaEventType.DISCONNECTED;
    }
}
