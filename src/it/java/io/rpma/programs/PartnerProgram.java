// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.programs;

import io.rpma.RpmaCompletions;
import io.rpma.RpmaConn;
import io.rpma.RpmaConnCfg;
import io.rpma.RpmaConnEvent;
import io.rpma.RpmaConnReq;
import io.rpma.RpmaDevice;
import io.rpma.RpmaEp;
import io.rpma.RpmaEventLoop;
import io.rpma.RpmaMemory;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaObjects;
import io.rpma.RpmaPeer;
import io.rpma.rdmacm.RdmaAccess;
import io.rpma.rdmacm.RdmaConnParam;
import io.rpma.rdmacm.RdmaEventType;
import io.rpma.rdmacm.RdmaId;
import io.rpma.rdmacm.RdmaMr;
import io.rpma.rdmacm.RdmaPortSpace;
import io.rpma.rdmacm.RdmaQp;
import io.rpma.testing.Pair;
import io.rpma.testing.RdmaPair;
import io.rpma.testing.Regions;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.List;

/** The server of {@link Partner}: offers memory to each client, and returns each message. */
public final class PartnerProgram {
    public static final String LISTENING = "listening";

    /** The bytes for the operations of a client. The message follows them. */
    static final int SIZE = 1 << 14;

    static final int MESSAGE = Long.BYTES;

    private final RpmaEventLoop loop;

    private PartnerProgram(RpmaEventLoop loop) {
        this.loop = loop;
    }

    /**
     * @param arguments the address, and the port for the clients of io.rpma; the next port is for those of
     *     io.rpma.rdmacm
     */
    public static void main(String[] arguments) throws InterruptedException {
        String address = arguments[0];
        int port = Integer.parseInt(arguments[1]);
        try (RpmaEventLoop loop = RpmaEventLoop.create();
                RpmaPeer peer = RpmaPeer.create(RpmaDevice.local(address));
                RpmaConnCfg cfg = RpmaConnCfg.create().setRcqSize(2);
                RpmaEp ep = RpmaEp.listen(peer, address, port);
                RdmaId listener = RdmaId.create(RdmaPortSpace.TCP)) {
            listener.bindAddr(new InetSocketAddress(address, port + 1));
            listener.listen(0);
            PartnerProgram program = new PartnerProgram(loop);
            loop.onRequest(ep, cfg, request -> program.serve(peer, request));
            listener.onRequest(loop, program::serve);
            System.out.println(LISTENING);
            loop.run();
        }
    }

    private void serve(RpmaPeer peer, RpmaConnReq request) {
        RpmaMemory memory = RpmaMemory.allocate(SIZE + MESSAGE);
        RpmaMrLocal region = peer.register(memory, Regions.ALL);
        Pair.assertPosted(request.recv(region, SIZE, MESSAGE, 1));
        RpmaConn conn = request.connect(region.getDescriptor());
        loop.onEvent(conn, event -> {
            if (event != RpmaConnEvent.ESTABLISHED) {
                RpmaObjects.closeAll(List.of(conn, region, memory));
            }
        });
        loop.onCompletion(conn.getCq(), 1, (cq, sent) -> {});
        loop.onCompletion(conn.getRcq().orElseThrow(), 1, (cq, received) -> {
            if (received.isSuccess(0)) {
                Pair.assertPosted(conn.recv(region, SIZE, MESSAGE, 1));
                Pair.assertPosted(conn.send(region, SIZE, MESSAGE, RpmaConn.F_COMPLETION_ALWAYS, 2));
            }
        });
    }

    private void serve(RdmaId id) {
        RpmaMemory memory = RpmaMemory.allocate(SIZE + MESSAGE);
        RdmaQp qp = id.createQp(RdmaPair.attr());
        RdmaMr region = RdmaMr.reg(id, memory, RdmaAccess.values());
        Pair.assertPosted(qp.postRecv(region, SIZE, MESSAGE, 1));
        id.onEvent(loop, event -> {
            if (event.type() != RdmaEventType.ESTABLISHED) {
                RpmaObjects.closeAll(List.of(region, id, memory));
            }
        });
        qp.onSendComp(loop, 1, sent -> {});
        qp.onRecvComp(loop, 1, received -> answer(qp, region, received));
        ByteBuffer offer = ByteBuffer.allocate(Long.BYTES + Integer.BYTES);
        offer.putLong(region.address()).putInt(region.rkey());
        id.accept(new RdmaConnParam().privateData(offer.array()));
    }

    private static void answer(RdmaQp qp, RdmaMr region, RpmaCompletions received) {
        if (received.isSuccess(0)) {
            Pair.assertPosted(qp.postRecv(region, SIZE, MESSAGE, 1));
            Pair.assertPosted(qp.postSend(region, SIZE, MESSAGE, RdmaQp.F_SIGNALED, 2));
        }
    }
}
