// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.assertj.core.api.Assertions.assertThat;

import io.rpma.testing.Limit;
import io.rpma.testing.Pair;
import io.rpma.testing.TestDevice;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The events of a real device. */
class DeviceEventIT {
    /** A broken connection takes posts, which all end at once: the completion queue has no room for so many. */
    @Tag("infiniband-cm")
    @Test
    void anOverflowOfACompletionQueueIsAnEvent() throws InterruptedException {
        RpmaDevice device = RpmaDevice.local(TestDevice.address());
        try (Pair pair = Pair.connect()) {
            pair.client.disconnect();
            Pair.assertEvent(RpmaConnEvent.CLOSED, pair.server);
            for (int i = 0; i < 1000; i++) {
                pair.client.write(RpmaConn.F_COMPLETION_ALWAYS, i);
            }
            RpmaDeviceEvent event;
            do {
                event = device.nextEvent(Limit.WAIT_S, TimeUnit.SECONDS).orElseThrow();
            } while (event.type() != RpmaDeviceEvent.Type.CQ_ERR);
            assertThat(event.complFd()).isEqualTo(pair.client.getCq().getFd());
        }
    }
}
