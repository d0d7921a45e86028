package io.rpma;

/**
 * What is advised about a memory region: {@code enum ibv_advise_mr_advice}.
 *
 * <p>Manual pages: rpma_mr_advise(3), ibv_advise_mr(3).
 */
public enum RpmaMrAdvice {
    /** The device should have the pages at hand for reading. */
    PREFETCH,
    /** The device should have the pages at hand for writing. */
    PREFETCH_WRITE,
    /** The device should take the pages that are in memory, and fault none in. */
    PREFETCH_NO_FAULT
}
