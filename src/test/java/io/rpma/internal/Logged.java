// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.internal;

import io.rpma.RpmaLog;
import io.rpma.RpmaLogLevel;
import io.rpma.RpmaLogThreshold;
import io.rpma.testing.LogCapture;
import java.util.List;

/** Captures all messages of librpma, also the messages of exceptions, which the log has only at level DEBUG. */
public final class Logged implements AutoCloseable {
    private final LogCapture log;

    public Logged() {
        RpmaLog.setThreshold(RpmaLogThreshold.MAIN, RpmaLogLevel.DEBUG);
        // the messages of earlier calls must not be captured
        Delivery.settle();
        log = new LogCapture();
    }

    /** Returns the messages of the calls that have ended. */
    public List<String> messages() {
        Delivery.settle();
        return log.messages();
    }

    @Override
    public void close() {
        log.close();
        RpmaLog.setThreshold(RpmaLogThreshold.MAIN, RpmaLogLevel.WARNING);
    }
}
