// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.programs;

import io.rpma.RpmaConnCfg;
import io.rpma.testing.Eventually;
import io.rpma.testing.LogCapture;
import java.util.logging.LogRecord;

/** Drops an object and prints how that is reported. */
public final class LeakProgram {
    private LeakProgram() {}

    /** Drops an object. */
    public static void main(String[] arguments) {
        try (LogCapture log = new LogCapture()) {
            makeAndDrop();
            Eventually.becomeByGc("a report", () -> !log.records().isEmpty());
            for (LogRecord record : log.records()) {
                System.out.println(record.getLevel() + ": " + record.getMessage());
                if (record.getThrown() != null) {
                    record.getThrown().printStackTrace(System.out);
                }
            }
        }
    }

    private static void makeAndDrop() {
        RpmaConnCfg.create().setCqSize(1);
    }
}
