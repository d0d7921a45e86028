// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.resume;

import java.nio.ByteBuffer;
import java.util.Arrays;

/** Reads the header of a copy from any bytes, which a client can write there. */
public final class CopyLayoutFuzz {
    private static final long MEMORY = 1 << 20;

    private CopyLayoutFuzz() {}

    /** Called by the fuzzer. */
    public static void fuzzerTestOneInput(byte[] bytes) {
        ByteBuffer header = ByteBuffer.wrap(Arrays.copyOf(bytes, CopyLayout.HEADER_LENGTH));
        CopyLayout.announced(header);
        CopyLayout.read(header, MEMORY).ifPresent(copy -> {
            if (copy.position() < 0 || copy.position() > copy.size() || copy.size() > CopyLayout.capacity(MEMORY)) {
                throw new AssertionError(copy);
            }
        });
    }
}
