package io.rpma;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Collectors;

/** Carries librpma's messages from the shim's ring to the logger "io.rpma" or a user's function, in their order. */
final class Log {
    private static final ReentrantLock DRAINING = new ReentrantLock();

    /** How many locks the thread holds under which it must not deliver anything: one number, which is changed in place. */
    private static final ThreadLocal<int[]> WITHHELD = new ThreadLocal<>();

    /** Gets the messages; null for the logger. */
    private static volatile RpmaLogFunction function;

    /** The user's threshold, which librpma's own must not go below: failures would lose their reason. */
    private static volatile RpmaLogLevel threshold = RpmaLogLevel.DEBUG;

    private Log() {}

    /** Sets what gets the messages from now on; null for the logger. */
    static void setFunction(RpmaLogFunction user) {
        drain();
        function = user;
    }

    static void setThreshold(RpmaLogLevel level) {
        threshold = level;
    }

    static RpmaLogLevel threshold() {
        return threshold;
    }

    /**
     * Empties the ring, unless another thread is at it: then that one takes ours too.
     *
     * <p>Throws nothing: it runs between a call and the use of its result, which must not be lost.
     */
    static void drain() {
        try {
            while (Natives.hasMessages() && !isWithheld() && !DRAINING.isHeldByCurrentThread() && DRAINING.tryLock()) {
                try {
                    deliverAll();
                } finally {
                    DRAINING.unlock();
                }
            }
        } catch (Throwable e) {
            // out of memory
            reportUncaught(e);
        }
    }

    /** Has this thread deliver nothing until {@link #deliver()}. */
    static void withhold() {
        int[] locks = WITHHELD.get();
        if (locks == null) {
            locks = new int[1];
            WITHHELD.set(locks);
        }
        locks[0]++;
    }

    /** Ends {@link #withhold()}, and makes up for it. */
    static void deliver() {
        WITHHELD.get()[0]--;
        drain();
    }

    private static boolean isWithheld() {
        int[] locks = WITHHELD.get();
        return locks != null && locks[0] > 0;
    }

    private static void deliverAll() {
        for (byte[] line = Natives.nextMessage(); line != null; line = Natives.nextMessage()) {
            Message message = new Message(new String(line, StandardCharsets.UTF_8));
            if (message.level.compareTo(threshold) <= 0) {
                deliver(message);
            }
        }
    }

    private static void deliver(Message message) {
        try {
            RpmaLogFunction user = function;
            if (user == null) {
                logger().log(message.level.systemLevel(), message.text);
            } else {
                user.log(message.level, message.fileName, message.lineNo, message.functionName, message.text);
            }
        } catch (Throwable e) {
            reportUncaught(e);
        }
    }

    /** As the JVM does at the end of a thread: what the handler itself throws is ignored. */
    static void reportUncaught(Throwable failure) {
        Thread thread = Thread.currentThread();
        try {
            thread.getUncaughtExceptionHandler().uncaughtException(thread, failure);
        } catch (Throwable e) {
            return;
        }
    }

    /** Found only by what has something to say: the JDK reads its configuration of logging for it. */
    static System.Logger logger() {
        return System.getLogger("io.rpma");
    }

    /** What was logged as a warning or worse during this thread's last call; empty when out of memory. */
    static String lastReasons() {
        byte[] lines = Natives.lastMessages();
        return lines == null ? "" : reasons(new String(lines, StandardCharsets.UTF_8));
    }

    private static String reasons(String lines) {
        return Arrays.stream(lines.split("\n"))
                .filter(line -> !line.isEmpty())
                .map(Message::new)
                .filter(message -> message.level.compareTo(RpmaLogLevel.WARNING) <= 0)
                .map(message -> message.text)
                .collect(Collectors.joining("; "));
    }

    /** A line of native/log.c. */
    private static final class Message {
        private static final String SEPARATOR = "\u001f";

        private final RpmaLogLevel level;
        private final String fileName;
        private final int lineNo;
        private final String functionName;
        private final String text;

        Message(String line) {
            String[] fields = line.split(SEPARATOR, 5);
            level = RpmaLogLevel.of(Integer.parseInt(fields[0]));
            fileName = fields[1];
            lineNo = Integer.parseInt(fields[2]);
            functionName = fields[3];
            text = fields[4];
        }
    }
}
