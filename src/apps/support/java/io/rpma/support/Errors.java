// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.support;

import io.rpma.RpmaException;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;

/** Converts an exception to one line for the user. */
public final class Errors {
    private static final String LOCALE =
            "has letters that the locale lacks: use a locale with UTF-8, for example with LC_ALL=C.UTF-8";

    private Errors() {}

    /** Returns the reason of the failure, without the name of the exception if its message is sufficient. */
    public static String line(Throwable e) {
        if (e instanceof FileSystemException problem) {
            return problem.getFile() + ": " + reason(problem);
        }
        if (e instanceof InvalidPathException name) {
            return name.getInput() + " " + LOCALE;
        }
        String message = e.getMessage();
        return message == null ? e.toString() : message.replace('\n', ' ');
    }

    /** Returns whether a call has failed because the connection has ended. */
    public static boolean hasEnded(RpmaException failure) {
        return failure.errnoName().equals("ENOTCONN");
    }

    /** Returns the reason why a connection can't be used any more. */
    public static String loss(RpmaException failure) {
        return hasEnded(failure) ? "the other side has closed the connection" : line(failure);
    }

    /** Returns the reason of the failure without the name of the file. */
    public static String reason(IOException e) {
        if (!(e instanceof FileSystemException problem)) {
            return line(e);
        }
        if (problem.getReason() != null) {
            return problem.getReason();
        }
        if (e instanceof NoSuchFileException) {
            return "no such file" + workingDirectory();
        }
        return e instanceof AccessDeniedException ? "permission denied" : e.toString();
    }

    /** Returns the remedy if the JDK can't name the working directory, and so finds no file in it; else an empty text. */
    public static String workingDirectory() {
        String directory = System.getProperty("user.dir");
        return directory.indexOf('\ufffd') < 0 ? "" : "; the working directory " + directory + " " + LOCALE;
    }
}
