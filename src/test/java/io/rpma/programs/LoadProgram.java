// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.programs;

import io.rpma.RpmaConnCfg;
import io.rpma.RpmaDevice;
import io.rpma.RpmaException;

/** Loads the library and prints the outcome; also run as a source file, with only the jar on the class path. */
public final class LoadProgram {
    private LoadProgram() {}

    /**
     * Prints "loaded" and librpma's default timeout, or the error; then each address's device, or the failure's detail.
     */
    public static void main(String[] arguments) {
        try (RpmaConnCfg cfg = RpmaConnCfg.create()) {
            System.out.println("loaded, " + cfg.getTimeout() + " ms");
        } catch (LinkageError e) {
            System.out.println(e);
            System.out.println("cause: " + e.getCause());
            System.exit(3);
        }
        for (String address : arguments) {
            try {
                System.out.println(RpmaDevice.local(address));
            } catch (RpmaException e) {
                System.out.println("detail: " + e.detail());
            }
        }
    }
}
