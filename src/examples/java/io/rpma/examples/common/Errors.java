package io.rpma.examples.common;

import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;

/** Turns an exception into the one line that a user gets to see. */
public final class Errors {
    private Errors() {}

    /** What went wrong, without the name of the exception where its message says enough. */
    public static String line(Throwable e) {
        if (e instanceof FileSystemException problem) {
            return problem.getFile() + ": " + reason(problem);
        }
        String message = e.getMessage();
        return message == null ? e.toString() : message.replace('\n', ' ');
    }

    private static String reason(FileSystemException e) {
        if (e.getReason() != null) {
            return e.getReason();
        }
        if (e instanceof NoSuchFileException) {
            return "no such file";
        }
        return e instanceof AccessDeniedException ? "permission denied" : e.toString();
    }
}
