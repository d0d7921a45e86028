// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.testing;

import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaMemory;
import io.rpma.RpmaWcStatus;
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
import java.net.InetSocketAddress;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import java.util.function.ToIntFunction;

/** Two connected ids in one JVM, each with a page of memory for every use. */
public final class RdmaPair implements AutoCloseable {
    /** The size of a side's memory, in bytes. */
    public static final int SIZE = 4096;

    /** The side that asked. */
    public final RdmaId client;
    /** The side that accepted. */
    public final RdmaId server;

    /** The memory of {@link #clientMr}. */
    public final RpmaMemory clientMemory = RpmaMemory.allocate(SIZE);
    /** The memory of {@link #serverMr}. */
    public final RpmaMemory serverMemory = RpmaMemory.allocate(SIZE);
    /** The page of the client. */
    public final RdmaMr clientMr;
    /** The page of the server. */
    public final RdmaMr serverMr;

    private RdmaPair(RdmaId client, RdmaId server) {
        this.client = client;
        this.server = server;
        clientMr = RdmaMr.reg(client, clientMemory, RdmaAccess.values());
        serverMr = RdmaMr.reg(server, serverMemory, RdmaAccess.values());
    }

    /** Attributes that suffice for all tests. */
    public static RdmaQpInitAttr attr() {
        return new RdmaQpInitAttr()
                .maxSendWr(16)
                .maxRecvWr(16)
                .maxSendSge(4)
                .maxRecvSge(4)
                .maxInlineData(64);
    }

    /** Connects with the same attributes on both sides. */
    public static RdmaPair connect() throws InterruptedException {
        return connect(attr(), attr());
    }

    /** Connects with attributes for each side. */
    public static RdmaPair connect(RdmaQpInitAttr clientAttr, RdmaQpInitAttr serverAttr) throws InterruptedException {
        int port = TestDevice.port();
        try (RdmaId listener = listen(port)) {
            RdmaId client = resolved(port);
            client.createQp(clientAttr);
            client.connect(new RdmaConnParam());
            RdmaId server = request(listener);
            server.createQp(serverAttr);
            accept(client, server);
            return new RdmaPair(client, server);
        }
    }

    /** An id that listens on the device. */
    public static RdmaId listen(int port) {
        // without a device, the address aborts the test, and the id can't be created
        InetSocketAddress local = address(port);
        RdmaId listener = RdmaId.create(RdmaPortSpace.TCP);
        listener.bindAddr(local);
        listener.listen(0);
        return listener;
    }

    /** An id that may connect to a port of the device. */
    public static RdmaId resolved(int port) throws InterruptedException {
        return resolved(RdmaPortSpace.TCP, port);
    }

    /** An id that may connect to a port of the device. */
    public static RdmaId resolved(RdmaPortSpace space, int port) throws InterruptedException {
        RdmaId id = RdmaId.create(space);
        id.resolveAddr(null, address(port), 1000 * Limit.WAIT_S);
        id.awaitEvent(RdmaEventType.ADDR_RESOLVED, Limit.WAIT_S, TimeUnit.SECONDS);
        id.resolveRoute(1000 * Limit.WAIT_S);
        id.awaitEvent(RdmaEventType.ROUTE_RESOLVED, Limit.WAIT_S, TimeUnit.SECONDS);
        return id;
    }

    /** An id with a queue pair that may connect to a port of the device. */
    public static RdmaId prepared(int port) throws InterruptedException {
        RdmaId id = resolved(port);
        id.createQp(attr());
        return id;
    }

    /** An id that has asked for a connection to a port of the device. */
    public static RdmaId connecting(int port) throws InterruptedException {
        RdmaId id = prepared(port);
        id.connect(new RdmaConnParam());
        return id;
    }

    /** The next request. */
    public static RdmaId request(RdmaId listener) throws InterruptedException {
        return listener.getRequest(Limit.WAIT_S, TimeUnit.SECONDS).orElseThrow();
    }

    /** Accepts, and waits until both sides are connected. */
    public static void accept(RdmaId client, RdmaId server) throws InterruptedException {
        server.accept(new RdmaConnParam());
        awaitEvent(client, RdmaEventType.ESTABLISHED);
        awaitEvent(server, RdmaEventType.ESTABLISHED);
    }

    /** Waits for the event of this type. */
    public static RdmaEvent awaitEvent(RdmaId id, RdmaEventType type) throws InterruptedException {
        return id.awaitEvent(type, Limit.WAIT_S, TimeUnit.SECONDS);
    }

    /** A port of the device. */
    public static InetSocketAddress address(int port) {
        return new InetSocketAddress(TestDevice.address(), port);
    }

    /** Inline data of these ASCII characters. */
    public static RdmaInlineData inline(String text) {
        RdmaInlineData data = RdmaInlineData.create(Math.max(1, text.length()));
        data.buffer().put(text.getBytes(StandardCharsets.US_ASCII));
        return data;
    }

    /** Stores ASCII characters. */
    public static void put(RpmaMemory memory, int offset, String text) {
        memory.buffer().put(offset, text.getBytes(StandardCharsets.US_ASCII));
    }

    /** Reads ASCII characters. */
    public static String get(RpmaMemory memory, int offset, int length) {
        byte[] text = new byte[length];
        memory.buffer().get(offset, text);
        return new String(text, StandardCharsets.US_ASCII);
    }

    /** Reads a word as the device stores it. */
    public static long getLong(RpmaMemory memory, int offset) {
        return memory.buffer().order(ByteOrder.nativeOrder()).getLong(offset);
    }

    /** Stores a word as the device reads it. */
    public static void putLong(RpmaMemory memory, int offset, long value) {
        memory.buffer().order(ByteOrder.nativeOrder()).putLong(offset, value);
    }

    /** Waits for one completion of the send queue and checks its context and its status. */
    public static RpmaCompletions sent(RdmaQp qp, long context, RpmaWcStatus status) throws InterruptedException {
        RpmaCompletions completions = RpmaCompletions.create(1);
        assertThat(qp.getSendComp(completions, Limit.WAIT_S, TimeUnit.SECONDS)).isEqualTo(1);
        return checked(completions, context, status);
    }

    /** Waits for one completion of the send queue and checks its context and that it is a success. */
    public static RpmaCompletions sent(RdmaQp qp, long context) throws InterruptedException {
        return sent(qp, context, RpmaWcStatus.SUCCESS);
    }

    /** Waits for one completion of the receive queue and checks its context and that it is a success. */
    public static RpmaCompletions received(RdmaQp qp, long context) throws InterruptedException {
        RpmaCompletions completions = RpmaCompletions.create(1);
        assertThat(qp.getRecvComp(completions, Limit.WAIT_S, TimeUnit.SECONDS)).isEqualTo(1);
        return checked(completions, context, RpmaWcStatus.SUCCESS);
    }

    /** Polls until this many completions have come, without an allocation. */
    public static void take(int count, ToIntFunction<RpmaCompletions> poll, RpmaCompletions completions) {
        long start = System.nanoTime();
        for (int taken = 0; taken < count; taken += poll.applyAsInt(completions)) {
            if (System.nanoTime() - start > TimeUnit.SECONDS.toNanos(Limit.WAIT_S)) {
                throw new AssertionError(taken + " completions of " + count);
            }
            Thread.yield();
        }
    }

    private static RpmaCompletions checked(RpmaCompletions completions, long context, RpmaWcStatus status) {
        assertThat(completions.status(0)).isSameAs(status);
        assertThat(completions.wrId(0)).isEqualTo(context);
        return completions;
    }

    @Override
    public void close() {
        clientMr.close();
        serverMr.close();
        client.close();
        server.close();
        clientMemory.close();
        serverMemory.close();
    }
}
