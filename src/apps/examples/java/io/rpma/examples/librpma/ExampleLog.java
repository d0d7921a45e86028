// SPDX-License-Identifier: BSD-3-Clause
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

/** Shows the destinations of librpma's messages: a logger of the JDK, or a function. Needs no device. */
public final class ExampleLog {
    /** An address for documentation (RFC 5737), which no device has. */
    private static final String NO_DEVICE = "192.0.2.1";

    /** A field, because the JDK can collect an unreferenced logger with its level. */
    private static final Logger LOGGER = Logger.getLogger("io.rpma");

    private ExampleLog() {}

    /**
     * Runs the example.
     *
     * @param args not used
     * @throws InterruptedException never
     */
    public static void main(String[] args) throws InterruptedException {
        // Messages that are also in an exception have the level DEBUG.
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

    /** Prints messages. A thread of the library calls this handler, so the program must wait for the first message. */
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
            // Exceptions contain librpma's messages regardless of the threshold.
            Common.OUT.println("An exception: " + e.getMessage());
        }
    }

    private static void log(RpmaLogLevel level, String fileName, int lineNo, String functionName, String message) {
        System.err.println("Custom log handling:");
        System.err.println(fileName + " " + lineNo + " " + functionName + ":");
        System.err.println("level: " + level + " " + message);
    }
}
