// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

/**
 * Gets the messages of librpma: {@code rpma_log_function}.
 *
 * <p>Calls do not overlap, because only the thread {@code rpma log} makes them. The function may call this library, and
 * wait for threads that call it. The messages of such calls are delivered after the function has returned.
 *
 * <p>Manual page: rpma_log_set_function(3).
 */
@FunctionalInterface
public interface RpmaLogFunction {
    /**
     * Handles a message.
     *
     * @param level the level of the message
     * @param fileName the source file of librpma, or of this library's C code; empty in the report of dropped messages
     * @param lineNo the line in that file; 0 in the report of dropped messages
     * @param functionName the C function; empty in the report of dropped messages
     * @param message the text, in one line without a line terminator
     */
    void log(RpmaLogLevel level, String fileName, int lineNo, String functionName, String message);
}
