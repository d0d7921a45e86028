package io.rpma.testing;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rpma.RpmaMemory;
import io.rpma.RpmaMrLocal;
import io.rpma.RpmaMrUsage;
import io.rpma.RpmaPeer;
import io.rpma.internal.Errno;

/**
 * Regions with on-demand paging. librpma registers a memory so if the kernel refuses to pin it with {@code EOPNOTSUPP}, as the
 * kernel does with a file of a DAX file system. The {@link Interposer} lets the pinning of any memory fail so.
 */
public final class OnDemand {
    private static final Interposer.Call PINNING = new Interposer.Call("librpma", "ibv_reg_mr", 1, 1, "malloc");

    private OnDemand() {}

    /** Registers a memory as {@link RpmaPeer#register(RpmaMemory, RpmaMrUsage...)} registers a memory that can't be pinned. */
    public static RpmaMrLocal register(RpmaPeer peer, RpmaMemory memory, RpmaMrUsage... usages) {
        Interposer.redirect();
        Interposer.countThread(PINNING.thread());
        Interposer.arm(PINNING, Interposer.Action.FAIL, Errno.EOPNOTSUPP);
        try {
            return peer.register(memory, usages);
        } finally {
            assertTrue(Interposer.isHit(), "librpma did not pin the memory");
            Interposer.stop();
            Interposer.countThread(0);
        }
    }
}
