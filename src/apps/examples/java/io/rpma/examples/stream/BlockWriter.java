// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.stream;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;

/** Writes a stream in blocks, in memory that the stream provides. */
interface BlockWriter extends Closeable {
    /**
     * Returns memory for the next bytes of the stream, from position 0 to the limit. Waits until there is room.
     *
     * @throws IOException if the stream has failed
     */
    ByteBuffer acquire() throws IOException;

    /**
     * Sends the first bytes of the acquired memory. The memory is not to be used any more.
     *
     * @param length 0 to the limit of the memory
     * @throws IOException if the stream has failed
     */
    void commit(int length) throws IOException;

    /**
     * Ends the stream. Returns when the other side has taken all bytes and has closed its end.
     *
     * @throws IOException if the other side has not taken all bytes
     */
    @Override
    void close() throws IOException;

    /** Ends the stream without its end, so that the other side fails. Any thread may call this at any time. */
    void abort();
}
