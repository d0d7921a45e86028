package io.rpma;

import io.rpma.internal.Check;

/**
 * How deep a flush goes.
 *
 * <p>Manual page: <a href="https://pmem.io/rpma/manpages/v1.3.0/rpma_flush.3">rpma_flush(3)</a>.
 */
public enum RpmaFlushType {
    /** Down to the persistent domain: the bytes survive a power cut. */
    PERSISTENT,
    /** To where the remote processors see the bytes. */
    VISIBILITY;

    /** librpma's number, for the hot path. */
    static int code(RpmaFlushType type) {
        if (type == null) {
            throw Check.isNull("flush type");
        }
        return type.ordinal();
    }
}
