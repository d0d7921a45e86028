// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.programs;

import io.rpma.RpmaDevice;
import io.rpma.RpmaException;
import io.rpma.RpmaPeer;

/** Makes a peer with a librpma that does nothing. */
public final class NewPeerProgram {
    private NewPeerProgram() {}

    /**
     * Prints the peer, or the exception.
     *
     * @param arguments the path of that librpma, unless the library loads it
     */
    public static void main(String[] arguments) {
        for (String librpma : arguments) {
            System.load(librpma);
        }
        try (RpmaPeer peer = RpmaPeer.create(RpmaDevice.local("localhost"))) {
            System.out.println("made " + peer.getClass().getSimpleName());
        } catch (RpmaException e) {
            System.out.println(e);
        }
    }
}
