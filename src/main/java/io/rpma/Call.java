package io.rpma;

import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** The one place where the result of a native becomes a value or an exception. */
final class Call {
    private static final Pattern NEWLINE = Pattern.compile("\n");

    private Call() {}

    /**
     * Passes a good result of a call through.
     *
     * @param operation the C function
     * @param result what the native returned
     * @param handles the objects of the call
     * @throws IllegalStateException if one of the objects is closed
     * @throws RpmaException if librpma failed
     */
    static long check(String operation, long result, Handle... handles) {
        if (result >= 0) {
            Log.drain();
            return result;
        }
        throw failure(operation, result, handles);
    }

    /** The exception for a failed call; called on its thread, before any other native. */
    static RuntimeException failure(String operation, long result, Handle... handles) {
        if (result == Natives.CLOSED) {
            return closed(operation, handles);
        }
        String messages = reasons(new String(Natives.lastMessages(), StandardCharsets.UTF_8));
        Log.drain();
        RpmaError error = RpmaError.of((int) result);
        return new RpmaException(operation, error, messages, Hint.of(operation, error, messages));
    }

    private static RuntimeException closed(String operation, Handle... handles) {
        for (Handle handle : handles) {
            if (handle.isClosed()) {
                return new IllegalStateException(operation + ": " + handle + " is closed");
            }
        }
        return new IllegalStateException(operation + ": an object of the call is closed");
    }

    /** What was logged as a warning or worse: each line starts with its level, and ends with a newline and no other. */
    private static String reasons(String lines) {
        return NEWLINE.splitAsStream(lines)
                .filter(line -> !line.isEmpty())
                .filter(line -> line.charAt(0) <= Log.WARNING)
                .map(line -> line.substring(1))
                .collect(Collectors.joining("; "));
    }
}
