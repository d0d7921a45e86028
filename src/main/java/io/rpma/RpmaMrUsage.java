// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import java.util.Collections;
import java.util.EnumSet;
import java.util.Set;

/**
 * The usages of a memory region. Any combination is allowed.
 *
 * <p>Manual page: <a href="https://pmem.io/rpma/manpages/v1.3.0/rpma_mr_reg.3">rpma_mr_reg(3)</a>.
 */
public enum RpmaMrUsage {
    /** The other side reads from the region. */
    READ_SRC("source"),
    /** The reads of this side store into the region; the memory must be writable. */
    READ_DST("destination"),
    /** The writes of this side take their bytes from the region; librpma nevertheless requires writable memory. */
    WRITE_SRC("source"),
    /** The other side writes into the region; the memory must be writable. */
    WRITE_DST("destination"),
    /**
     * The other side flushes the region for visibility.
     *
     * <p>Register {@link #READ_SRC} too: a side without native flush emulates the flush by a read.
     */
    FLUSH_TYPE_VISIBILITY("destination"),
    /**
     * The other side flushes the region for persistence.
     *
     * <p>If flushes are emulated, any memory can be registered for this usage, so that programs can be tested without
     * persistent memory. A device with native flush can refuse memory that is not persistent: soft-RoCE refuses
     * anonymous memory and tmpfs with {@link RpmaError#PROVIDER}. Check {@link RpmaMemory#isPersistent()} before you
     * rely on persistence, and use {@link #FLUSH_TYPE_VISIBILITY} for other memory.
     *
     * <p>Register {@link #READ_SRC} too: a side without native flush emulates the flush by a read.
     */
    FLUSH_TYPE_PERSISTENT("destination"),
    /** Messages are sent from the region. */
    SEND("source"),
    /** Messages are received into the region; the memory must be writable. */
    RECV("destination");

    /** The part that the region takes in the operation, for the messages of exceptions. */
    final String role;

    RpmaMrUsage(String role) {
        this.role = role;
    }

    /** The bit of the C constant {@code RPMA_MR_USAGE_*}. */
    int bit() {
        return 1 << ordinal();
    }

    static int mask(RpmaMrUsage... usages) {
        int mask = 0;
        for (RpmaMrUsage usage : usages) {
            mask |= usage.bit();
        }
        if (mask == 0) {
            throw new IllegalArgumentException("a region needs at least one usage");
        }
        return mask;
    }

    /**
     * Checks that a region is registered for an operation.
     *
     * @throws IllegalArgumentException if the region is not registered for it
     */
    void checkIn(int usages) {
        if ((usages & bit()) == 0) {
            throw new IllegalArgumentException(
                    "the " + role + " region is not registered for " + this + ", but for " + setOf(usages));
        }
    }

    static Set<RpmaMrUsage> setOf(int mask) {
        EnumSet<RpmaMrUsage> usages = EnumSet.noneOf(RpmaMrUsage.class);
        for (RpmaMrUsage usage : values()) {
            if ((mask & usage.bit()) != 0) {
                usages.add(usage);
            }
        }
        return Collections.unmodifiableSet(usages);
    }
}
