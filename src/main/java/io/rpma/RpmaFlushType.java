// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import io.rpma.internal.Check;

/**
 * The guarantee that a flush gives.
 *
 * <p>Manual page: <a href="https://pmem.io/rpma/manpages/v1.3.0/rpma_flush.3">rpma_flush(3)</a>.
 */
public enum RpmaFlushType {
    /**
     * The bytes of the range reach the persistence domain: they survive a power failure. This requires persistent
     * memory ({@link RpmaMemory#isPersistent()}), and either a native flush ({@link RpmaConn#isFlushNative()}) or a
     * platform of the other side that writes the bytes to persistent memory directly
     * ({@link RpmaPeerCfg#setDirectWriteToPmem}). soft-RoCE with native flush refuses to register memory that is not
     * persistent for this flush: see {@link RpmaMrUsage#FLUSH_TYPE_PERSISTENT}.
     */
    PERSISTENT,
    /** The bytes become visible to the processors of the other side. */
    VISIBILITY;

    /** librpma's constant, for the hot path. */
    static int code(RpmaFlushType type) {
        if (type == null) {
            throw Check.isNull("flush type");
        }
        return type.ordinal();
    }
}
