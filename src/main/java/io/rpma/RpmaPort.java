// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import io.rpma.internal.Call;
import io.rpma.internal.Natives;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * A port of a device, as {@link RpmaDevice#ports()} has found it. The record does not follow later changes.
 *
 * <pre>{@code
 * for (RpmaPort port : device.ports()) {
 *     System.out.println(port.interfaces() + " " + port.state() + " " + port.addresses());
 * }
 * }</pre>
 *
 * <p>Manual pages: ibv_query_port(3), ibv_query_gid_table(3), rdma_bind_addr(3).
 *
 * @param number the number of the port, from 1
 * @param state the state
 * @param linkLayer the link layer
 * @param activeMtu the largest payload of a packet in bytes, from 256 to 4096; 0 if the device reports none
 * @param maxMessage the largest message in bytes. One operation of this library also has at most 2^31 - 1 bytes.
 * @param interfaces the names of the network interfaces, without the interfaces of InfiniBand (IPoIB) that have no
 *     address
 * @param addresses the addresses of this machine for which {@link RpmaDevice#local} finds the device, link-local
 *     addresses last; calls of this library take their {@link InetAddress#getHostAddress}
 */
public record RpmaPort(
        int number,
        State state,
        LinkLayer linkLayer,
        int activeMtu,
        long maxMessage,
        List<String> interfaces,
        List<InetAddress> addresses) {
    /** The most bytes of a line of {@link Natives#deviceInterfaces}. */
    private static final int INTERFACE_LINE = 20;

    private static final Comparator<InetAddress> ORDER =
            Comparator.comparing(InetAddress::isLinkLocalAddress).thenComparing(address -> address.getAddress().length);

    /** The state of a port: {@code enum ibv_port_state}. A connection needs a port that is {@link #ACTIVE}. */
    public enum State {
        /** The device reports no state. */
        NOP,
        /** The port has no link, for example because its network interface is down. */
        DOWN,
        /** The link is up, and the subnet manager of InfiniBand has not configured the port yet. */
        INIT,
        /** The subnet manager has configured the port, and has not activated it yet. */
        ARMED,
        /** The port transfers data. */
        ACTIVE,
        /** The port was active, and its link is being restored. */
        ACTIVE_DEFER,
        /** A state that this library does not know. */
        UNKNOWN
    }

    /** The link layer of a port. */
    public enum LinkLayer {
        /** The device reports no link layer. */
        UNSPECIFIED,
        /** InfiniBand. */
        INFINIBAND,
        /** Ethernet: RoCE, soft-RoCE and iWARP. */
        ETHERNET,
        /** A link layer that this library does not know. */
        UNKNOWN
    }

    /** An address of a port. */
    private record Local(int port, String networkInterface, InetAddress address) {
        /** Reads a line of {@link Natives#deviceAddresses}. */
        static Local of(String line) {
            String[] words = line.split(" ");
            boolean hasScope = !words[2].equals("0");
            List<String> scopes = hasScope ? List.of("%" + words[1], "%" + words[2]) : List.of("");
            return new Local(Integer.parseInt(words[0]), words[1], address(words[3], scopes));
        }

        /** With {@code java.net.preferIPv4Stack}, the JDK knows the scopes of IPv6 only by their numbers. */
        private static InetAddress address(String literal, List<String> scopes) {
            try {
                return InetAddress.getByName(literal + scopes.get(0));
            } catch (UnknownHostException e) {
                if (scopes.size() == 1) {
                    throw new UncheckedIOException(e);
                }
                return address(literal, scopes.subList(1, 2));
            }
        }
    }

    /** {@return the ports of a device} */
    static List<RpmaPort> of(long device, int count) {
        List<long[]> attributes = new ArrayList<>();
        for (int port = 1; port <= count; port++) {
            long[] values = new long[5];
            Call.check("ibv_query_port", Natives.devicePort(device, port, values));
            attributes.add(values);
        }
        List<String> interfaces = interfaces(
                device, attributes.stream().mapToLong(values -> values[4]).sum());
        List<Local> locals = locals(device);
        List<RpmaPort> ports = new ArrayList<>();
        for (int port = 1; port <= count; port++) {
            ports.add(of(port, attributes.get(port - 1), interfaces, locals));
        }
        return List.copyOf(ports);
    }

    private static RpmaPort of(int number, long[] values, List<String> interfaces, List<Local> locals) {
        List<Local> own = locals.stream().filter(local -> local.port == number).toList();
        String prefix = number + " ";
        Stream<String> known = interfaces.stream()
                .filter(line -> line.startsWith(prefix))
                .map(line -> line.substring(prefix.length()));
        return new RpmaPort(
                number,
                constant(State.values(), values[0]),
                constant(LinkLayer.values(), values[1]),
                (int) values[2],
                values[3],
                Stream.concat(known, own.stream().map(Local::networkInterface))
                        .distinct()
                        .toList(),
                own.stream().map(Local::address).toList());
    }

    /** Returns a constant by its number, or the last one, which stands for all others. */
    private static <E> E constant(E[] constants, long number) {
        return constants[(int) Math.min(number, constants.length - 1)];
    }

    private static List<String> interfaces(long device, long gids) {
        if (gids == 0) {
            return List.of();
        }
        byte[] lines = new byte[(int) gids * INTERFACE_LINE];
        long length = Call.check("ibv_query_gid_table", Natives.deviceInterfaces(device, (int) gids, lines));
        return new String(lines, 0, (int) length, StandardCharsets.UTF_8)
                .lines()
                .toList();
    }

    private static List<Local> locals(long device) {
        return RpmaDevice.text("rdma_bind_addr", Natives.deviceAddresses(device))
                .lines()
                .map(Local::of)
                .sorted(Comparator.comparing(Local::address, ORDER))
                .toList();
    }

    @Override
    public String toString() {
        return "RpmaPort[" + number + ", " + state + ", " + linkLayer + ", MTU " + activeMtu + ", " + interfaces + ", "
                + addresses.stream().map(InetAddress::getHostAddress).toList() + "]";
    }
}
