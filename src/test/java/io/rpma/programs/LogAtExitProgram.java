// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.programs;

import io.rpma.RpmaDevice;
import io.rpma.RpmaException;
import io.rpma.RpmaLog;
import io.rpma.RpmaLogLevel;
import io.rpma.RpmaLogThreshold;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * Makes librpma log: in several threads until the JVM ends, or at the threshold that lets librpma write to standard
 * error.
 */
public final class LogAtExitProgram {
    private static final int THREADS = 4;
    private static final int MESSAGES = 100;

    private LogAtExitProgram() {}

    /**
     * The argument selects the task: "aux" logs one message, "last" logs many before the JVM ends, "thresholds" prints
     * the defaults. "exit" and "return" end the JVM by {@code System.exit} or the return of this method, while all
     * threads log.
     */
    public static void main(String[] arguments) throws InterruptedException {
        RpmaLog.setFunction((level, fileName, lineNo, functionName, message) -> {});
        if (arguments[0].equals("aux")) {
            RpmaLog.setThreshold(RpmaLogThreshold.AUX, RpmaLogLevel.DEBUG);
            fail();
            return;
        }
        if (arguments[0].equals("thresholds")) {
            System.out.println(
                    RpmaLog.getThreshold(RpmaLogThreshold.MAIN) + " " + RpmaLog.getThreshold(RpmaLogThreshold.AUX));
            return;
        }
        if (arguments[0].equals("last")) {
            failMoreThanIsDelivered();
            return;
        }
        RpmaLog.setThreshold(RpmaLogThreshold.MAIN, RpmaLogLevel.DEBUG);
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

    /** The function is slower than the calls, so that most of the messages are undelivered when main ends. */
    private static void failMoreThanIsDelivered() {
        AtomicInteger got = new AtomicInteger();
        RpmaLog.setFunction((level, fileName, lineNo, functionName, message) -> {
            LockSupport.parkNanos(1_000_000);
            if (got.incrementAndGet() == MESSAGES) {
                System.out.println("got all");
            }
        });
        RpmaLog.setThreshold(RpmaLogThreshold.MAIN, RpmaLogLevel.DEBUG);
        for (int i = 0; i < MESSAGES; i++) {
            fail();
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
