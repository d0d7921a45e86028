package io.rpma.examples.replicatedlog;

import java.io.IOException;

/** Something is wrong with the content of a log, or with what is to become of it. */
final class LogException extends IOException {
    private static final long serialVersionUID = 1;

    LogException(String message) {
        super(message);
    }
}
