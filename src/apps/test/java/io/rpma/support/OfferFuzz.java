// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.support;

import io.rpma.RpmaMemory;
import io.rpma.RpmaMrRemote;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;

/** Reads an offer in private data, and carries out a request in a message, from any bytes. */
public final class OfferFuzz {
    private static final RpmaMemory MEMORY = RpmaMemory.allocate(4096);
    private static final int SERVICE = 0x7270_6d61;

    private OfferFuzz() {}

    /** Called by the fuzzer. */
    public static void fuzzerTestOneInput(byte[] bytes) {
        try {
            Offer offer = Offer.fromPrivateData(bytes, SERVICE);
            offer.isDirectWrite();
            try (RpmaMrRemote memory = offer.openMemory()) {
                if (memory.getSize() <= 0) {
                    throw new AssertionError(memory);
                }
            }
        } catch (IOException e) {
            // refused, as documented
        }
        carryOut(bytes);
        carryOut(Arrays.copyOf(bytes, PersistRequest.LENGTH));
    }

    private static void carryOut(byte[] message) {
        try {
            PersistRequest.get(ByteBuffer.wrap(message)).carryOut(MEMORY);
        } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
            // refused, as documented
        }
    }
}
