// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import io.rpma.internal.Call;
import io.rpma.internal.Loader;
import io.rpma.internal.Log;
import io.rpma.internal.Natives;
import java.util.Objects;

/**
 * The log of librpma. Its messages go to the {@link System.Logger} {@code io.rpma}, or to a function.
 *
 * <pre>{@code
 * RpmaLog.setThreshold(RpmaLogThreshold.MAIN, RpmaLogLevel.INFO);
 * RpmaLog.setFunction((level, fileName, lineNo, functionName, message) ->
 *         System.err.println(level + " " + functionName + ": " + message));
 * }</pre>
 *
 * <p><b>Delivery.</b> A daemon thread of the library, {@code rpma log}, delivers the messages in order. The first
 * message starts the thread. Calls of the library do not wait for the delivery. Up to 256 messages are kept while the
 * function or the logger handles a message. Further messages are dropped, and a warning in the log reports their
 * number. The exit of the JVM waits for up to a second until all messages are delivered. The shutdown hook of the JDK's
 * default logger runs at the same time, so that this logger can miss the last messages.
 *
 * <p><b>Failures.</b> The errors and warnings of a call that fails are in its exception
 * ({@link RpmaException#detail()}) and are not logged, except at level {@link RpmaLogLevel#DEBUG} if the threshold
 * {@link RpmaLogThreshold#MAIN} is {@link RpmaLogLevel#DEBUG}. The messages of posts and polls that do not fail are
 * discarded.
 *
 * <p><b>Levels.</b> The logger gets {@link RpmaLogLevel#FATAL} and {@link RpmaLogLevel#ERROR} as {@code ERROR},
 * {@link RpmaLogLevel#NOTICE} and {@link RpmaLogLevel#INFO} as {@code INFO}, and the other levels under their own
 * names. librpma itself writes nothing to syslog or to the standard error stream.
 *
 * <p>All methods apply to the whole process, and are safe for use by many threads.
 *
 * <p>Manual pages: rpma_log_set_function(3), rpma_log_set_threshold(3), rpma_log_get_threshold(3).
 */
public final class RpmaLog {
    private RpmaLog() {}

    /**
     * Sets the function that gets the messages. The messages of calls that ended before this call go to the former
     * function or the logger.
     *
     * <p>An exception that the function throws goes to the uncaught exception handler of the delivering thread.
     *
     * @param function gets each message; null for the logger {@code io.rpma}
     */
    public static void setFunction(RpmaLogFunction function) {
        Loader.ensureLoaded();
        Log.setSink(
                function == null
                        ? null
                        : (level, fileName, lineNo, functionName, message) ->
                                function.log(RpmaLogLevel.of(level), fileName, lineNo, functionName, message));
    }

    /**
     * Sets the least severe level that is delivered.
     *
     * <p>An {@link RpmaException} has the errors of its call at every threshold. It has the warnings only if the
     * threshold {@link RpmaLogThreshold#MAIN} is {@link RpmaLogLevel#WARNING} or less severe.
     *
     * @param threshold the threshold; {@link RpmaLogThreshold#AUX} has no effect, because this library does not use
     *     librpma's own output to the standard error stream
     * @param level the least severe level; {@link RpmaLogLevel#DISABLED} for no messages
     */
    public static void setThreshold(RpmaLogThreshold threshold, RpmaLogLevel level) {
        Objects.requireNonNull(level, "level");
        Loader.ensureLoaded();
        RpmaLogLevel set = level;
        if (threshold == RpmaLogThreshold.MAIN) {
            Log.setThreshold(level.value());
            set = level.compareTo(RpmaLogLevel.ERROR) < 0 ? RpmaLogLevel.ERROR : level;
        }
        Call.check("rpma_log_set_threshold", Natives.logSetThreshold(threshold.ordinal(), set.value()));
    }

    /**
     * {@return the least severe level that is delivered; by default {@link RpmaLogLevel#WARNING} for
     * {@link RpmaLogThreshold#MAIN}}
     *
     * @param threshold the threshold
     */
    public static RpmaLogLevel getThreshold(RpmaLogThreshold threshold) {
        Loader.ensureLoaded();
        long result = Call.check("rpma_log_get_threshold", Natives.logGetThreshold(threshold.ordinal()));
        RpmaLogLevel level = RpmaLogLevel.of((int) result - 1);
        RpmaLogLevel users = RpmaLogLevel.of(Log.threshold());
        return threshold == RpmaLogThreshold.MAIN && users.compareTo(level) < 0 ? users : level;
    }
}
