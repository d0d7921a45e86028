package io.rpma;

/**
 * Gets librpma's messages: {@code rpma_log_function}.
 *
 * <p>Called by one thread at a time. It may call this library; what that logs is delivered after it has returned.
 *
 * <p>Manual page: rpma_log_set_function(3).
 */
@FunctionalInterface
public interface RpmaLogFunction {
    /**
     * Takes a message.
     *
     * @param level how severe it is
     * @param fileName the source file of librpma
     * @param lineNo the line in that file
     * @param functionName the function of librpma
     * @param message the text, one line without its end
     */
    void log(RpmaLogLevel level, String fileName, int lineNo, String functionName, String message);
}
