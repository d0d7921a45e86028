// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.testing;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rpma.RpmaMrLocal;
import io.rpma.RpmaPeer;
import io.rpma.internal.Errno;
import java.util.function.Supplier;

/**
 * Regions with on-demand paging. librpma registers a memory so if the kernel refuses to pin it with {@code EOPNOTSUPP},
 * as the kernel does with a file of a DAX file system. The {@link Interposer} lets the pinning of any memory fail so.
 */
public final class OnDemand {
    private static final Interposer.Call PINNING = new Interposer.Call("librpma", "ibv_reg_mr", 1, 1, "malloc");

    private static final String PERMITTED = "io.rpma.softRoceOnDemandPaging";

    private OnDemand() {}

    /** Makes a registration that soft-RoCE does not get otherwise. */
    public static RpmaMrLocal permit(Supplier<RpmaMrLocal> registration) {
        System.setProperty(PERMITTED, "true");
        try {
            return registration.get();
        } finally {
            System.clearProperty(PERMITTED);
        }
    }

    /** Makes a registration as {@link RpmaPeer#register} makes it for a memory that can't be pinned. */
    public static RpmaMrLocal register(Supplier<RpmaMrLocal> registration) {
        Interposer.redirect();
        Interposer.countThread(PINNING.thread());
        Interposer.arm(PINNING, Interposer.Action.FAIL, Errno.EOPNOTSUPP);
        try {
            RpmaMrLocal region = registration.get();
            assertTrue(Interposer.isHit(), "librpma did not pin the memory");
            return region;
        } finally {
            Interposer.stop();
            Interposer.countThread(0);
        }
    }
}
