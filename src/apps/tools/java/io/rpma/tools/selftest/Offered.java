// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools.selftest;

import java.nio.ByteBuffer;
import java.util.Optional;

/**
 * The private data with which a side accepts a connection of librdmacm.
 *
 * @param address of its memory
 * @param key of its memory region
 */
record Offered(long address, int key) {
    private static final int LENGTH = Integer.BYTES + Long.BYTES + Integer.BYTES;

    byte[] toPrivateData() {
        return ByteBuffer.allocate(LENGTH)
                .putInt(Answer.SERVICE)
                .putLong(address)
                .putInt(key)
                .array();
    }

    /** Reads received private data, which is empty if it is of another program. */
    static Optional<Offered> from(byte[] privateData) {
        ByteBuffer data = ByteBuffer.wrap(privateData);
        return data.remaining() < LENGTH || data.getInt() != Answer.SERVICE
                ? Optional.empty()
                : Optional.of(new Offered(data.getLong(), data.getInt()));
    }
}
