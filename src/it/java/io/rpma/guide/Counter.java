// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.guide;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaException;
import io.rpma.RpmaMemory;
import io.rpma.rdmacm.RdmaAccess;
import io.rpma.rdmacm.RdmaConnParam;
import io.rpma.rdmacm.RdmaEventType;
import io.rpma.rdmacm.RdmaId;
import io.rpma.rdmacm.RdmaInlineData;
import io.rpma.rdmacm.RdmaMr;
import io.rpma.rdmacm.RdmaPortSpace;
import io.rpma.rdmacm.RdmaQp;
import io.rpma.rdmacm.RdmaQpInitAttr;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;

/** The program of docs/guide/rdmacm.md: its clients take numbers from a counter in the memory of its server. */
public final class Counter {
    private static final int PORT = 7205;
    private static final int NAME = 32;

    private Counter() {}

    /** The arguments are the address of the server and, for a client, a name of at most 32 bytes. */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        if (arguments.length == 1) {
            serve(arguments[0], PORT);
        } else {
            System.out.println(take(arguments[0], PORT, arguments[1]));
        }
    }

    static void serve(String address, int port) throws InterruptedException {
        try (RdmaId listener = RdmaId.create(RdmaPortSpace.TCP);
                RpmaMemory memory = RpmaMemory.allocate(Long.BYTES + NAME)) {
            listener.bindAddr(new InetSocketAddress(address, port));
            listener.listen(0);
            try (RdmaMr region = RdmaMr.reg(listener, memory, RdmaAccess.LOCAL_WRITE, RdmaAccess.REMOTE_ATOMIC)) {
                while (true) {
                    try (RdmaId client = listener.getRequest()) {
                        System.out.println(greet(client, region, memory));
                    } catch (IOException | RpmaException e) {
                        System.out.println("no client: " + e.getMessage());
                    }
                }
            }
        }
    }

    private static String greet(RdmaId client, RdmaMr region, RpmaMemory memory)
            throws IOException, InterruptedException {
        RdmaQp qp = client.createQp(new RdmaQpInitAttr());
        qp.postRecv(region, Long.BYTES, NAME, 1);
        ByteBuffer offer = ByteBuffer.allocate(12).putLong(region.address()).putInt(region.rkey());
        client.accept(new RdmaConnParam().privateData(offer.array()));
        client.awaitEvent(RdmaEventType.ESTABLISHED, 10, TimeUnit.SECONDS);
        RpmaCompletions completions = RpmaCompletions.create(1);
        if (qp.getRecvCompWhileConnected(completions, 10, TimeUnit.SECONDS) == 0 || !completions.isSuccess(0)) {
            throw new IOException("no message: " + completions);
        }
        ByteBuffer name = memory.buffer(Long.BYTES, (int) completions.byteLen(0));
        client.awaitEvent(RdmaEventType.DISCONNECTED, 10, TimeUnit.SECONDS);
        return StandardCharsets.UTF_8.decode(name).toString();
    }

    static long take(String server, int port, String name) throws IOException, InterruptedException {
        try (RdmaId id = RdmaId.create(RdmaPortSpace.TCP)) {
            id.resolveAddr(null, new InetSocketAddress(server, port), 2000);
            id.awaitEvent(RdmaEventType.ADDR_RESOLVED, 5, TimeUnit.SECONDS);
            id.resolveRoute(2000);
            id.awaitEvent(RdmaEventType.ROUTE_RESOLVED, 5, TimeUnit.SECONDS);
            RdmaQp qp = id.createQp(new RdmaQpInitAttr().maxInlineData(NAME));
            id.connect(new RdmaConnParam());
            ByteBuffer offer = ByteBuffer.wrap(id.awaitEvent(RdmaEventType.ESTABLISHED, 10, TimeUnit.SECONDS)
                    .privateData());
            try (RpmaMemory memory = RpmaMemory.allocate(Long.BYTES);
                    RdmaMr previous = RdmaMr.regMsgs(id, memory)) {
                qp.postFetchAndAdd(previous, 0, RdmaQp.F_SIGNALED, offer.getLong(), offer.getInt(), 1, 7);
                await(qp);
                byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
                RdmaInlineData message = RdmaInlineData.create(NAME);
                message.buffer().put(bytes);
                qp.postSendInline(message, bytes.length, RdmaQp.F_SIGNALED, 2);
                await(qp);
                return memory.buffer().order(ByteOrder.nativeOrder()).getLong();
            }
        }
    }

    private static void await(RdmaQp qp) throws IOException, InterruptedException {
        RpmaCompletions completions = RpmaCompletions.create(1);
        if (qp.getSendCompWhileConnected(completions, 10, TimeUnit.SECONDS) == 0 || !completions.isSuccess(0)) {
            throw new IOException("operation failed: " + completions);
        }
    }
}
