// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import io.rpma.testing.Pair;
import io.rpma.testing.Regions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** The set-up of tests that need a connection, and a region of memory on each side. */
abstract class WithConnection extends WithPeer {
    Pair pair;
    Regions regions;
    private final long size;

    /**
     * Creates the set-up.
     *
     * @param size the size of each region in bytes
     */
    WithConnection(long size) {
        this.size = size;
    }

    /** The configuration of both sides, or null for librpma's defaults. */
    RpmaConnCfg cfg() {
        return null;
    }

    @BeforeEach
    final void connect() throws InterruptedException {
        try (RpmaConnCfg cfg = cfg()) {
            pair = Pair.connect(peer, cfg, cfg);
        }
        regions = new Regions(peer, size);
    }

    @AfterEach
    final void disconnect() {
        if (regions != null) {
            regions.close();
        }
        if (pair != null) {
            pair.close();
        }
    }
}
