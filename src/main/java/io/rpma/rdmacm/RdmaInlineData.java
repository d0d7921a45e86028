// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.rdmacm;

import io.rpma.internal.Check;
import io.rpma.internal.Loader;
import io.rpma.internal.Natives;
import java.nio.ByteBuffer;

/**
 * A reusable array of bytes for inline posts. A post copies the bytes before it returns, so they can change afterwards.
 *
 * <pre>{@code
 * RdmaInlineData data = RdmaInlineData.create(Long.BYTES);
 * data.buffer().putLong(42);
 * qp.postWriteInline(data, Long.BYTES, RdmaQp.F_SIGNALED, remoteAddr, rkey, 1);
 * }</pre>
 *
 * <p>The bytes must not change while another thread posts them. The array needs neither a memory region nor a
 * {@code close()}.
 */
public final class RdmaInlineData {
    private final ByteBuffer bytes;
    private final long address;

    private RdmaInlineData(int capacity) {
        bytes = ByteBuffer.allocateDirect(capacity);
        Loader.ensureLoaded();
        address = Natives.bufferAddress(bytes);
    }

    /**
     * Creates an array of zeroes.
     *
     * @param capacity the size in bytes, at least 1; a post takes at most {@link RdmaQp#maxInlineData} bytes
     * @return the array
     * @throws IllegalArgumentException if {@code capacity} is not positive
     */
    public static RdmaInlineData create(int capacity) {
        if (capacity < 1) {
            throw new IllegalArgumentException("capacity must be at least 1, not " + capacity);
        }
        return new RdmaInlineData(capacity);
    }

    /** {@return the size in bytes} */
    public int capacity() {
        return bytes.capacity();
    }

    /** {@return a big-endian buffer of all bytes, to write the data to} */
    public ByteBuffer buffer() {
        return bytes.duplicate();
    }

    /** Checks the length of a post, and returns the address. */
    static long use(RdmaInlineData data, int length, int maxInlineData) {
        if (data == null) {
            throw Check.isNull("inline data");
        }
        if (length < 0 || length > data.bytes.capacity()) {
            throw new IndexOutOfBoundsException(length + " of " + data.bytes.capacity() + " bytes");
        }
        if (length > maxInlineData) {
            throw new IllegalArgumentException(
                    length + " bytes can't be posted inline: the queue pair takes " + maxInlineData);
        }
        return data.address;
    }

    /**
     * Copies the first bytes.
     *
     * @param to the buffer to copy to
     * @param index the index in the buffer
     * @param length the number of bytes to copy
     */
    void copy(ByteBuffer to, int index, int length) {
        to.put(index, bytes, 0, length);
    }

    @Override
    public String toString() {
        return "RdmaInlineData[" + bytes.capacity() + " bytes]";
    }
}
