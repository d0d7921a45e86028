package io.rpma.rdmacm;

import io.rpma.internal.Internals;
import java.nio.ByteBuffer;

/**
 * Bytes on their way into an inline post, one array for each thread.
 *
 * <p>They are copied here, and not by librdmacm from where they are, because that would end the process where they are in a
 * mapping whose file has been made shorter. Here that raises {@link InternalError}, once the JVM looks.
 */
final class InlineCopy {
    private static final int FIRST_CAPACITY = 256;
    private static final ThreadLocal<InlineCopy> COPIES = ThreadLocal.withInitial(() -> new InlineCopy(FIRST_CAPACITY));

    private final ByteBuffer bytes;
    private final long address;

    private InlineCopy(int capacity) {
        bytes = ByteBuffer.allocateDirect(capacity);
        address = Internals.get().address(bytes);
    }

    /**
     * The thread's copy of the next bytes of the buffer, whose position stays where it is.
     *
     * @throws IndexOutOfBoundsException if not so many remain
     */
    static InlineCopy of(ByteBuffer source, int length) {
        InlineCopy copy = COPIES.get();
        if (length > copy.bytes.capacity()) {
            copy = new InlineCopy(length);
            COPIES.set(copy);
        }
        copy.bytes.put(0, source, source.position(), length);
        return copy;
    }

    ByteBuffer bytes() {
        return bytes;
    }

    long address() {
        return address;
    }
}
