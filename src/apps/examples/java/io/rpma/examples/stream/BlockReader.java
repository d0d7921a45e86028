// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.stream;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;

/** Reads a stream in blocks, in the memory into which the bytes were received. */
interface BlockReader extends Closeable {
    /**
     * Returns the received bytes, which remain in the stream until they are released. Waits until there are bytes.
     *
     * @return the bytes from position 0 to the limit; null at the end of the stream
     * @throws IOException if the stream has failed
     */
    ByteBuffer peek() throws IOException;

    /**
     * Removes the first bytes of the stream. Their memory is not to be used any more.
     *
     * @param length 0 to the limit of the bytes
     * @throws IOException if the stream has failed
     */
    void release(int length) throws IOException;

    /**
     * Closes the stream. At the end of the stream, acknowledges to the other side that all bytes are taken. Before the
     * end, the other side fails. Does not fail after another call has thrown a failure.
     *
     * @throws IOException if the acknowledgment has not arrived
     */
    @Override
    void close() throws IOException;

    /** Closes the stream so that the other side fails. Any thread may call this at any time. */
    void abort();
}
