package io.rpma;

import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.locks.ReentrantLock;

/** Carries librpma's messages from the shim's ring to the logger "io.rpma", in their order. */
final class Log {
    /** librpma's level of a warning, as the shim writes it. */
    static final char WARNING = '2';

    private static final System.Logger LOGGER = System.getLogger("io.rpma");
    private static final ReentrantLock DRAINING = new ReentrantLock();

    private Log() {}

    /** Empties the ring, unless another thread is at it: then that one takes ours too. */
    static void drain() {
        while (Natives.hasMessages() && !DRAINING.isHeldByCurrentThread() && DRAINING.tryLock()) {
            try {
                drainLocked();
            } finally {
                DRAINING.unlock();
            }
        }
    }

    private static void drainLocked() {
        for (byte[] message = Natives.nextMessage(); message != null; message = Natives.nextMessage()) {
            String line = new String(message, StandardCharsets.UTF_8);
            log(level(line.charAt(0)), line.substring(1));
        }
    }

    /** What a user's log handler throws must not take the place of the result of the call. */
    private static void log(Level level, String message) {
        try {
            LOGGER.log(level, message);
        } catch (RuntimeException e) {
            Thread thread = Thread.currentThread();
            thread.getUncaughtExceptionHandler().uncaughtException(thread, e);
        }
    }

    private static Level level(char level) {
        switch (level) {
            case '0':
            case '1':
                return Level.ERROR;
            case WARNING:
                return Level.WARNING;
            case '3':
            case '4':
                return Level.INFO;
            default:
                return Level.DEBUG;
        }
    }
}
