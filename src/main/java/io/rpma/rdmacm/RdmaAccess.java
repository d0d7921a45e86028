// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.rdmacm;

/**
 * The permitted uses of a memory region: {@code enum ibv_access_flags}. Any combination is valid, except that
 * {@link #REMOTE_WRITE} and {@link #REMOTE_ATOMIC} require {@link #LOCAL_WRITE}. The source of a send or a write needs
 * no permission.
 *
 * <p>Manual page: ibv_reg_mr(3).
 */
public enum RdmaAccess {
    /** This side receives messages, data of reads and results of atomics in the region. */
    LOCAL_WRITE,
    /** The other side writes to the region. Requires {@link #LOCAL_WRITE}. */
    REMOTE_WRITE,
    /** The other side reads from the region. */
    REMOTE_READ,
    /** The other side executes atomics on the region. Requires {@link #LOCAL_WRITE}. */
    REMOTE_ATOMIC;

    int bit() {
        return 1 << ordinal();
    }

    /**
     * Returns the bits of {@code enum ibv_access_flags}.
     *
     * @throws IllegalArgumentException if remote writes or atomics are permitted without {@link #LOCAL_WRITE}
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
