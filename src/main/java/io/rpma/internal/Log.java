// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.internal;

import java.io.UnsupportedEncodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;

/**
 * Delivers librpma's messages, in their order, from the ring of the shim to the logger "io.rpma" or to a function of
 * the user. Only one thread, which holds no lock, delivers them and calls the user's function. So a call of the library
 * that causes messages can be made under any lock. The exit of the JVM waits for this thread for up to a second.
 */
public final class Log {
    /** The levels of librpma, which range from DISABLED (-1) to DEBUG. */
    private static final int FATAL = 0;

    private static final int ERROR = 1;
    private static final int WARNING = 2;
    private static final int DEBUG = 5;

    /** The maximum time that the shutdown hook waits until all messages are delivered. */
    private static final long EXIT_PATIENCE = TimeUnit.SECONDS.toNanos(1);

    private static final long EXIT_PAUSE = TimeUnit.MILLISECONDS.toNanos(1);

    /** The current receiver of messages, null for the logger. The class's monitor guards it and {@link #FORMER}. */
    private static Sink sink;

    /** The undelivered messages for former sinks. */
    private static final Queue<Delivery> FORMER = new ArrayDeque<>();

    /**
     * The threshold of the user. The threshold of librpma stays at least at ERROR, because exceptions take their reason
     * from the messages.
     */
    private static volatile int threshold = DEBUG;

    /** The delivering thread, null before the first message. */
    private static volatile Thread deliverer;

    private static volatile boolean hasExitHook;

    /** Whether the delivering thread may have a message that it has taken but not yet delivered. */
    private static volatile boolean delivering;

    private Log() {}

    /** Receives the messages. */
    public interface Sink {
        /**
         * Receives a message.
         *
         * @param level librpma's number of the level, from 0
         * @param fileName the source file of librpma
         * @param lineNo the line in the source file
         * @param functionName the function of librpma
         * @param text the message
         */
        void log(int level, String fileName, int lineNo, String functionName, String text);
    }

    /**
     * Sets the receiver of the messages of later calls. The former receiver gets the messages of earlier calls.
     *
     * @param user the receiver, null for the logger
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
     * @param level librpma's number of the level, from -1
     */
    public static void setThreshold(int level) {
        threshold = level;
    }

    /** {@return librpma's number of the least severe level that is delivered, from -1} */
    public static int threshold() {
        return threshold;
    }

    /**
     * Wakes the delivering thread if the ring has messages. Does not wait, and calls no code of the user.
     *
     * <p>Throws nothing, because it runs between a call and the use of its result, which must not be lost.
     */
    public static void deliver() {
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
            if (!hasExitHook) {
                startDeliverer();
            }
            LockSupport.unpark(deliverer);
        } catch (Throwable e) {
            // no memory or no thread: the messages stay in the ring until the next call
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
            addShutdownHook(hook);
            hasExitHook = true;
        }
    }

    private static void addShutdownHook(Thread hook) {
        try {
            Runtime.getRuntime().addShutdownHook(hook);
        } catch (IllegalStateException e) {
            // the JVM is already shutting down
            return;
        }
    }

    private static void deliverForever() {
        while (true) {
            // a pending interruption would end each wait at once
            Thread.interrupted();
            // set before a message is taken, so that isSettled() misses no message between its removal and its delivery
            delivering = true;
            deliverAll();
            delivering = false;
            LockSupport.park(Log.class);
        }
    }

    private static void awaitSettled() {
        long start = System.nanoTime();
        while (!isSettled() && System.nanoTime() - start < EXIT_PATIENCE) {
            // each time, because a delivery that fails for lack of memory leaves messages
            LockSupport.unpark(deliverer);
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

    /**
     * Calls the handler of uncaught exceptions, and ignores what the handler throws, as the JVM does when a thread
     * ends.
     */
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

    /**
     * Returns the logger. Call this method only to log: to find the logger, the JDK reads its logging configuration.
     */
    public static System.Logger logger() {
        return System.getLogger("io.rpma");
    }

    /** Returns the warnings and errors of the last call of this thread, or an empty string if out of memory. */
    public static String lastReasons() {
        byte[] lines = Natives.lastMessages();
        return lines == null ? "" : reasons(decode(lines));
    }

    /** Names in messages are in UTF-8, and texts of getaddrinfo(3) in the charset of the locale. */
    private static String decode(byte[] message) {
        String text = new String(message, StandardCharsets.UTF_8);
        if (text.indexOf('\ufffd') < 0) {
            return text;
        }
        try {
            return new String(message, System.getProperty("native.encoding", "UTF-8"));
        } catch (UnsupportedEncodingException e) {
            // a charset of the C library that the JDK lacks
            return text;
        }
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
            this.line = decode(line);
            this.sink = sink;
        }
    }

    /** A parsed line of native/log.c. */
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
