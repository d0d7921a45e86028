package io.rpma;

/**
 * How severe a message of librpma is: {@code enum rpma_log_level}, the most severe first.
 *
 * <p>Manual page: rpma_log_set_threshold(3).
 */
public enum RpmaLogLevel {
    /** As a threshold: no message. */
    DISABLED(System.Logger.Level.OFF),
    /** librpma can't go on. */
    FATAL(System.Logger.Level.ERROR),
    /** A call has failed. */
    ERROR(System.Logger.Level.ERROR),
    /** Something may go wrong. */
    WARNING(System.Logger.Level.WARNING),
    /** Something unusual and harmless. */
    NOTICE(System.Logger.Level.INFO),
    /** What librpma does. */
    INFO(System.Logger.Level.INFO),
    /** All the details. */
    DEBUG(System.Logger.Level.DEBUG);

    private static final RpmaLogLevel[] VALUES = values();

    private final System.Logger.Level systemLevel;

    RpmaLogLevel(System.Logger.Level systemLevel) {
        this.systemLevel = systemLevel;
    }

    /** The level at which the logger gets such a message. */
    System.Logger.Level systemLevel() {
        return systemLevel;
    }

    /** The C constant, from -1. */
    int value() {
        return ordinal() - 1;
    }

    static RpmaLogLevel of(int value) {
        return VALUES[value + 1];
    }
}
