package io.rpma.examples.stream;

import java.nio.ByteBuffer;

/** Fills and frees a ring by any numbers, which the other side can send as immediate data. */
public final class RingFuzz {
    private static final int SIZE = 1 << 10;

    private RingFuzz() {}

    /** Called by the fuzzer. */
    public static void fuzzerTestOneInput(byte[] bytes) {
        Ring ring = new Ring(SIZE, Link.MESSAGES);
        ByteBuffer numbers = ByteBuffer.wrap(bytes);
        while (numbers.remaining() >= Integer.BYTES) {
            int number = numbers.getInt();
            if (number > 0 && number <= ring.room()) {
                ring.fill(number);
            }
            long position = Ring.near(ring.freed(), number);
            if (position >= ring.freed() && position <= ring.filled()) {
                ring.free(position);
            }
            long used = ring.filled() - ring.freed();
            boolean holds = used >= 0
                    && used <= SIZE
                    && ring.available() <= used
                    && ring.room() <= SIZE - used
                    && ring.freedMessages() <= ring.filledMessages();
            if (!holds) {
                throw new AssertionError(ring.filled() + " filled, " + ring.freed() + " freed");
            }
        }
    }
}
