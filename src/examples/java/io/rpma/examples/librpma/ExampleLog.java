package io.rpma.examples.librpma;

import io.rpma.RpmaDevice;
import io.rpma.RpmaException;
import io.rpma.RpmaLog;
import io.rpma.RpmaLogLevel;
import io.rpma.RpmaLogThreshold;
import java.util.concurrent.CountDownLatch;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/** Shows where librpma's messages go: to a logger of the JDK, or to a function. Needs no device. */
public final class ExampleLog {
    /** Set aside for documentation (RFC 5737): no device has it. */
    private static final String NO_DEVICE = "192.0.2.1";

    /** Kept here, because the JDK would forget its level with it. */
    private static final Logger LOGGER = Logger.getLogger("io.rpma");

    private ExampleLog() {}

    /**
     * Runs the example.
     *
     * @param args not used
     * @throws InterruptedException never
     */
    public static void main(String[] args) throws InterruptedException {
        // Messages that an exception has too are for debugging alone.
        RpmaLog.setThreshold(RpmaLogThreshold.MAIN, RpmaLogLevel.DEBUG);
        Common.OUT.println("Let's write messages to the logger io.rpma");
        LOGGER.setLevel(Level.FINE);
        Printer printer = new Printer();
        LOGGER.addHandler(printer);
        causeMessage();
        printer.printed.await();
        Common.OUT.println("Let's use custom log function to write messages to stderr");
        RpmaLog.setFunction(ExampleLog::log);
        causeMessage();
        RpmaLog.setFunction(null);
    }

    /** A thread of the library's calls it: the program waits for that. */
    private static final class Printer extends Handler {
        private final CountDownLatch printed = new CountDownLatch(1);

        @Override
        public void publish(LogRecord record) {
            System.err.println(record.getLevel() + ": " + record.getMessage());
            printed.countDown();
        }

        @Override
        public void flush() {
            System.err.flush();
        }

        @Override
        public void close() {
            flush();
        }
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
