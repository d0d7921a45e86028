// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.programs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.rpma.RpmaDevice;
import io.rpma.RpmaException;
import io.rpma.RpmaPeer;
import io.rpma.testing.Tool;
import java.util.ArrayList;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;

/** Adds a device of soft-RoCE, opens a peer on it, removes the device and queries it. */
public final class DeviceRemovalProgram {
    private DeviceRemovalProgram() {}

    /**
     * @param arguments a network interface without an RDMA device
     */
    public static void main(String[] arguments) throws Exception {
        List<RpmaDevice> before = RpmaDevice.list();
        Tool.run("rdma", "link", "add", "added", "type", "rxe", "netdev", arguments[0]);
        List<RpmaDevice> both = new ArrayList<>(RpmaDevice.list());
        both.removeAll(before);
        assertThat(both).hasToString("[RpmaDevice[added]]");
        RpmaDevice added = both.get(0);
        assertThat(added.ports().get(0).interfaces()).containsExactly(arguments[0]);
        RpmaPeer peer = RpmaPeer.create(added);
        Tool.run("rdma", "link", "delete", "added");
        assertThat(RpmaDevice.list()).isEqualTo(before);
        assertThat(added.name()).isEqualTo("added");
        for (ThrowingCallable query : List.<ThrowingCallable>of(
                added::ports,
                added::addresses,
                added::limits,
                added::vendorId,
                added::isFlushNative,
                added::isOdpCapable,
                () -> RpmaPeer.create(added))) {
            assertThatExceptionOfType(RpmaException.class).isThrownBy(query);
        }
        peer.close();
    }
}
