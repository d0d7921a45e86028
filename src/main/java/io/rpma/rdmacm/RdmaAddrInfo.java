// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.rdmacm;

import io.rpma.internal.Check;
import io.rpma.internal.Natives;
import io.rpma.internal.ObjectKind;
import io.rpma.internal.Resource;
import java.net.InetSocketAddress;

/**
 * The RDMA address of a host and a port, to listen on or to connect to: {@code struct rdma_addrinfo}.
 *
 * <p>A client connects to a host by name:
 *
 * <pre>{@code
 * try (RdmaAddrInfo info = RdmaAddrInfo.active(address, port, RdmaPortSpace.TCP);
 *         RdmaId client = RdmaId.createEp(info, new RdmaQpInitAttr().maxSendWr(16))) {
 *     client.connect(new RdmaConnParam());
 *     client.awaitEvent(RdmaEventType.ESTABLISHED, 5, TimeUnit.SECONDS);
 *     client.disconnect();
 * }
 * }</pre>
 *
 * <p>Safe for use by many threads.
 *
 * <p>Manual page: rdma_getaddrinfo(3).
 */
public final class RdmaAddrInfo implements AutoCloseable {
    private static final int MAX_PORT = 65535;

    private static final ObjectKind KIND = new ObjectKind("rdma_freeaddrinfo") {
        @Override
        protected long delete(Resource object) {
            return Natives.addrInfoFree(object.handle());
        }
    };

    private final Resource object;
    private final RdmaPortSpace portSpace;
    private final boolean passive;

    private RdmaAddrInfo(RdmaPortSpace portSpace, boolean passive) {
        this.portSpace = portSpace;
        this.passive = passive;
        object = new Resource(this, "RdmaAddrInfo", KIND);
    }

    /**
     * Finds an address to connect to.
     *
     * <p>Blocks while a host name is resolved.
     *
     * @param node an IPv4 or IPv6 address, or a host name, of which the first address is taken
     * @param port 1 to 65535
     * @param portSpace the port space of the id
     * @return the address information; the caller closes it
     * @throws IllegalArgumentException if {@code node} is empty or longer than 255 characters, or {@code port} is out
     *     of range
     * @throws io.rpma.RpmaException if the name is unknown or there is no RDMA device
     */
    public static RdmaAddrInfo active(String node, int port, RdmaPortSpace portSpace) {
        Check.address(node);
        checkPort(port, 1);
        return get(node, port, portSpace, false);
    }

    /**
     * Finds an address to listen on.
     *
     * <p>Blocks while a host name is resolved.
     *
     * @param node an address or a host name of this machine, whose first address is taken; null for all addresses of this
     *     machine
     * @param port 1 to 65535, or 0 for a free port
     * @param portSpace the port space of the id
     * @return the address information; the caller closes it
     * @throws IllegalArgumentException if {@code node} is empty or longer than 255 characters, or {@code port} is out
     *     of range
     * @throws io.rpma.RpmaException if the name is unknown or there is no RDMA device
     */
    public static RdmaAddrInfo passive(String node, int port, RdmaPortSpace portSpace) {
        if (node != null) {
            Check.address(node);
        }
        checkPort(port, 0);
        return get(node, port, portSpace, true);
    }

    private static void checkPort(int port, int least) {
        if (port < least || port > MAX_PORT) {
            throw new IllegalArgumentException("port must be " + least + " to " + MAX_PORT + ", not " + port);
        }
    }

    private static RdmaAddrInfo get(String node, int port, RdmaPortSpace portSpace, boolean passive) {
        int space = portSpace.value();
        RdmaAddrInfo info = new RdmaAddrInfo(portSpace, passive);
        info.object.make("rdma_getaddrinfo", () -> Natives.addrInfoGet(node, Integer.toString(port), space, passive));
        return info;
    }

    /** {@return the port space of the ids that {@link RdmaId#createEp} creates from this address} */
    public RdmaPortSpace portSpace() {
        return portSpace;
    }

    /** {@return true if the address is for listening, false if it is for connecting} */
    public boolean isPassive() {
        return passive;
    }

    /**
     * {@return the address to listen on or to connect to}
     *
     * @throws IllegalStateException if closed
     */
    public InetSocketAddress address() {
        byte[] bytes = Natives.addrInfoAddress(object.handle());
        if (bytes == null) {
            object.checkOpen();
        }
        return SocketAddress.of(bytes);
    }

    Resource object() {
        return object;
    }

    /** Closes the address information. Has no effect if it is already closed. Waits while another thread closes it. */
    @Override
    public void close() {
        object.close();
    }

    @Override
    public String toString() {
        return object.describe(portSpace, passive ? "passive" : "active", object.whileOpen(this::address));
    }
}
