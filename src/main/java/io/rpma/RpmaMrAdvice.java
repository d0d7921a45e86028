// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

/**
 * Advice about a memory region: {@code enum ibv_advise_mr_advice}.
 *
 * <p>Manual pages: rpma_mr_advise(3), ibv_advise_mr(3).
 */
public enum RpmaMrAdvice {
    /** Prepare the pages for reading. */
    PREFETCH,
    /** Prepare the pages for writing. */
    PREFETCH_WRITE,
    /** Prepare the pages that are in memory, and fault none in. */
    PREFETCH_NO_FAULT
}
