// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

/**
 * The level of a message of librpma: {@code enum rpma_log_level}, the most severe first.
 *
 * <p>Manual page: rpma_log_set_threshold(3).
 */
public enum RpmaLogLevel {
    /** As a threshold: no messages. */
    DISABLED,
    /** librpma can't continue. */
    FATAL,
    /** A call has failed. */
    ERROR,
    /** A possible problem. */
    WARNING,
    /** An unusual and harmless condition. */
    NOTICE,
    /** The activity of librpma. */
    INFO,
    /** All details. */
    DEBUG;

    private static final RpmaLogLevel[] VALUES = values();

    /** The value of the C constant, from -1. */
    int value() {
        return ordinal() - 1;
    }

    static RpmaLogLevel of(int value) {
        return VALUES[value + 1];
    }
}
