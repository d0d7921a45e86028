// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.programs;

import io.rpma.RpmaDevice;
import io.rpma.RpmaException;
import java.net.InetAddress;

/** Looks for a device by each address that the list of devices has. */
public final class AddressesProgram {
    private AddressesProgram() {}

    /**
     * Prints each address with the device that it finds, and then the exception for an address of no device.
     *
     * @param arguments the address of no device
     */
    public static void main(String[] arguments) {
        for (RpmaDevice device : RpmaDevice.list()) {
            for (InetAddress address : device.addresses()) {
                String text = address.getHostAddress();
                System.out.println(text + " " + RpmaDevice.local(text).name());
            }
        }
        try {
            System.out.println(RpmaDevice.local(arguments[0]));
        } catch (RpmaException e) {
            System.out.println(e.getMessage());
        }
    }
}
