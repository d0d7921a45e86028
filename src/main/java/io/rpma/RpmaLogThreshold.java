package io.rpma;

/**
 * librpma's two thresholds: {@code enum rpma_log_threshold}.
 *
 * <p>Manual page: rpma_log_set_threshold(3).
 */
public enum RpmaLogThreshold {
    /** Of the messages that get to the function or the logger. */
    MAIN,
    /** Of the messages that librpma itself would write to the standard error stream; without effect here. */
    AUX
}
