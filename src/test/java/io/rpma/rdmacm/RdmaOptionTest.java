// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.rdmacm;

import static io.rpma.testing.Failures.assertFails;

import io.rpma.testing.StandIn;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Options that the system refuses. A device refuses none that the library accepts. */
@Tag("stand-in")
class RdmaOptionTest {
    private static final int EPERM = 1;

    @Test
    void aRefusedOptionCanBeSetAgain() {
        List<Consumer<RdmaId>> options =
                List.of(id -> id.setReuseAddr(true), id -> id.setTos(104), id -> id.setAckTimeout(14));
        try (StandIn standIn = StandIn.open();
                RdmaId id = RdmaId.create(RdmaPortSpace.TCP)) {
            for (Consumer<RdmaId> option : options) {
                standIn.fail("ucma:SET_OPTION", 1, EPERM);
                assertFails("rdma_set_option", "EPERM", () -> option.accept(id));
                option.accept(id);
            }
        }
    }
}
