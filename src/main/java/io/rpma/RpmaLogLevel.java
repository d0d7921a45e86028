package io.rpma;

/**
 * How severe a message of librpma is: {@code enum rpma_log_level}, the most severe first.
 *
 * <p>Manual page: rpma_log_set_threshold(3).
 */
public enum RpmaLogLevel {
    /** As a threshold: no message. */
    DISABLED,
    /** librpma can't go on. */
    FATAL,
    /** A call has failed. */
    ERROR,
    /** Something may go wrong. */
    WARNING,
    /** Something unusual and harmless. */
    NOTICE,
    /** What librpma does. */
    INFO,
    /** All the details. */
    DEBUG;

    private static final RpmaLogLevel[] VALUES = values();

    /** The C constant, from -1. */
    int value() {
        return ordinal() - 1;
    }

    static RpmaLogLevel of(int value) {
        return VALUES[value + 1];
    }
}
