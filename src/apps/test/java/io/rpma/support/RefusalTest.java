// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.support;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** The private data of a refusal. */
class RefusalTest {
    @Test
    void theReason() {
        byte[] data = Refusal.toPrivateData("no room for 2 MiB");
        assertThat(Refusal.fromPrivateData(data)).contains("no room for 2 MiB");
        assertThat(Refusal.fromPrivateData(Arrays.copyOf(data, 196))).contains("no room for 2 MiB");
    }

    @Test
    void aTerminalDoesNotObeyTheReason() {
        assertThat(Refusal.fromPrivateData(Refusal.toPrivateData("a\u001b[31m\r\nb")))
                .contains("a[31mb");
    }

    @Test
    void otherPrivateData() {
        assertThat(Refusal.fromPrivateData(new byte[0])).isEmpty();
        assertThat(Refusal.fromPrivateData(new byte[196])).isEmpty();
    }
}
