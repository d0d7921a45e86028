package io.rpma.internal;

import io.rpma.RpmaLog;
import io.rpma.RpmaLogLevel;
import io.rpma.RpmaLogThreshold;
import io.rpma.testing.LogCapture;
import java.util.List;

/** All messages of librpma, those of exceptions too, which the log has for debugging alone. */
public final class Logged implements AutoCloseable {
    private final LogCapture log;

    public Logged() {
        RpmaLog.setThreshold(RpmaLogThreshold.MAIN, RpmaLogLevel.DEBUG);
        // messages of earlier calls belong to others
        Delivery.settle();
        log = new LogCapture();
    }

    /** Those of the calls that have ended. */
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
