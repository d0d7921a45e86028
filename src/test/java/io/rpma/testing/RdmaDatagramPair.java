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

/** Two ids for datagrams in one JVM, of which one knows the other. */
public final class RdmaDatagramPair implements AutoCloseable {
    /** Of {@code struct ibv_grh}, before each datagram that is received. */
    public static final int HEADER = 40;

    /** The side that asked. */
    public final RdmaId client;
    /** The side that accepted. */
    public final RdmaId server;
    /** What the client was told of the server. */
    public final RdmaEvent established;

    private RdmaDatagramPair(RdmaId client, RdmaId server, RdmaEvent established) {
        this.client = client;
        this.server = server;
        this.established = established;
    }

    /** Has the client ask for the server. */
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
     * @param region of the server
     * @param offset where the datagram's header comes in it, and the byte behind
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
