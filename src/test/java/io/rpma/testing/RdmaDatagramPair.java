// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.testing;

import io.rpma.RpmaCompletions;
import io.rpma.rdmacm.RdmaAh;
import io.rpma.rdmacm.RdmaConnParam;
import io.rpma.rdmacm.RdmaEvent;
import io.rpma.rdmacm.RdmaEventType;
import io.rpma.rdmacm.RdmaId;
import io.rpma.rdmacm.RdmaMr;
import io.rpma.rdmacm.RdmaPortSpace;
import io.rpma.rdmacm.RdmaQp;

/** Two ids for datagrams in one JVM. The client knows the queue pair of the server. */
public final class RdmaDatagramPair implements AutoCloseable {
    /** The size of {@code struct ibv_grh}, which precedes each received datagram. */
    public static final int HEADER = 40;

    /** The offset of the type of service in this header, whose last 20 bytes are an IPv4 header. */
    public static final int TOS = HEADER - 20 + 1;

    /** The side that asked. */
    public final RdmaId client;
    /** The side that accepted. */
    public final RdmaId server;
    /** The event that describes the server to the client. */
    public final RdmaEvent established;

    private RdmaDatagramPair(RdmaId client, RdmaId server, RdmaEvent established) {
        this.client = client;
        this.server = server;
        this.established = established;
    }

    /** Connects with default parameters. */
    public static RdmaDatagramPair connect() throws InterruptedException {
        return connect(new RdmaConnParam(), new RdmaConnParam());
    }

    /** Connects with parameters for each side. */
    public static RdmaDatagramPair connect(RdmaConnParam asked, RdmaConnParam answered) throws InterruptedException {
        int port = TestDevice.port();
        try (RdmaId listener = listen(port)) {
            RdmaId client = RdmaPair.resolved(RdmaPortSpace.UDP, port);
            client.createQp(RdmaPair.attr());
            client.connect(asked);
            RdmaId server = RdmaPair.request(listener);
            server.createQp(RdmaPair.attr());
            server.accept(answered);
            return new RdmaDatagramPair(client, server, RdmaPair.awaitEvent(client, RdmaEventType.ESTABLISHED));
        }
    }

    /** An id for datagrams that listens on the device. */
    public static RdmaId listen(int port) {
        RdmaId listener = RdmaId.create(RdmaPortSpace.UDP);
        listener.bindAddr(RdmaPair.address(port));
        listener.listen(0);
        return listener;
    }

    /**
     * Sends a datagram of one byte and takes its completion.
     *
     * @param region a region of the server
     * @param offset the offset of the datagram's header in the region; the byte follows the header
     */
    public RpmaCompletions receive(RdmaMr region, long offset) throws InterruptedException {
        server.qp().postRecv(region, offset, HEADER + 1, 1);
        try (RdmaAh there = client.createAh(established)) {
            client.qp().postUdSendInline(RdmaPair.inline("x"), 1, RdmaQp.F_SIGNALED, there, established.qpNum(), 2);
            RdmaPair.sent(client.qp(), 2);
        }
        return RdmaPair.received(server.qp(), 1);
    }

    @Override
    public void close() {
        client.close();
        server.close();
    }
}
