// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.rdmacm;

import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Converts socket addresses to and from {@code struct sockaddr_in} and {@code struct sockaddr_in6}. */
final class SocketAddress {
    private static final int AF_INET = 2;
    private static final int AF_INET6 = 10;
    private static final int SIZE = 16;
    private static final int SIZE6 = 28;
    private static final int PORT = 2;
    private static final int ADDRESS = 4;
    private static final int ADDRESS6 = 8;
    private static final int SCOPE_ID = 24;

    private SocketAddress() {}

    /**
     * Returns the bytes of the structure.
     *
     * @throws IllegalArgumentException if the host name of the address is unknown
     */
    static byte[] toBytes(InetSocketAddress address) {
        InetAddress host = address.getAddress();
        if (host == null) {
            throw new IllegalArgumentException("the address of " + address.getHostString() + " is not known");
        }
        boolean is4 = host instanceof Inet4Address;
        ByteBuffer bytes = ByteBuffer.allocate(is4 ? SIZE : SIZE6).order(ByteOrder.nativeOrder());
        bytes.putShort(0, (short) (is4 ? AF_INET : AF_INET6));
        bytes.put(PORT, (byte) (address.getPort() >> 8)).put(PORT + 1, (byte) address.getPort());
        bytes.put(is4 ? ADDRESS : ADDRESS6, host.getAddress());
        if (!is4) {
            bytes.putInt(SCOPE_ID, ((Inet6Address) host).getScopeId());
        }
        return bytes.array();
    }

    /** Returns the address in a structure, or null if the structure is of another family, for example an unset one. */
    static InetSocketAddress of(byte[] structure) {
        ByteBuffer bytes = ByteBuffer.wrap(structure).order(ByteOrder.nativeOrder());
        if (structure.length < SIZE) {
            return null;
        }
        int family = bytes.getShort(0);
        int port = Short.toUnsignedInt(bytes.order(ByteOrder.BIG_ENDIAN).getShort(PORT));
        bytes.order(ByteOrder.nativeOrder());
        try {
            if (family == AF_INET) {
                byte[] host = new byte[4];
                bytes.get(ADDRESS, host);
                return new InetSocketAddress(InetAddress.getByAddress(host), port);
            }
            if (family == AF_INET6) {
                byte[] host = new byte[16];
                bytes.get(ADDRESS6, host);
                int scope = bytes.getInt(SCOPE_ID);
                return new InetSocketAddress(
                        scope == 0 ? InetAddress.getByAddress(host) : Inet6Address.getByAddress(null, host, scope),
                        port);
            }
            return null;
        } catch (UnknownHostException e) {
            throw new AssertionError("an address of 4 or 16 bytes has a wrong length", e);
        }
    }
}
