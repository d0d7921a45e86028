package io.rpma.examples.librpma;

import io.rpma.RpmaDevice;
import io.rpma.RpmaException;
import io.rpma.RpmaLog;
import io.rpma.RpmaLogLevel;
import io.rpma.RpmaLogThreshold;

/** Shows where librpma's messages go: to a logger of the JDK, or to a function. Needs no device. */
public final class ExampleLog {
    /** Set aside for documentation (RFC 5737): no device has it. */
    private static final String NO_DEVICE = "192.0.2.1";

    private ExampleLog() {}

    /**
     * Runs the example.
     *
     * @param args not used
     */
    public static void main(String[] args) {
        Common.OUT.println("Let's write messages to the logger io.rpma");
        RpmaLog.setThreshold(RpmaLogThreshold.MAIN, RpmaLogLevel.DEBUG);
        causeMessage();
        Common.OUT.println("Let's use custom log function to write messages to stderr");
        RpmaLog.setFunction(ExampleLog::log);
        causeMessage();
        RpmaLog.setFunction(null);
    }

    private static void causeMessage() {
        try {
            RpmaDevice.local(NO_DEVICE);
        } catch (RpmaException e) {
            // Exceptions say what librpma has logged, whatever the threshold.
            Common.OUT.println("An exception: " + e.getMessage());
        }
    }

    private static void log(RpmaLogLevel level, String fileName, int lineNo, String functionName, String message) {
        System.err.println("Custom log handling:");
        System.err.println(fileName + " " + lineNo + " " + functionName + ":");
        System.err.println("level: " + level + " " + message);
    }
}
