// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.rdmacm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The offers of a client, which can contain any numbers. */
class RpingTest {
    private static final int ROOM = 64;

    private static ByteBuffer message(long address, int length) {
        return ByteBuffer.allocate(Rping.OFFER_SIZE)
                .putLong(address)
                .putInt(-2)
                .putInt(length)
                .flip();
    }

    @ParameterizedTest
    @CsvSource({"0x7f0000001000, 64", "1, 1", "-64, 64"})
    void anOffer(String address, int length) {
        long first = Long.decode(address);
        assertThat(Rping.Offer.get(message(first, length), ROOM)).isEqualTo(new Rping.Offer(first, -2, length));
    }

    @ParameterizedTest
    @ValueSource(ints = {Integer.MIN_VALUE, -1, 0, ROOM + 1, Integer.MAX_VALUE})
    void aLengthThatDoesNotFitIsRefused(int length) {
        assertThatIllegalStateException()
                .isThrownBy(() -> Rping.Offer.get(message(4096, length), ROOM))
                .withMessage("the client offers " + length + " bytes: this side takes 1 to 64");
    }

    @Test
    void bytesBeyondTheLastAddressAreRefused() {
        assertThatIllegalStateException()
                .isThrownBy(() -> Rping.Offer.get(message(-63, ROOM), ROOM))
                .withMessage("the client offers 64 bytes at address 0xffffffffffffffc1, which do not exist");
    }
}
