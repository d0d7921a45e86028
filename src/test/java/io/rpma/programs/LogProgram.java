// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.programs;

import io.rpma.RpmaDevice;
import io.rpma.RpmaException;
import io.rpma.RpmaLog;
import io.rpma.RpmaLogLevel;
import io.rpma.RpmaLogThreshold;
import io.rpma.internal.Delivery;

/** Lets librpma log a debug message. */
public final class LogProgram {
    private LogProgram() {}

    /** Makes a call that fails, and prints the detail of its exception. */
    public static void main(String[] arguments) {
        RpmaLog.setThreshold(RpmaLogThreshold.MAIN, RpmaLogLevel.DEBUG);
        try {
            RpmaDevice.local("192.0.2.1");
        } catch (RpmaException e) {
            System.out.println(e.detail());
        }
        Delivery.settle();
    }
}
