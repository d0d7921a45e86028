// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.rdmacm;

import java.nio.ByteBuffer;
import java.util.Arrays;

/** Reads an offer of rping from any bytes. */
public final class RpingFuzz {
    private static final int ROOM = 64;

    private RpingFuzz() {}

    /** Called by the fuzzer. */
    public static void fuzzerTestOneInput(byte[] bytes) {
        try {
            Rping.Offer offer = Rping.Offer.get(ByteBuffer.wrap(Arrays.copyOf(bytes, Rping.OFFER_SIZE)), ROOM);
            if (offer.length() < 1 || offer.length() > ROOM) {
                throw new AssertionError(offer);
            }
        } catch (IllegalStateException e) {
            // refused, as documented
        }
    }
}
