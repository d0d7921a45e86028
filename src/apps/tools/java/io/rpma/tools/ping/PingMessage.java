// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools.ping;

import java.nio.ByteBuffer;
import java.util.OptionalInt;

/** The private data of a connection between the two sides of {@code ping}. */
final class PingMessage {
    /** Identifies the program: "ping". */
    private static final int SERVICE = 0x7069_6e67;

    private static final int VERSION = 1;
    private static final int LENGTH = 3 * Integer.BYTES;

    private PingMessage() {}

    /** Returns the private data of a request or of its answer. */
    static byte[] privateData(int size) {
        return ByteBuffer.allocate(LENGTH)
                .putInt(SERVICE)
                .putInt(VERSION)
                .putInt(size)
                .array();
    }

    /** Returns the size of the messages; empty if the private data is of another program, version or size. */
    static OptionalInt size(byte[] privateData) {
        ByteBuffer data = ByteBuffer.wrap(privateData);
        if (data.remaining() < LENGTH || data.getInt() != SERVICE || data.getInt() != VERSION) {
            return OptionalInt.empty();
        }
        int size = data.getInt();
        return size >= Long.BYTES && size <= Ping.MOST ? OptionalInt.of(size) : OptionalInt.empty();
    }
}
