// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.support;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rpma.RpmaMrLocal;
import java.io.IOException;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class OfferTest {
    private static final int SERVICE = 0x01020304;

    private static byte[] privateData() {
        byte[] memory = new byte[RpmaMrLocal.DESCRIPTOR_SIZE];
        Arrays.fill(memory, (byte) 7);
        return new Offer(new byte[] {1}, memory, true, false).toPrivateData(SERVICE);
    }

    @Test
    void whatIsReceivedIsWhatWasSent() throws IOException {
        // The private data arrives filled up with zeroes.
        Offer offer = Offer.fromPrivateData(Arrays.copyOf(privateData(), 196), SERVICE);
        assertThat(offer.peerCfg()).containsExactly(1);
        assertThat(offer.memory()).hasSize(RpmaMrLocal.DESCRIPTOR_SIZE).containsOnly(7);
        assertThat(offer.persistent()).isTrue();
        assertThat(offer.nativeFlush()).isFalse();
        assertThat(offer.isDirectWrite()).isTrue();
    }

    @Test
    void anotherProgram() {
        for (byte[] other : new byte[][] {{}, new byte[196], Arrays.copyOf(privateData(), 8)}) {
            assertThatThrownBy(() -> Offer.fromPrivateData(other, SERVICE))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("not of this program");
        }
        assertThatThrownBy(() -> Offer.fromPrivateData(privateData(), SERVICE + 1))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("not of this program");
    }

    @Test
    void anotherVersion() {
        byte[] data = privateData();
        data[4]++;
        assertThatThrownBy(() -> Offer.fromPrivateData(data, SERVICE))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("version 3");
    }
}
