// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.replicatedlog;

import java.io.IOException;

/** Thrown if a log has invalid contents, or can't be changed as requested. */
final class LogException extends IOException {
    private static final long serialVersionUID = 1;

    LogException(String message) {
        super(message);
    }
}
