package io.rpma.rdmacm;

import io.rpma.internal.Loader;
import io.rpma.internal.Natives;
import java.nio.ByteBuffer;

/**
 * A reusable array of bytes for inline posts, which copy them at once: it may be changed as soon as a post has returned.
 *
 * <p>Its bytes must not be changed while another thread posts them. It is plain memory: it needs neither a region nor closing.
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
     * Creates an array, filled with zeroes.
     *
     * @param capacity in bytes, at least 1; no more than {@link RdmaQp#maxInlineData} can be posted
     * @return the array
     * @throws IllegalArgumentException if {@code capacity} is not positive
     */
    public static RdmaInlineData create(int capacity) {
        if (capacity < 1) {
            throw new IllegalArgumentException("capacity must be at least 1, not " + capacity);
        }
        return new RdmaInlineData(capacity);
    }

    /** {@return its size in bytes} */
    public int capacity() {
        return bytes.capacity();
    }

    /** {@return a buffer over all bytes, to fill them in; big-endian as every new buffer} */
    public ByteBuffer buffer() {
        return bytes.duplicate();
    }

    /** The address, for a post of so many bytes. */
    static long use(RdmaInlineData data, int length, int maxInlineData) {
        if (data == null) {
            throw new NullPointerException("the inline data is null");
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

    @Override
    public String toString() {
        return "RdmaInlineData[" + bytes.capacity() + " bytes]";
    }
}
