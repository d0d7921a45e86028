// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.tools.perf;

import io.rpma.support.ByteSize;
import io.rpma.support.Options;
import java.nio.ByteBuffer;
import java.util.Optional;

/**
 * A client's request for one measurement: the private data of its connection.
 *
 * @param size the number of bytes of an operation
 * @param depth the most operations under way
 * @param events whether the server waits for events instead of polling
 */
record PerfRequest(PerfOperation operation, int size, int depth, boolean events) {
    /** Identifies the program in the private data of both sides: "perf". */
    static final int SERVICE = 0x7065_7266;

    /** The largest operation. */
    static final int MOST_SIZE = 64 << 20;

    static final int MOST_DEPTH = 1024;

    /** The largest port, because the server also listens at the next one. */
    static final int MOST_PORT = Options.MOST_PORT - 1;

    /** The largest inline operation. */
    static final int MOST_INLINE = 64;

    private static final int VERSION = 1;
    private static final int LENGTH = 6 * Integer.BYTES;

    /** Returns the bytes to send. */
    byte[] toPrivateData() {
        return ByteBuffer.allocate(LENGTH)
                .putInt(SERVICE)
                .putInt(VERSION)
                .putInt(operation.ordinal())
                .putInt(size)
                .putInt(depth)
                .putInt(events ? 1 : 0)
                .array();
    }

    /** Reads a request; empty if it is of another program or version, or beyond a limit. */
    static Optional<PerfRequest> fromPrivateData(byte[] privateData) {
        ByteBuffer data = ByteBuffer.wrap(privateData);
        if (data.remaining() < LENGTH || data.getInt() != SERVICE || data.getInt() != VERSION) {
            return Optional.empty();
        }
        int operation = data.getInt();
        int size = data.getInt();
        int depth = data.getInt();
        int events = data.getInt();
        boolean valid = operation >= 0
                && operation < PerfOperation.values().length
                && size >= 1
                && size <= MOST_SIZE
                && depth >= 1
                && depth <= MOST_DEPTH
                && (events == 0 || events == 1)
                && PerfOperation.values()[operation].fits(size);
        return valid
                ? Optional.of(new PerfRequest(PerfOperation.values()[operation], size, depth, events == 1))
                : Optional.empty();
    }

    /** Returns the memory that each side registers, in bytes: the source and the destination of the messages. */
    long memory() {
        return operation.isMessage() ? 2L * size : size;
    }

    @Override
    public String toString() {
        return operation + ", " + ByteSize.text(size) + ", depth " + depth;
    }
}
