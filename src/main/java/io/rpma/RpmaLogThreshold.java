// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

/**
 * The thresholds of librpma: {@code enum rpma_log_threshold}.
 *
 * <p>Manual page: rpma_log_set_threshold(3).
 */
public enum RpmaLogThreshold {
    /** For the messages that go to the function or the logger. */
    MAIN,
    /** For the messages that librpma itself writes to the standard error stream. Has no effect here. */
    AUX
}
