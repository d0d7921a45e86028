// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.rpma.testing.Blocked;
import io.rpma.testing.Limit;
import io.rpma.testing.RunningLoop;
import io.rpma.testing.StandIn;
import io.rpma.testing.TestDevice;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The events of a device. */
@Tag("stand-in")
class DeviceEventTest {
    private static final RpmaDeviceEvent DOWN = new RpmaDeviceEvent(RpmaDeviceEvent.Type.PORT_ERR, 1, 0, -1);
    private static final int EIO = 5;

    private RpmaDevice device;

    @BeforeEach
    void findDevice() throws InterruptedException {
        device = RpmaDevice.local(TestDevice.address());
        assertThat(device.nextEvent(0, TimeUnit.SECONDS)).isEmpty();
    }

    private static void linkDown() {
        StandIn.deviceEvent(RpmaDeviceEvent.Type.PORT_ERR.ordinal(), 1);
    }

    @Test
    void eachEventIsTakenOnce() throws InterruptedException {
        linkDown();
        StandIn.deviceEvent(RpmaDeviceEvent.Type.DEVICE_FATAL.ordinal(), 0);
        StandIn.deviceEvent(99, 0);
        assertThat(device.nextEvent()).isEqualTo(DOWN);
        assertThat(RpmaDevice.local(TestDevice.address()).nextEvent(Limit.WAIT_S, TimeUnit.SECONDS))
                .contains(new RpmaDeviceEvent(RpmaDeviceEvent.Type.DEVICE_FATAL, 0, 0, -1));
        assertThat(device.nextEvent().type()).isSameAs(RpmaDeviceEvent.Type.UNKNOWN);
        assertThat(device.nextEvent(10, TimeUnit.MILLISECONDS)).isEmpty();
        assertThatIllegalArgumentException().isThrownBy(() -> device.nextEvent(-1, TimeUnit.SECONDS));
    }

    @Test
    void aThreadWaitsForAnEvent() throws Exception {
        Blocked waiter = new Blocked(device::nextEvent);
        linkDown();
        assertThat(waiter.result()).isEqualTo(DOWN);
        Blocked.assertWokenByInterrupt(device::nextEvent);
    }

    @Test
    void aLoopServesTheEvents() throws Exception {
        BlockingQueue<RpmaDeviceEvent> events = new LinkedBlockingQueue<>();
        linkDown();
        try (RunningLoop running = new RunningLoop()) {
            running.loop.onDeviceEvent(device, events::add);
            assertThat(events.poll(Limit.WAIT_S, TimeUnit.SECONDS)).isEqualTo(DOWN);
            linkDown();
            assertThat(events.poll(Limit.WAIT_S, TimeUnit.SECONDS)).isEqualTo(DOWN);
            assertThatIllegalStateException().isThrownBy(device::nextEvent).withMessageContaining("is served by");
        }
        assertThat(device.nextEvent(0, TimeUnit.SECONDS)).isEmpty();
    }

    @Test
    void aFailureIsReported() throws InterruptedException {
        try (StandIn standIn = StandIn.open()) {
            standIn.fail("ibv_get_async_event", 1, EIO);
            linkDown();
            assertThatExceptionOfType(RpmaException.class)
                    .isThrownBy(device::nextEvent)
                    .satisfies(e -> assertThat(e.errnoName()).isEqualTo("EIO"));
        }
        assertThat(device.nextEvent()).isEqualTo(DOWN);
    }
}
