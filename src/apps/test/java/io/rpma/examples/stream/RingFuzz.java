// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.stream;

import java.nio.ByteBuffer;

/** Gives a ring any numbers, as the other side can send them as immediate data: lengths of messages, and reports. */
public final class RingFuzz {
    private static final int SIZE = 1 << 10;

    private RingFuzz() {}

    /** Called by the fuzzer. */
    public static void fuzzerTestOneInput(byte[] bytes) {
        Ring ring = new Ring(SIZE, Link.MESSAGES);
        ByteBuffer numbers = ByteBuffer.wrap(bytes);
        while (numbers.remaining() >= Integer.BYTES) {
            int number = numbers.getInt();
            ring.fill(number);
            long position = Ring.between(ring.freed(), ring.filled(), number);
            if (position >= 0) {
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
