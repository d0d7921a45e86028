// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.programs;

import io.rpma.rdmacm.RdmaConnParam;
import io.rpma.rdmacm.RdmaEventType;
import io.rpma.rdmacm.RdmaId;
import io.rpma.rdmacm.RdmaPortSpace;
import io.rpma.testing.Limit;
import io.rpma.testing.RdmaPair;
import io.rpma.testing.TestDevice;
import java.util.function.Consumer;

/** Makes connections with options, and prints the number of each queue pair. */
public final class RdmaOptionsProgram {
    /** The type of service of the client of the connection "early". */
    public static final int TOS = 104;
    /** The acknowledgement timeout of the client of the connection "early". */
    public static final int EARLY = 21;
    /** The acknowledgement timeout of the client of the connection "late". */
    public static final int LATE = 22;
    /** The acknowledgement timeout of the server of the connection "late". */
    public static final int OF_SERVER = 23;

    private RdmaOptionsProgram() {}

    /**
     * @param arguments none
     */
    public static void main(String[] arguments) throws InterruptedException {
        Consumer<RdmaId> nothing = id -> {};
        connect("none", nothing, nothing, nothing);
        connect(
                "early",
                id -> {
                    id.setTos(TOS);
                    id.setAckTimeout(EARLY);
                },
                nothing,
                nothing);
        connect("late", nothing, id -> id.setAckTimeout(LATE), id -> id.setAckTimeout(OF_SERVER));
    }

    private static void connect(
            String name, Consumer<RdmaId> beforeRoute, Consumer<RdmaId> beforeConnect, Consumer<RdmaId> beforeAccept)
            throws InterruptedException {
        int port = TestDevice.port();
        try (RdmaId listener = RdmaId.create(RdmaPortSpace.TCP);
                RdmaId client = RdmaId.create(RdmaPortSpace.TCP)) {
            // its requests do not have this timeout
            listener.setAckTimeout(1);
            listener.bindAddr(RdmaPair.address(port));
            listener.listen(0);
            client.resolveAddr(null, RdmaPair.address(port), 1000 * Limit.WAIT_S);
            RdmaPair.awaitEvent(client, RdmaEventType.ADDR_RESOLVED);
            beforeRoute.accept(client);
            client.resolveRoute(1000 * Limit.WAIT_S);
            RdmaPair.awaitEvent(client, RdmaEventType.ROUTE_RESOLVED);
            client.createQp(RdmaPair.attr());
            beforeConnect.accept(client);
            client.connect(new RdmaConnParam());
            try (RdmaId server = RdmaPair.request(listener)) {
                server.createQp(RdmaPair.attr());
                beforeAccept.accept(server);
                RdmaPair.accept(client, server);
                System.out.println(name + " client " + client.qp().qpNum());
                System.out.println(name + " server " + server.qp().qpNum());
            }
        }
    }
}
