package io.rpma.testing;

import io.rpma.RpmaDevice;
import io.rpma.RpmaException;
import io.rpma.RpmaLog;
import io.rpma.RpmaLogLevel;
import io.rpma.RpmaLogThreshold;
import java.util.concurrent.CountDownLatch;

/** Makes librpma log, in several threads until the JVM ends or with its own way to the standard error stream open. */
public final class LogAtExitProgram {
    private static final int THREADS = 4;

    private LogAtExitProgram() {}

    /** "aux" logs a message; "exit" and "return" end in these two ways while all threads are at it. */
    public static void main(String[] arguments) throws InterruptedException {
        RpmaLog.setFunction((level, fileName, lineNo, functionName, message) -> {});
        if (arguments[0].equals("aux")) {
            RpmaLog.setThreshold(RpmaLogThreshold.AUX, RpmaLogLevel.DEBUG);
            fail();
            return;
        }
        CountDownLatch started = new CountDownLatch(THREADS);
        for (int i = 0; i < THREADS; i++) {
            Thread thread = new Thread(() -> {
                fail();
                started.countDown();
                while (true) {
                    fail();
                }
            });
            thread.setDaemon(true);
            thread.start();
        }
        started.await();
        if (arguments[0].equals("exit")) {
            System.exit(0);
        }
    }

    private static void fail() {
        try {
            RpmaDevice.local("192.0.2.1");
        } catch (RpmaException e) {
            return;
        }
        throw new AssertionError("the address is only for documentation");
    }
}
