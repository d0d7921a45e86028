// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.programs.TwoDevicesProgram;
import io.rpma.testing.Guest;
import io.rpma.testing.Rxe;
import java.io.IOException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A machine with two devices. */
@Tag("hosts")
class TwoDevicesIT {
    @Test
    void aPeerOfOneDeviceAndTheAddressOfTheOther() throws IOException, InterruptedException {
        Rxe.Finished finished = Rxe.uml("sh", "-c", Guest.java(TwoDevicesProgram.class, "veth1"))
                .run();
        assertThat(finished.status()).describedAs(finished.toString()).isZero();
    }
}
