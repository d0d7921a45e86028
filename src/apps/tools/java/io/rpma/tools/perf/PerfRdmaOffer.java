// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools.perf;

import java.nio.ByteBuffer;
import java.util.Optional;

/**
 * The private data of the server for a connection of librdmacm.
 *
 * @param address the address of the server's memory
 * @param key the key of the server's memory
 */
record PerfRdmaOffer(long address, int key) {
    private static final int LENGTH = 2 * Integer.BYTES + Long.BYTES;

    byte[] toPrivateData() {
        return ByteBuffer.allocate(LENGTH)
                .putInt(PerfRequest.SERVICE)
                .putLong(address)
                .putInt(key)
                .array();
    }

    /** Reads an offer; empty if it is of another program. */
    static Optional<PerfRdmaOffer> fromPrivateData(byte[] privateData) {
        ByteBuffer data = ByteBuffer.wrap(privateData);
        return data.remaining() < LENGTH || data.getInt() != PerfRequest.SERVICE
                ? Optional.empty()
                : Optional.of(new PerfRdmaOffer(data.getLong(), data.getInt()));
    }
}
