package io.rpma.rdmacm;

/**
 * What a memory region may be used for: {@code enum ibv_access_flags}; any combination. Sources of sends and writes need
 * nothing.
 *
 * <p>Manual page: ibv_reg_mr(3).
 */
public enum RdmaAccess {
    /** Reads, receives and results of atomics arrive in it. */
    LOCAL_WRITE,
    /** The other side writes into it; needs {@link #LOCAL_WRITE} too. */
    REMOTE_WRITE,
    /** The other side reads from it. */
    REMOTE_READ,
    /** The other side makes atomic changes in it; needs {@link #LOCAL_WRITE} too. */
    REMOTE_ATOMIC;

    int bit() {
        return 1 << ordinal();
    }

    /**
     * The bits of all.
     *
     * @throws IllegalArgumentException if the other side shall write where this one may not
     */
    static int mask(RdmaAccess... access) {
        int mask = 0;
        for (RdmaAccess one : access) {
            mask |= one.bit();
        }
        if ((mask & (REMOTE_WRITE.bit() | REMOTE_ATOMIC.bit())) != 0 && (mask & LOCAL_WRITE.bit()) == 0) {
            throw new IllegalArgumentException("REMOTE_WRITE and REMOTE_ATOMIC need LOCAL_WRITE too");
        }
        return mask;
    }
}
