package io.rpma.internal;

import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;

/**
 * Takes librpma's messages from the shim's ring to the logger "io.rpma" or a user's function, in their order. One thread
 * does this, and it is the only one that calls the user: so a call that leaves messages may be made under any lock.
 */
public final class Log {
    /** librpma's levels run from DISABLED to DEBUG. */
    private static final int FATAL = 0;

    private static final int ERROR = 1;
    private static final int WARNING = 2;
    private static final int DEBUG = 5;

    /** For how long the end of the JVM waits until all messages are delivered. */
    private static final long EXIT_PATIENCE = TimeUnit.SECONDS.toNanos(1);

    private static final long EXIT_PAUSE = TimeUnit.MILLISECONDS.toNanos(1);

    /** Gets the messages from now on; null for the logger. Guarded by the class, as {@link #FORMER} is. */
    private static Sink sink;

    /** The messages that another sink than this one gets. */
    private static final Queue<Delivery> FORMER = new ArrayDeque<>();

    /** The user's threshold, which librpma's own must not go below: failures would lose their reason. */
    private static volatile int threshold = DEBUG;

    /** Null until there is a first message. */
    private static volatile Thread deliverer;

    private static boolean hasExitHook;

    /** Whether the thread may have a message that it has taken. */
    private static volatile boolean delivering;

    private Log() {}

    /** Gets the messages. */
    public interface Sink {
        /**
         * Gets a message.
         *
         * @param level librpma's number, from 0
         * @param fileName librpma's source file
         * @param lineNo its line
         * @param functionName librpma's function
         * @param text the message
         */
        void log(int level, String fileName, int lineNo, String functionName, String text);
    }

    /**
     * Sets what gets the messages of later calls.
     *
     * @param user null for the logger
     */
    public static synchronized void setSink(Sink user) {
        for (Delivery left = take(); left != null; left = take()) {
            FORMER.add(left);
        }
        sink = user;
        if (!FORMER.isEmpty()) {
            wakeDeliverer();
        }
    }

    private static synchronized Delivery next() {
        Delivery former = FORMER.poll();
        return former == null ? take() : former;
    }

    private static Delivery take() {
        byte[] line = Natives.nextMessage();
        return line == null ? null : new Delivery(line, sink);
    }

    /**
     * Sets the least severe level that is delivered.
     *
     * @param level librpma's number, from -1
     */
    public static void setThreshold(int level) {
        threshold = level;
    }

    /** {@return librpma's number of the least severe level that is delivered, from -1} */
    public static int threshold() {
        return threshold;
    }

    /**
     * Has the messages delivered that calls have left. Neither waits nor calls the user.
     *
     * <p>Throws nothing: it runs between a call and the use of its result, which must not be lost.
     */
    static void deliver() {
        if (Natives.hasMessages()) {
            wakeDeliverer();
        }
    }

    /** Whether all messages are delivered. */
    static boolean isSettled() {
        return !hasMessages() && !delivering;
    }

    private static synchronized boolean hasMessages() {
        return !FORMER.isEmpty() || Natives.hasMessages();
    }

    private static void wakeDeliverer() {
        try {
            if (!hasExitHook || deliverer == null) {
                startDeliverer();
            }
            LockSupport.unpark(deliverer);
        } catch (Throwable e) {
            // without memory or a thread now, or at the end of the JVM: the messages stay in the ring for the next call
            return;
        }
    }

    private static synchronized void startDeliverer() {
        if (deliverer == null) {
            deliverer = Daemon.start("rpma log", Log::deliverForever);
        }
        if (!hasExitHook) {
            Thread hook = new Thread(null, Log::awaitSettled, "rpma log at exit", 0, false);
            hook.setContextClassLoader(null);
            Runtime.getRuntime().addShutdownHook(hook);
            hasExitHook = true;
        }
    }

    private static void deliverForever() {
        while (true) {
            // an interruption that stays would end each wait at once
            Thread.interrupted();
            // before a message is taken, so that there is no moment between the two
            delivering = true;
            deliverAll();
            delivering = false;
            LockSupport.park(Log.class);
        }
    }

    private static void awaitSettled() {
        long start = System.nanoTime();
        LockSupport.unpark(deliverer);
        while (!isSettled() && System.nanoTime() - start < EXIT_PATIENCE) {
            LockSupport.parkNanos(EXIT_PAUSE);
        }
    }

    private static void deliverAll() {
        try {
            for (Delivery delivery = next(); delivery != null; delivery = next()) {
                deliver(new Message(delivery.line), delivery.sink);
            }
        } catch (Throwable e) {
            // out of memory
            reportUncaught(e);
        }
    }

    private static void deliver(Message message, Sink user) {
        if (message.level > threshold) {
            return;
        }
        try {
            if (user == null) {
                logger().log(systemLevel(message.level), message.text);
            } else {
                user.log(message.level, message.fileName, message.lineNo, message.functionName, message.text);
            }
        } catch (Throwable e) {
            reportUncaught(e);
        }
    }

    /** As the JVM does at the end of a thread: what the handler itself throws is ignored. */
    public static void reportUncaught(Throwable failure) {
        Thread thread = Thread.currentThread();
        try {
            thread.getUncaughtExceptionHandler().uncaughtException(thread, failure);
        } catch (Throwable e) {
            return;
        }
    }

    private static System.Logger.Level systemLevel(int level) {
        switch (level) {
            case FATAL, ERROR:
                return System.Logger.Level.ERROR;
            case WARNING:
                return System.Logger.Level.WARNING;
            case DEBUG:
                return System.Logger.Level.DEBUG;
            default:
                return System.Logger.Level.INFO;
        }
    }

    /** Found only for a message: the JDK reads its configuration of logging for it. */
    public static System.Logger logger() {
        return System.getLogger("io.rpma");
    }

    /** What was logged as a warning or worse during this thread's last call; empty when out of memory. */
    public static String lastReasons() {
        byte[] lines = Natives.lastMessages();
        return lines == null ? "" : reasons(new String(lines, StandardCharsets.UTF_8));
    }

    private static String reasons(String lines) {
        return Arrays.stream(lines.split("\n"))
                .filter(line -> !line.isEmpty())
                .map(Message::new)
                .filter(message -> message.level <= WARNING)
                .map(message -> message.text)
                .collect(Collectors.joining("; "));
    }

    private static final class Delivery {
        private final String line;
        private final Sink sink;

        Delivery(byte[] line, Sink sink) {
            this.line = new String(line, StandardCharsets.UTF_8);
            this.sink = sink;
        }
    }

    /** A line of native/log.c. */
    private static final class Message {
        private static final String SEPARATOR = "\u001f";

        private final int level;
        private final String fileName;
        private final int lineNo;
        private final String functionName;
        private final String text;

        Message(String line) {
            String[] fields = line.split(SEPARATOR, 5);
            level = Integer.parseInt(fields[0]);
            fileName = fields[1];
            lineNo = Integer.parseInt(fields[2]);
            functionName = fields[3];
            text = fields[4];
        }
    }
}
