package io.rpma;

import io.rpma.internal.Call;
import io.rpma.internal.Loader;
import io.rpma.internal.Log;
import io.rpma.internal.Natives;
import java.util.Objects;

/**
 * What librpma logs, and where it goes: to the {@link System.Logger} {@code io.rpma}, or to a function instead.
 *
 * <p>Messages are kept in order, whichever thread they come from, and delivered by the thread that makes the next call of
 * this library that is no post or poll, or the next one that fails. While a function or logger is at work up to 256
 * messages are kept; how many more there were is told in a message of its own. Nothing goes to syslog or to the standard
 * error stream.
 *
 * <p>All methods are for the whole process, and safe for use by many threads.
 *
 * <p>Manual pages: rpma_log_set_function(3), rpma_log_set_threshold(3), rpma_log_get_threshold(3).
 */
public final class RpmaLog {
    private RpmaLog() {}

    /**
     * Sets what gets the messages from now on.
     *
     * <p>What the function throws goes to the uncaught exception handler of the thread that delivers.
     *
     * @param function gets every message; null for the logger {@code io.rpma} again
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
     * Sets the least severe level that gets through.
     *
     * <p>What exceptions say does not depend on it, unless warnings are wanted in them: with {@link RpmaLogLevel#ERROR}
     * and below they have errors only.
     *
     * @param threshold which one; {@link RpmaLogThreshold#AUX} is of librpma's own way to the standard error stream,
     *     which is not in use here
     * @param level the least severe level; {@link RpmaLogLevel#DISABLED} for nothing
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
     * {@return the least severe level that gets through; {@link RpmaLogLevel#WARNING} for {@link RpmaLogThreshold#MAIN}
     * if it was not set}
     *
     * @param threshold which one
     */
    public static RpmaLogLevel getThreshold(RpmaLogThreshold threshold) {
        Loader.ensureLoaded();
        long result = Call.check("rpma_log_get_threshold", Natives.logGetThreshold(threshold.ordinal()));
        RpmaLogLevel level = RpmaLogLevel.of((int) result - 1);
        RpmaLogLevel users = RpmaLogLevel.of(Log.threshold());
        return threshold == RpmaLogThreshold.MAIN && users.compareTo(level) < 0 ? users : level;
    }
}
