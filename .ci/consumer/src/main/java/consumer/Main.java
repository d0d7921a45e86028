// SPDX-License-Identifier: BSD-3-Clause
package consumer;

import io.rpma.RpmaDevice;

/** Loads the native library out of the jar of the release, and calls it. */
public class Main {
    public static void main(String[] arguments) {
        System.out.println("devices: " + RpmaDevice.list());
    }
}
