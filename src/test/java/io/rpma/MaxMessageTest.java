// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.rpma.rdmacm.RdmaMr;
import io.rpma.rdmacm.RdmaQp;
import io.rpma.rdmacm.RdmaSgeList;
import io.rpma.testing.Pair;
import io.rpma.testing.RdmaPair;
import io.rpma.testing.Regions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A port can limit one operation to fewer than 2^31 - 1 bytes. The stand-in reports 8 MiB, as soft-RoCE does. */
@Tag("stand-in")
class MaxMessageTest {
    private static final int MAX_MESSAGE = 8 << 20;
    private static final String REFUSED =
            "one operation transfers at most " + MAX_MESSAGE + " bytes on this device, not " + (MAX_MESSAGE + 1);

    @Test
    void ofLibrpma() throws InterruptedException {
        int always = RpmaConn.F_COMPLETION_ALWAYS;
        RpmaBatch batch = RpmaBatch.create(1);
        try (Pair pair = Pair.connect();
                Regions regions = new Regions(pair.peer, MAX_MESSAGE + 1)) {
            assertThat(pair.client.write(regions.remote, 0, regions.local, 0, MAX_MESSAGE, always, 1))
                    .isTrue();
            assertThatIllegalArgumentException()
                    .isThrownBy(
                            () -> pair.client.write(regions.remote, 0, regions.local, 0, MAX_MESSAGE + 1, always, 1))
                    .withMessage(REFUSED);
            assertThatIllegalArgumentException()
                    .isThrownBy(() ->
                            batch.write(pair.client, regions.remote, 0, regions.local, 0, MAX_MESSAGE + 1, always, 1))
                    .withMessage(REFUSED);
        }
    }

    @Test
    void ofLibrdmacm() throws Exception {
        RdmaSgeList parts = RdmaSgeList.create(2);
        try (RdmaPair pair = RdmaPair.connect();
                RpmaMemory memory = RpmaMemory.allocate(MAX_MESSAGE + 1);
                RdmaMr region = RdmaMr.regMsgs(pair.client, memory)) {
            RdmaQp qp = pair.client.qp();
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> qp.postSend(region, 0, MAX_MESSAGE + 1, 0, 1))
                    .withMessage(REFUSED);
            parts.add(region, 0, MAX_MESSAGE);
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> parts.add(region, 0, 1))
                    .withMessage(REFUSED);
            assertThat(parts.count()).isOne();
        }
    }
}
