// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import io.rpma.testing.TestDevice;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** The set-up of tests that need a peer on the device, and a port. */
abstract class WithPeer {
    RpmaPeer peer;
    String address;
    int port;

    @BeforeEach
    final void openPeer() {
        address = TestDevice.address();
        port = TestDevice.port();
        peer = TestDevice.peer();
    }

    @AfterEach
    final void closePeer() {
        if (peer != null) {
            peer.close();
        }
    }
}
