// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rpma.internal.OpenResources;
import io.rpma.testing.Pair;
import io.rpma.testing.Regions;
import io.rpma.testing.TestDevice;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/**
 * The set-up of tests that close objects which other threads use. The calls of these threads succeed, or throw the
 * exception for a closed object, and nothing stays open.
 */
abstract class CloseRace {
    static final int SIZE = 64;

    static final ThreadLocal<RpmaCompletions> COMPLETIONS = ThreadLocal.withInitial(() -> RpmaCompletions.create(16));
    static final ThreadLocal<RpmaBatch> BATCHES = ThreadLocal.withInitial(() -> RpmaBatch.create(16));

    RpmaPeer peer;
    RpmaEp ep;
    int port;
    RpmaMemory memory;
    RpmaMrLocal target;
    private OpenResources before;

    @BeforeEach
    void open() throws InterruptedException {
        TestDevice.address();
        Pair.connect().close();
        before = OpenResources.now();
        peer = TestDevice.peer();
        port = TestDevice.port();
        ep = RpmaEp.listen(peer, TestDevice.address(), port);
        memory = RpmaMemory.allocate(SIZE);
        target = peer.register(memory, Regions.ALL);
    }

    @AfterEach
    void nothingIsLeft() {
        if (peer != null) {
            target.close();
            memory.close();
            ep.close();
            peer.close();
            before.assertSameNow(4);
        }
    }

    static void drop(AutoCloseable object) {
        try {
            object.close();
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    static boolean closeUnlessInUse(AutoCloseable parent) {
        try {
            drop(parent);
            return true;
        } catch (IllegalStateException e) {
            assertTrue(e.getMessage().contains("can't be closed before"), e.getMessage());
            return false;
        }
    }
}
