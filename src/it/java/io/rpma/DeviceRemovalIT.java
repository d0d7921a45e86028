// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.programs.DeviceRemovalProgram;
import io.rpma.testing.Guest;
import io.rpma.testing.Rxe;
import java.io.IOException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A device that is removed while a program uses it. The kernel of user-mode Linux is new enough to do so. */
@Tag("hosts")
class DeviceRemovalIT {
    @Test
    void aDeviceThatIsAddedAndRemoved() throws IOException, InterruptedException {
        Rxe.Finished finished = Rxe.uml("sh", "-c", Guest.java(DeviceRemovalProgram.class, "veth1"))
                .run();
        assertThat(finished.status()).describedAs(finished.toString()).isZero();
    }
}
